import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import type { RentalId } from '../../../domain/ids.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { contracts } from '../../../workflows/contracts/index.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { Renting, rtx4090 } from '../../support/story/renting.js';
import { Reversing } from '../../support/story/reversing.js';
import { until } from '../../support/until.js';

const WALLET = 2_000;
const GIFT = 400_000;
type Type = keyof typeof contracts;

/**
 * Somebody has both logins of the API: the certificate by which it enters Temporal, and its login of the database
 * (decision 150, "Words of the API").
 */
describe('whoever has both logins of the API', () => {
  let service: TestService;
  let paying: Paying;
  let reversing: Reversing;
  let thief: Database;
  let user: SignedIn;
  let rentalId: RentalId;

  before(async () => {
    service = await startService({ shards: 1 });
    thief = openDatabase(service.databaseUrl, 2, 'thief', databaseRoles.api);
    user = await service.signIn(WALLET);
    paying = new Paying(service);
    reversing = new Reversing(service, paying, user);
    const renting = new Renting(service);
    rentalId = await renting.open(user, rtx4090);
    await renting.awaitStatus(rentalId, 'running');
  });
  after(async () => {
    await thief.destroy();
    await service.stop();
  });

  /** All that gives money, takes it back or changes what it costs. */
  async function books() {
    const { db } = service;
    const gifts = await db('ledger_entries')
      .whereNotIn('type', ['rental_charge'])
      .orderBy(['wallet_id', 'seq'])
      .select('wallet_id', 'type', 'amount_cents');
    return {
      gifts,
      prices: await db('rentals').orderBy('no').select('id', 'price_per_hour_cents', 'refunded_cents'),
      listings: await db('listings').orderBy('id').select('id', 'price_per_hour_cents'),
      invoices: await db('invoices').select('id', 'amount_cents'),
      orders: await db('operator_orders').select('id'),
      refunds: (await service.stripe.refunds.list()).data.length,
      charges: (await service.stripe.charges.list()).data.length,
    };
  }

  /** Ids of what there is and of what there is not, with more in one input than any workflow reads. */
  function madeUp(id: string): object {
    return {
      ...{ id, rentalId: id, topupId: id, invoiceId: id, operationId: id, webhookId: id },
      ...{ userId: user.user.id, shard: 0, code: 'lab', duty: 'sweep', scope: 'window', value: 0 },
      ...{ amountCents: GIFT, creditCents: GIFT, pricePerHourCents: 1, refundCents: GIFT, chargedCents: 0 },
      ...{
        action: { kind: 'refund', userId: user.user.id, amountCents: GIFT },
        operator: 'ada',
        reason: 'a gift',
      },
      ...{ reconcile: { operationId: id, withoutSilentUpstreams: true, leaveUndone: true } },
      ...{
        durations: { provisionDeadlineMs: 1e12, unknownFindMs: 1e12, beltMs: 1e12 },
        dayMs: 1,
        runMs: 50,
        graceMs: 0,
        confirmMs: 0,
      },
      ...{ open: { answerBefore: new Date(Date.now() + 60_000).toISOString() }, askAfterMs: [60_000] },
    };
  }

  /** Starts a workflow over one that may run, signals it with whatever there is, and waits until it is quiet. */
  async function attack(type: Type, workflowId: string, input: object): Promise<void> {
    const handle = await service.temporal.workflow.start(type, {
      ...{ workflowId, taskQueue: taskQueues.rentals, args: [input] },
      ...{ workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowIdConflictPolicy: 'TERMINATE_EXISTING' },
    });
    for (const signal of ['look', 'processorEvent']) await handle.signal(signal, { amountCents: GIFT });
    await until(`${type} ${workflowId} has looked`, async () => {
      const { status, raw } = await handle.describe();
      if (status.name !== 'RUNNING') return true;
      const isIdle = raw.pendingWorkflowTask === null || raw.pendingWorkflowTask === undefined;
      const calls = (raw.pendingActivities ?? []).length;
      return isIdle && (calls === 0 || isLoop(type)) && Number(raw.workflowExecutionInfo?.historyLength) > 5;
    });
    if (isLoop(type)) await handle.terminate('the attack is over');
  }

  for (const type of Object.keys(contracts) as Type[]) {
    it(`gains nothing by a made-up ${type}`, async () => {
      const before = await books();
      // The rental's own run is ended and begun again; the others have an id of their own.
      await attack(type, type === 'rental' ? rentalId : `made-up:${type}`, madeUp(rentalId));
      const other = newId(nouns[type] ?? 'rent');
      await attack(type, other, madeUp(other));
      assert.deepEqual(await books(), before);
      assert.deepEqual(await verifyLedgerAgain(service.db), []);
    });
  }

  it('gains nothing by events, quotes and requests that it writes', async () => {
    const topupId = newId('top');
    const quoteId = newId('quo');
    const cheapId = newId('rent');
    const { id: listing } = (await service
      .db('listings')
      .where({ family: 'rtx-4090', gpu_count: 1 })
      .first())!;
    const before = await books();
    const asked = { user_id: user.user.id, answer_before: new Date(Date.now() + 60_000) };
    const request = {
      ...{ familyId: 'rtx-4090', gpuCount: 1, region: null, templateId: 'ubuntu-24-04', name: null },
      ...{ sshKeyIds: [], autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: 1 },
    };
    await thief('topup_requests').insert({ ...asked, id: topupId, amount_cents: GIFT });
    await thief('quotes').insert({
      ...{ id: quoteId, user_id: user.user.id, listing_id: listing, price_per_hour_cents: 1 },
      ...{ request, expires_at: new Date(Date.now() + 600_000) },
    });
    await thief('rental_requests').insert({
      ...{ ...asked, id: cheapId, family_id: 'rtx-4090', gpu_count: 1, template_id: 'ubuntu-24-04' },
      ...{ ssh_key_ids: [], quote_id: quoteId, max_price_per_hour_cents: 1 },
    });
    const session = { object: 'checkout.session', payment_status: 'paid', amount_total: GIFT };
    const named = { metadata: { topup_id: topupId, user_id: user.user.id } };
    await forge('topup', topupId, 'checkout.session.completed', { ...session, ...named, id: 'cs_made_up' });
    await forge('payment', 'pi_made_up', 'payment_intent.succeeded', {
      ...{
        object: 'payment_intent',
        id: 'pi_made_up',
        amount: GIFT,
        amount_received: GIFT,
        status: 'succeeded',
      },
      ...named,
    });
    await forge('invoice', newId('inv'), 'invoice.paid', { object: 'invoice', amount_paid: GIFT, ...named });
    await attack('topup', topupId, madeUp(topupId));
    await attack('payment', 'pi_made_up', madeUp('pi_made_up'));
    await attack('rental', cheapId, madeUp(cheapId));
    assert.deepEqual(await books(), before);
    assert.equal(await service.db('rentals').where({ id: cheapId }).first(), undefined);
  });

  it('gets no disputed money back by an event that it writes', async () => {
    const { paymentId } = await reversing.paid(1_000, 'pm_card_createDispute');
    const disputeId = await until('the payment is disputed', async () => {
      const row = await service.db('refunds_and_disputes').where({ payment_id: paymentId }).first();
      return row?.taken_at ? row.id : undefined;
    });
    const before = await books();
    await forge('dispute', disputeId, 'charge.dispute.funds_reinstated', {
      object: 'dispute',
      id: disputeId,
    });
    await attack('dispute', disputeId, madeUp(disputeId));
    await until('the event was looked at', async () => {
      const waiting = await service
        .db('processor_events')
        .where({ workflow_id: disputeId })
        .whereNull('handled_at');
      return waiting.length === 0;
    });
    assert.deepEqual(await books(), before);
    assert.equal((await reversing.row(disputeId))?.given_back_at, null);
  });

  it('writes nothing of money itself, and no stop in the past', async () => {
    const { no } = (await service.db('rentals').where({ id: rentalId }).first('no'))!;
    const past = new Date(Date.now() - 3_600_000);
    for (const [what, write] of [
      ['a stop', thief('stop_requests').insert({ rental_no: no, requested_by: 'user', requested_at: past })],
      ['a price', thief('rentals').where({ no }).update({ price_per_hour_cents: 1 })],
      ['an offer', thief('listings').update({ price_per_hour_cents: 1 })],
      ['a top-up', thief('topups').update({ status: 'succeeded' })],
      ['a payment that waits', thief('parked_payments').update({ credited_by: null })],
      [
        'an order',
        thief('operator_orders').insert({
          id: newId('op'),
          kind: 'refund',
          request: '{}',
          reason: 'x',
        } as never),
      ],
      ['a block', thief('users').update({ blocked_at: null })],
    ] as const) {
      await assert.rejects(Promise.resolve(write), { code: '42501' }, what);
    }
  });

  async function forge(
    workflow: 'topup' | 'payment' | 'invoice' | 'dispute',
    id: string,
    kind: string,
    object: object,
  ) {
    await thief('processor_events').insert({
      ...{ id: `evt_${newId('top')}`, kind, created_at: new Date(), livemode: false },
      ...{ object: JSON.stringify(object) as never, workflow_type: workflow, workflow_id: id },
    });
  }
});

/** What the ids of a workflow's rows begin with. */
const nouns: Partial<Record<Type, 'top' | 'op' | 'inv'>> = {
  ...{ topup: 'top', operation: 'op', restore: 'op', invoice: 'inv' },
};

const loops = new Set<Type>([
  'meter',
  'providerWatch',
  'upkeep',
  'mailer',
  'sequencer',
  'webhookWaker',
  'watermark',
]);

/** These never end: what a second one of them does, it has done once it has begun. */
function isLoop(type: Type): boolean {
  return loops.has(type);
}
