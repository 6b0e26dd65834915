import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { RentalId } from '../../../domain/ids.js';
import { ledgerEntryId } from '../../../domain/ledger/ledger-ids.js';
import type { FindingKind } from '../../../domain/operations/reconcile.js';
import { requestOf } from '../../lab/provider/living-lab.js';
import type { SignedIn } from '../../support/http/api.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runBackfill } from '../../support/service/upkeep-round.js';
import { Reconciling, tamper } from '../../support/story/reconciling.js';
import { b200, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';
import { onlyWaits } from '../../support/workflows/only-waits.js';

describe('reconcile', () => {
  let service: TestService;
  let renting: Renting;
  let reconciling: Reconciling;
  let user: SignedIn;
  let ended: RentalId;
  let paying: Invoicing;

  before(async () => {
    service = await startService();
    renting = new Renting(service);
    reconciling = new Reconciling(service);
    paying = new Invoicing(service);
    user = await service.signIn();
    // With the rental's entry there are three, however fast all of it goes.
    for (const cents of [50_000, 1_000]) {
      const { url, topupId } = await paying.page(user, cents);
      await paying.pay(url);
      await paying.awaitTopup(topupId, 'succeeded');
    }
    const { id } = await renting.run(user, b200);
    await renting.age(id, 30);
    await renting.stop(user, id);
    await renting.awaitClosed(id);
    ended = id;
    await paying.awaitHandled();
  });
  after(() => service.stop());

  describe('the ledger', () => {
    it('finds money that is reserved for no rental', async () => {
      const { db } = service;
      const wallet = await renting.wallet(user);
      const moved = (cents: number) =>
        db('wallets')
          .where({ id: wallet.id })
          .update({
            available_cents: db.raw('available_cents - ?', [cents]),
            reserved_cents: db.raw('reserved_cents + ?', [cents]),
          });
      await moved(5);
      await reconciling.assertFinds([['holds_differ', `wallet:${wallet.id}`]]);
      await moved(-5);
      await reconciling.assertFinds([]);
    });

    it('finds a wallet that is not its newest entry', async () => {
      const { db } = service;
      const { id, available_cents: cents } = await renting.wallet(user);
      const put = (available: number) =>
        tamper(db, 'wallets', (trx) => trx('wallets').where({ id }).update({ available_cents: available }));
      await put(cents + 7);
      await reconciling.assertFinds([['wallet_differs', `wallet:${id}`]]);
      const { evidence, subject_ids: ids } = await reconciling.finding('wallet_differs');
      assert.match(String(evidence['detail']), /^total \d+, newest entry \d+$/);
      assert.equal(ids['userId'], user.user.id);
      await put(cents);
      await reconciling.assertFinds([]);
    });

    it('finds what is wrong beside a wallet that can not be read, and names that one', async () => {
      const { db } = service;
      const [bad, other] = [await service.signIn(), await service.signIn()];
      const { id } = await renting.wallet(bad);
      const { id: otherId } = await renting.wallet(other);
      const put = (walletId: number, available: number | string, reserved = 0) =>
        tamper(db, 'wallets', (trx) =>
          trx('wallets')
            .where({ id: walletId })
            .update({ available_cents: available as number, reserved_cents: reserved }),
        );
      await put(otherId, 5);
      // The sum is beyond the range of the database.
      await put(id, '9223372036854775807', 1);
      for (const scope of ['full', 'window'] as const) {
        await reconciling.run(scope);
        assert.deepEqual(await reconciling.standing(), [['wallet_differs', `wallet:${otherId}`]]);
        const row = await db('reconcile_sources').where({ source: 'ledger' }).first();
        assert.equal(row?.failing_why, `not read: wallet:${id} (SQLSTATE 22003); the rest was compared`);
        await db('reconcile_findings').update({ last_seen_at: db.raw('clock_ms()') });
      }
      await put(id, 0);
      await put(otherId, 0);
      await reconciling.assertFinds([]);
    });

    it('finds a broken chain once a day, and sees it mended by the next run of any scope', async () => {
      const { db } = service;
      const { id } = await renting.wallet(user);
      const add = (cents: number) =>
        tamper(db, 'ledger_entries', (trx) =>
          trx('ledger_entries')
            .where({ wallet_id: id, seq: 2 })
            .update({ balance_after_cents: trx.raw('balance_after_cents + ?', [cents]) }),
        );
      await add(1);
      const broken: [FindingKind, string][] = [
        ['chain_broken', ledgerEntryId(id, 2)],
        ['chain_broken', ledgerEntryId(id, 3)],
      ];
      await reconciling.assertFinds(broken, 'full');
      await reconciling.assertFinds(broken, 'window');
      await add(-1);
      await reconciling.assertFinds([], 'window');
    });

    it('finds a rental whose net charge is not the formula’s, and one that its entries contradict', async () => {
      const { db } = service;
      const of = () => db('rentals').where({ id: ended });
      await of().update({ overage_cents: 3 });
      await reconciling.assertFinds([['net_charge_differs', ended]]);
      await of().update({ overage_cents: 0 });
      await reconciling.assertFinds([]);
      const one = {
        charged_cents: db.raw('charged_cents + 1'),
        refunded_cents: db.raw('refunded_cents + 1'),
      };
      await of().update(one);
      await reconciling.assertFinds([['rental_entries_differ', ended]]);
      await of().update({
        ...{ charged_cents: db.raw('charged_cents - 1'), refunded_cents: db.raw('refunded_cents - 1') },
      });
      await reconciling.assertFinds([]);
    });
  });

  describe('the upstreams', () => {
    afterEach(() => service.gpus.clearFaults());

    it('finds a machine that no attempt asked for', async () => {
      const { podId } = await service.gpus.provider.allocate(requestOf());
      await reconciling.assertFinds([['pod_without_rental', `lab/${podId}`]]);
      const { evidence } = await reconciling.finding('pod_without_rental');
      assert.equal(evidence['why'], 'no attempt carries its tag');
      await service.gpus.provider.terminate(podId);
      await until('it is gone', async () =>
        (await service.gpus.provider.listPods()).every((pod) => pod.podId !== podId),
      );
      await reconciling.assertFinds([]);
    });

    it('finds a live rental without a machine, and the machine without a rental', async () => {
      const { db } = service;
      const { id, pod_id: podId } = await renting.run(user, b200);
      await db('rentals').where({ id }).update({ pod_id: 'pod-none' });
      await reconciling.assertFinds([
        ['rental_without_pod', id],
        ['pod_without_rental', `lab/${podId ?? ''}`],
      ]);
      assert.equal(
        (await reconciling.finding('pod_without_rental')).evidence['why'],
        'its rental has another machine under the same tag',
      );
      await db('rentals').where({ id }).update({ pod_id: podId });
      await reconciling.assertFinds([]);
      await renting.stop(user, id);
      await renting.awaitClosed(id);
    });

    it('finds a machine that was told to end and does not, after a quarter of an hour', async () => {
      const { db, gpus } = service;
      const request = requestOf();
      const { podId } = await gpus.provider.allocate(request);
      await until(
        'it is listed',
        async () => (await db('pods').where({ pod_id: podId }).first()) !== undefined,
      );
      await db('allocation_attempts').insert({
        ...{ rental_id: newId('rent'), attempt: 1, provider_code: 'lab', listing_id: newId('lst') },
        ...{ offer_id: 'o', tag: request.tag, price_per_hour_cents: 100, state: 'condemned', pod_id: podId },
        given_up_at: db.raw('clock_ms()'),
      });
      await reconciling.assertFinds([]);
      const longAgo = db.raw(`clock_ms() - interval '16 minutes'`);
      await db('allocation_attempts').where({ tag: request.tag }).update({ given_up_at: longAgo });
      await db('pods').where({ pod_id: podId }).update({ first_seen_at: longAgo });
      await reconciling.assertFinds([['pod_not_ending', `lab/${podId}`]]);
      assert.ok(Number((await reconciling.finding('pod_not_ending')).evidence['unpaidCents']) > 0);
      await gpus.provider.terminate(podId);
      await until('it is gone', async () =>
        (await gpus.provider.listPods()).every((pod) => pod.podId !== podId),
      );
      await reconciling.assertFinds([]);
    });

    it('shows an upstream whose list fails, and one that is not configured, as not compared', async () => {
      const { db, gpus } = service;
      const { podId } = await gpus.provider.allocate(requestOf());
      await reconciling.run();
      assert.deepEqual(await reconciling.standing(), [['pod_without_rental', `lab/${podId}`]]);
      await gpus.provider.terminate(podId);
      await db('providers').insert({ code: 'former' });
      await db('pods').insert({
        ...{ provider_code: 'former', pod_id: 'p1', tag: 'test-former', status: 'active' },
        ...{ upstream_status: 'active', first_seen_at: db.raw('clock_ms()') },
      });
      await gpus.faults({ failRequest: { on: ['list'], times: true } });
      const report = await reconciling.run();
      assert.deepEqual([report.open, report.notCompared], [1, 2]);
      assert.deepEqual(await reconciling.gaps(), ['pods:former', 'pods:lab']);
      await gpus.clearFaults();
      await db('pods').where({ provider_code: 'former' }).delete();
      await until('it is gone', async () =>
        (await gpus.provider.listPods()).every((pod) => pod.podId !== podId),
      );
      await reconciling.assertFinds([]);
    });
  });

  describe('refunds, disputes and invoices', () => {
    before(() => paying.saveCard(user));
    afterEach(async () => {
      await paying.clearFaults();
      await paying.liftMarks();
    });

    async function charged(cents: number): Promise<{ paymentId: string; chargeId: string }> {
      const topup = await paying.topup((await paying.checkout(user, cents)).body.topupId);
      return { paymentId: topup.payment_id!, chargeId: topup.charge_id! };
    }

    const row = (id: string) => service.db('refunds_and_disputes').where({ id }).first();

    async function taken(id: string): Promise<string> {
      await until(`${id} was taken`, async () => ((await row(id))?.taken_at ?? null) !== null);
      await paying.awaitHandled();
      return id;
    }

    const dropEvents = () => paying.order('faults', { kind: 'event_drop', times: 1_000 });

    async function awaitOpened(invoice: { id: string; processor_invoice_id: string | null }): Promise<void> {
      await until('the event of its opening is here', async () =>
        service
          .db('processor_events')
          .where({ kind: 'invoice.finalized' })
          .whereRaw(`object ->> 'id' = ?`, [invoice.processor_invoice_id ?? ''])
          .whereNotNull('handled_at')
          .first('id'),
      );
      await paying.awaitHandled();
      const handle = service.temporal.workflow.getHandle(invoice.id);
      await until('its workflow only waits', async () => onlyWaits(await handle.describe()));
    }

    /** Reads the processor's events that were missed. */
    async function backfill(): Promise<void> {
      await paying.clearFaults();
      await runBackfill(service);
      await paying.awaitHandled();
    }

    it('finds a refund and a dispute that were never taken from the wallet', async () => {
      const [first, second] = [await charged(1_000), await charged(1_100)];
      await dropEvents();
      const refund = await service.stripe.refunds.create({ payment_intent: first.paymentId, amount: 300 });
      const dispute = String((await paying.order(`charges/${second.chargeId}/dispute`))['id']);
      await reconciling.assertFinds([
        ['reversal_missing', refund.id],
        ['reversal_missing', dispute],
      ]);
      await backfill();
      await reconciling.assertFinds([]);
    });

    it('finds a refund that came back there and not here', async () => {
      const { paymentId } = await charged(1_000);
      const { id } = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 400 });
      await taken(id);
      await dropEvents();
      await paying.order(`refunds/${id}/fail`);
      await reconciling.assertFinds([['reversal_not_returned', id]]);
      await backfill();
      await until('it was given back', async () => ((await row(id))?.given_back_at ?? null) !== null);
      await reconciling.assertFinds([]);
    });

    it('finds a row that its entries, or the processor, contradict', async () => {
      const { paymentId } = await charged(1_000);
      const { id } = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 500 });
      await taken(id);
      await service.db('refunds_and_disputes').where({ id }).update({ debited_cents: 499 });
      await reconciling.assertFinds([['reversal_amount_differs', id]]);
      await service.db('refunds_and_disputes').where({ id }).update({ debited_cents: 500 });
      await reconciling.assertFinds([]);
      await service.db('refunds_and_disputes').where({ id }).update({ amount_cents: 501 });
      await reconciling.assertFinds([['reversal_amount_differs', id]]);
      await service.db('refunds_and_disputes').where({ id }).update({ amount_cents: 500 });
    });

    it('finds a row of a refund that the processor does not know', async () => {
      const { id: walletId } = await paying.wallet(user);
      await service.db('refunds_and_disputes').insert({
        ...{
          id: 're_none',
          kind: 'refund',
          payment_id: 'pi_none',
          user_id: user.user.id,
          wallet_id: walletId,
        },
        ...{ amount_cents: 100, status: 'succeeded', closed_at: new Date() },
      });
      await reconciling.assertFinds([['reversal_without_document', 're_none']]);
      await service.db('refunds_and_disputes').where({ id: 're_none' }).delete();
      await reconciling.assertFinds([]);
    });

    it('finds an invoice that is paid there and open here', async () => {
      const invoice = await paying.open(user, 700);
      // Otherwise an event of the opening wakes its workflow, which then sees the payment by itself.
      await awaitOpened(invoice);
      await dropEvents();
      await paying.pay(invoice.hosted_invoice_url ?? '');
      const mirror = await service.stripe.invoices.retrieve(invoice.processor_invoice_id!);
      assert.equal(mirror.status, 'paid');
      await reconciling.run();
      assert.deepEqual(await reconciling.gaps(), []);
      const standing = await reconciling.standing();
      assert.deepEqual(standing.map(([kind]) => kind).sort(), [
        'charge_without_entry',
        'invoice_state_differs',
      ]);
      const { subject, evidence, subject_ids: ids } = await reconciling.finding('invoice_state_differs');
      assert.equal(subject, mirror.id);
      assert.equal(ids['invoiceId'], invoice.id);
      assert.equal((evidence['processor'] as { status: string }).status, 'paid');
      assert.equal((evidence['ours'] as { status: string }).status, 'open');
      await backfill();
      await paying.awaitInvoice(invoice.id, 'paid');
      await reconciling.assertFinds([]);
    });

    it('finds one that was voided there by hand, months after it was made', async () => {
      const invoice = await paying.open(user, 710);
      await awaitOpened(invoice);
      await dropEvents();
      await service.stripe.invoices.voidInvoice(invoice.processor_invoice_id!);
      // No window reaches back to it. It is compared because it is open here.
      await service
        .db('reconcile_sources')
        .where({ source: 'invoices' })
        .update({
          compared_until: service.db.raw(`clock_ms() + interval '1 day'`),
        });
      await reconciling.assertFinds([['invoice_state_differs', invoice.processor_invoice_id!]]);
      await backfill();
      await paying.awaitInvoice(invoice.id, 'void');
      await reconciling.assertFinds([]);
    });

    it('finds an invoice about another amount, and one whose mirror is not ours', async () => {
      const invoice = await paying.open(user, 720);
      const mirror = invoice.processor_invoice_id!;
      await service.db('invoices').where({ id: invoice.id }).update({ amount_cents: 721 });
      await reconciling.assertFinds([['invoice_amount_differs', mirror]]);
      await service
        .db('invoices')
        .where({ id: invoice.id })
        .update({ amount_cents: 720, processor_invoice_id: 'in_none' });
      await reconciling.assertFinds([
        ['invoice_missing_there', 'in_none'],
        ['invoice_unknown_here', mirror],
      ]);
      await service.db('invoices').where({ id: invoice.id }).update({ processor_invoice_id: mirror });
      await reconciling.assertFinds([]);
    });

    it('finds an invoice that was never mirrored', async () => {
      const id = await paying.draft(user, 730, 'manual', { attention_at: null });
      await reconciling.assertFinds([['invoice_missing_there', id]]);
      await paying.start(id);
      await paying.awaitInvoice(id, 'open');
      await reconciling.assertFinds([]);
    });
  });
});
