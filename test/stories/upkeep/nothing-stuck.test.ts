import assert from 'node:assert/strict';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { newId } from '../../../adapters/ids.js';
import { autoTopupWorkflowId } from '../../../domain/payments/processor-routes.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { ProcessorError, type Processor } from '../../../adapters/processor/processor.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import { requestOf } from '../../lab/provider/living-lab.js';
import { ageLoops } from '../../support/story/ageing.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { getWallet } from '../../support/money/money.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { runOps } from '../../support/ops/ops.js';
import { b200, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** While it is set, the processor does not know payments of this amount. */
let unknownCents: number | null = null;
/** Pods whose end fails in the upstream's adapter in an unexpected way. */
const breaking = new Set<string>();

function withPoison(processor: Processor): Processor {
  return {
    ...processor,
    async getPayment(id) {
      const payment = await processor.getPayment(id);
      if (payment.amountReceivedCents !== unknownCents) return payment;
      throw new ProcessorError('refused', 'no such payment', { code: 'resource_missing', status: 404 });
    },
  };
}

function withBreakingPods(provider: Provider): Provider {
  return {
    ...provider,
    async terminate(podId) {
      if (breaking.has(podId)) throw new TypeError('nobody expects this');
      await provider.terminate(podId);
    },
  };
}

describe('nothing stuck stops the others (N1)', () => {
  let service: TestService;
  let renting: Renting;
  let paying: Invoicing;
  before(async () => {
    service = await startService({ wrapProcessor: withPoison, wrapProvider: withBreakingPods });
    renting = new Renting(service);
    paying = new Invoicing(service);
  });
  after(() => service.stop());

  const stuckOf = (item: string) => service.db('stuck_items').where({ item }).first();
  const age = (): Promise<void> => ageLoops(service.db, 70 * 60_000);
  async function signalsOf(workflowId: string): Promise<number> {
    const { events } = await service.temporal.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
  }

  it('a workflow that can not be told keeps no other from its intent, and is set aside in the end', async () => {
    const { db } = service;
    const [bad, good] = [await service.signIn(10_000), await service.signIn(10_000)];
    const badId = autoTopupWorkflowId(bad.user.id);
    const leave = async ({ user }: SignedIn): Promise<void> => {
      const { id } = await getWallet(db, user.id);
      await db.raw(`insert into intents (kind, wallet_id) values ('auto_topup', ?)`, [id]);
    };
    const isServed = async ({ user }: SignedIn): Promise<boolean> => {
      const { id } = await getWallet(db, user.id);
      return (await db('intents').where({ wallet_id: id }).whereNull('acknowledged_at')).length === 0;
    };
    // Every try to signal this workflow fails, as at a server that takes no more signals for its run.
    await db.raw(`alter table look_signals add constraint poison check (workflow_id <> '${badId}')`);
    try {
      await leave(bad);
      for (let round = 1; round <= 13; round += 1) {
        await leave(good);
        await until('the healthy neighbour is served', () => isServed(good));
        const counted = async () => ((await stuckOf(badId))?.attempts ?? 0) >= round;
        await until('the poisoned one is counted', counted);
        await age();
      }
      const stuck = await stuckOf(badId);
      assert.ok(stuck?.set_aside_at, 'set aside');
      assert.match(stuck.last_error, /violates check constraint "poison"/);
      const { out } = await runOps({ databaseUrl: service.databaseUrl }, 'set-aside', 'list');
      assert.match(out, new RegExp(`^workflow {2}${badId} {2}\\d+ tries`, 'm'));
    } finally {
      await db.raw('alter table look_signals drop constraint poison');
    }
    await age();
    await until('it is served as soon as it can be', () => isServed(bad));
  });

  it('an event about what the processor does not know is set aside with its reason, and payments behind it go on', async () => {
    unknownCents = 666;
    const payer = await service.signIn();
    const { id: unknown } = await service.stripe.paymentIntents.create({
      ...{ amount: 666, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
      ...{ payment_method_types: ['card'], metadata: { user_id: payer.user.id } },
    });
    const stuck = await until('it is set aside', async () => {
      const row = await stuckOf(unknown);
      return row?.set_aside_at ? row : undefined;
    });
    assert.match(stuck.last_error, /^no such payment resource_missing HTTP 404$/);
    const user = await service.signIn();
    const { topupId, url } = await paying.page(user, 2_500);
    await paying.pay(url);
    await paying.awaitTopup(topupId, 'succeeded');
    const hasLooked = async () =>
      (await service.db('look_signals').where({ workflow_id: unknown }).first())?.told_at === null;
    await until('its look has ended', hasLooked);
    const before = await signalsOf(unknown);
    for (let hour = 1; hour <= 3; hour += 1) {
      await age();
      for (let round = 0; round < 10; round += 1) await runUpkeepRound(service, 'redeliver');
      await until('it has looked', async () => ((await stuckOf(unknown))?.attempts ?? 0) > hour);
      await until('its look has ended', hasLooked);
    }
    assert.ok(
      (await signalsOf(unknown)) <= before + 3,
      'thirty rounds of the loop, three hours: three signals',
    );

    unknownCents = null;
    const retry = ['set-aside', 'retry', '--item', unknown, '--by', 'ada', '--reason', 'it is known now'];
    const { code, out, err } = await runOps({ databaseUrl: service.databaseUrl }, ...retry);
    assert.equal(code, 0, `${out}${err}`);
    await until('it is credited', async () => {
      await runUpkeepRound(service, 'redeliver');
      return (await getWallet(service.db, payer.user.id)).available_cents === 666;
    });
    await until('it is stuck no more', async () => (await stuckOf(unknown)) === undefined);
  });

  it('an invoice whose customer is gone at the processor is set aside, signalled no more often, and opens when mended', async () => {
    const { db } = service;
    const [debtor, other] = [await service.signIn(), await service.signIn()];
    await paying.page(debtor, 2_500);
    const { processor_customer_id: customer } = (await db('users').where({ id: debtor.user.id }).first())!;
    const becomeCustomer = (processor_customer_id: string | null): Promise<unknown> =>
      db('users').where({ id: debtor.user.id }).update({ processor_customer_id });
    await becomeCustomer('cus_gone');
    const id = await paying.draft(debtor, 700);
    const stuck = await until('it is set aside', async () => {
      const row = await stuckOf(id);
      return row?.set_aside_at ? row : undefined;
    });
    assert.match(stuck.last_error, /resource_missing HTTP 4\d\d$/);
    await paying.open(other, 800);
    const before = await signalsOf(id);
    for (let hour = 1; hour <= 2; hour += 1) {
      await age();
      await until('it has failed again', async () => ((await stuckOf(id))?.attempts ?? 0) > hour);
    }
    assert.ok((await signalsOf(id)) <= before + 2, 'two hours: two signals');
    assert.equal((await paying.invoice(id)).status, 'draft');

    await becomeCustomer(customer);
    await age();
    await paying.awaitInvoice(id, 'open');
    await until('it is stuck no more', async () => (await stuckOf(id)) === undefined);
  });

  it('the sweep goes on behind an upstream and a machine that fail, part by part', async () => {
    const { db } = service;
    const user = await service.signIn(10_000);
    const { id, pod_id: podId } = await renting.run(user, b200);
    breaking.add(podId ?? '');
    // The adapter fails at a machine that belongs to nobody; the wallet of another is blocked.
    const stray = await service.gpus.provider.allocate(requestOf());
    breaking.add(stray.podId);
    await until('it is listed', async () => (await db('pods').where({ pod_id: stray.podId })).length === 1);
    await db('pods')
      .where({ pod_id: stray.podId })
      .update({ first_seen_at: db.raw(`clock_ms() - interval '1 hour'`) });
    await db('wallets')
      .where({ user_id: user.user.id })
      .update({
        metering_blocked_at: db.raw(`clock_ms() - interval '1 hour'`),
        metering_blocked_reason: 'test',
      });
    const attempt = {
      ...{
        rental_id: newId('rent'),
        attempt: 1,
        provider_code: 'lab',
        listing_id: newId('lst'),
        offer_id: 'o',
      },
      ...{ tag: 'condemned', price_per_hour_cents: 1, state: 'condemned' as const },
      changed_at: db.raw(`clock_ms() - interval '1 day'`),
    };
    await db('allocation_attempts').insert(attempt);
    await runUpkeepRound(service, 'sweep');
    assert.equal((await db('allocation_attempts').where({ tag: 'condemned' }).first())?.state, 'gone');
    assert.ok(await db('stop_requests').where({ reason: 'metering was blocked' }).first());
    assert.match((await stuckOf(`lab/${stray.podId}`))?.last_error ?? '', /nobody expects this/);
    breaking.clear();
    await age();
    await runUpkeepRound(service, 'sweep');
    await db('wallets')
      .where({ user_id: user.user.id })
      .update({ metering_blocked_at: null, metering_blocked_reason: null });
    await renting.awaitClosed(id);
  });

  it('a run continues as new long before the server refuses signals', async () => {
    const { user } = await service.signIn(1_000);
    const workflowId = autoTopupWorkflowId(user.id);
    const handle = await service.temporal.workflow.signalWithStart('autoTopup', {
      ...{ workflowId, taskQueue: taskQueues.rentals, args: [{ userId: user.id }] },
      ...{ signal: 'processor-event' },
    });
    for (let hundred = 0; hundred < 12; hundred += 1) {
      await Promise.all(
        Array.from({ length: 100 }, () =>
          service.temporal.workflow.signalWithStart('autoTopup', {
            ...{ workflowId, taskQueue: taskQueues.rentals, args: [{ userId: user.id }] },
            ...{ signal: 'processor-event', workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const },
          }),
        ),
      );
    }
    const first = service.temporal.workflow.getHandle(workflowId, handle.signaledRunId);
    const history = historyToJSON(await first.fetchHistory());
    const { events } = JSON.parse(history) as { events: { eventType: string }[] };
    assert.ok(events.length < 2_500, `${events.length} events`);
  });
});
