import assert from 'node:assert/strict';
import { eraseInTurn } from '../../../activities/closing/erase.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createActivities } from '../../../activities/index.js';
import { ensureCustomer } from '../../../adapters/customer-of-user.js';
import { listCustomerIds } from '../../../adapters/postgres/payments/payers.js';
import { onlyOwnAccount } from '../../../adapters/processor/own-account.js';
import { anotherAccount, ProcessorError } from '../../../adapters/processor/processor.js';
import { installationKey } from '../../support/activities/closing-world.js';
import { paymentOf } from '../../support/activities/scripted-processor.js';
import { creditTopup } from '../../../money/payments/credit.js';
import { unnamedSeller } from '../../../domain/payments/receipt.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertSavedCard, insertTopup, insertUser } from '../../support/money/factories.js';
import { runAlone } from '../../support/service/activity-context.js';

const refused = { kind: 'refused', details: { code: anotherAccount } };

/** The processor takes the key, and knows none of our customers. */
describe('a key of another account', () => {
  let lone: LoneActivities;
  let deps: ActivityDeps;
  before(async () => {
    lone = await startActivities();
    const missing = new ProcessorError('refused', 'no such', { code: 'resource_missing', status: 404 });
    lone.processor.answers = {
      knowsCustomer: () => Promise.resolve(false),
      createCustomer: () => Promise.resolve({ customerId: 'cus_of_theirs' }),
      deleteCustomer: () => Promise.resolve(),
      getCard: () => Promise.reject(missing),
      listEvents: () => Promise.resolve({ events: [eventOfTheirs], after: null }),
    };
    const processor = onlyOwnAccount(lone.processor.port, {
      listCustomers: (limit) => listCustomerIds(lone.db, limit),
      onAnother: () => undefined,
    });
    deps = { ...lone.deps, processor };
    await insertUser(lone.db, { processor_customer_id: 'cus_of_ours' });
  });
  after(() => lone.close());
  const eventOfTheirs = {
    ...{ id: 'evt_theirs', kind: 'payment_intent.succeeded', createdAt: new Date(), livemode: false },
    ...{ apiVersion: null, object: { object: 'payment_intent', id: 'pi_theirs' } },
  };

  it('gives nobody a customer there', async () => {
    const { id } = await insertUser(lone.db);
    await assert.rejects(ensureCustomer(deps, id), refused);
    assert.equal((await lone.db('users').where({ id }).first())?.processor_customer_id, null);
  });

  it('is known by those who paid last, whoever else has a customer', async () => {
    const payer = await insertUser(lone.db, { processor_customer_id: 'cus_who_paid' });
    await insertUser(lone.db, { processor_customer_id: 'cus_of_a_wrong_key' });
    const topup = await insertTopup(lone.db, payer.id);
    const payment = paymentOf({ topupId: topup.id, userId: payer.id, amountCents: topup.amount_cents });
    await creditTopup(lone.db, topup.id, payment, unnamedSeller);
    assert.deepEqual(await listCustomerIds(lone.db, 5), ['cus_who_paid']);
  });

  it('leaves the place from which missed events are read, and takes none in', async () => {
    const before = await lone.db('event_cursor').first();
    await assert.rejects(runAlone(() => createActivities(deps).backfillEvents()).result, refused);
    assert.deepEqual(await lone.db('event_cursor').first(), before);
    assert.equal(await lone.db('processor_events').where({ id: 'evt_theirs' }).first(), undefined);
  });

  it('keeps a card that it does not know', async () => {
    const { id } = await insertUser(lone.db);
    const pmId = `pm_${id}`;
    await insertSavedCard(lone.db, id, { pm_id: pmId });
    await lone.db('processor_events').insert({
      ...{ id: `evt_${id}`, kind: 'payment_method.automatically_updated', created_at: new Date() },
      ...{ livemode: false, object: {}, workflow_id: pmId, workflow_type: 'card' },
    });
    await assert.rejects(runAlone(() => createActivities(deps).lookAtCard(pmId)).result, refused);
    assert.equal((await lone.db('saved_cards').where({ pm_id: pmId }).first())?.removed_at, null);
  });

  it('erases nobody whose customer it can’t delete', async () => {
    const user = await insertUser(lone.db, { processor_customer_id: 'cus_of_a_leaving' });
    await assert.rejects(
      eraseInTurn(deps, user.id, installationKey, () => undefined),
      refused,
    );
    assert.deepEqual(await lone.db('users').where({ id: user.id }).first(), user);
  });
});
