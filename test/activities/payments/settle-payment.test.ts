import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { verifyLedger } from '../../../adapters/postgres/wallets/verify.js';
import { ProcessorError } from '../../../adapters/processor/processor.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { paymentOf } from '../../support/activities/scripted-processor.js';
import { insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';

describe('payments that events name', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities();
  });
  after(() => lone.close());

  it('are credited and handled although the processor does not know what an earlier event names', async () => {
    const topupId = newId('top');
    const { id: userId } = await insertUser(lone.db);
    const missing = new ProcessorError('refused', 'no such payment', { code: 'resource_missing' });
    const paid = paymentOf({ topupId, userId, amountCents: 700 });
    lone.processor.answers = {
      getPayment: (id) => (id === paid.paymentId ? Promise.resolve(paid) : Promise.reject(missing)),
    };
    for (const [no, paymentId] of [`pi_nobody_${topupId}`, paid.paymentId].entries()) {
      await lone.db('processor_events').insert({
        id: `evt_${no}_${topupId}`,
        kind: 'payment_intent.succeeded',
        created_at: new Date(Date.now() + no * 1_000),
        livemode: false,
        object: { object: 'payment_intent', id: paymentId },
        workflow_id: topupId,
        workflow_type: 'topup',
      });
    }
    await assert.rejects(lone.run('lookAtTopup', topupId), missing);
    assert.equal((await getWallet(lone.db, userId)).available_cents, 700);
    const waiting = await lone.db('processor_events').where({ workflow_id: topupId }).whereNull('handled_at');
    assert.deepEqual(
      waiting.map(({ id }) => id),
      [`evt_0_${topupId}`],
    );
    assert.deepEqual(await verifyLedger(lone.db), []);
  });
});
