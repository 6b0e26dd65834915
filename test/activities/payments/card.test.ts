import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertUser } from '../../support/money/factories.js';

describe('lookAtCard', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities();
  });
  after(() => lone.close());

  it('saves a card for its owner although an earlier setup names somebody else', async () => {
    const pmId = `pm_${newId('top')}`;
    const customerId = `cus_${pmId}`;
    const owner = await insertUser(lone.db, { processor_customer_id: customerId });
    const other = await insertUser(lone.db, { processor_customer_id: `${customerId}_other` });
    for (const [no, userId] of [other.id, owner.id].entries()) {
      await lone.db('processor_events').insert({
        id: `evt_${no}_${pmId}`,
        kind: 'setup_intent.succeeded',
        created_at: new Date(Date.now() + no * 1_000),
        livemode: false,
        object: { object: 'setup_intent', payment_method: pmId, metadata: { user_id: userId } },
        workflow_id: pmId,
        workflow_type: 'card',
      });
    }
    const shown = { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2099, fingerprint: `fp_${pmId}` };
    lone.processor.answers = {
      getCard: () => Promise.resolve({ cardId: pmId, customerId, keptByConsent: false, ...shown }),
    };
    await lone.run('lookAtCard', pmId);
    const rows = await lone.db('saved_cards').where({ pm_id: pmId });
    assert.deepEqual(
      rows.map(({ user_id }) => user_id),
      [owner.id],
    );
  });
});
