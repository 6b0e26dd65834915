import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { acknowledgeFinding, reconcileFigures } from '../../../adapters/postgres/reconcile/findings.js';
import type { UserId } from '../../../domain/ids.js';
import type { LedgerCause } from '../../../domain/causes.js';
import { findingKinds } from '../../../domain/operations/reconcile.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { getWallet } from '../../support/money/money.js';
import { Reconciling, withUnreadable } from '../../support/story/reconciling.js';
import { b200, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

const operatorEmail = 'operators@example.com';

/** The ids of payments that can't be read. */
const unreadable = new Set<string>();

describe('reconcile: charges', () => {
  let service: TestService;
  let paying: Invoicing;
  let reconciling: Reconciling;

  before(async () => {
    service = await startService({ operatorEmail });
    paying = new Invoicing(service);
    reconciling = new Reconciling(service);
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.liftMarks();
  });
  after(() => service.stop());

  /** A payment; default: without a reference to anything of ours. */
  async function payment(amount: number, metadata: Record<string, string> = {}): Promise<string> {
    const { id } = await service.stripe.paymentIntents.create({
      ...{ amount, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
      ...{ payment_method_types: ['card'], metadata },
    });
    return id;
  }

  async function postTopup(
    userId: UserId,
    cents: number,
    cause: LedgerCause,
    chargeId?: string,
  ): Promise<void> {
    await service.db.transaction(async (trx) => {
      await post(trx, await lockWalletOfUser(trx, userId), {
        ...{ type: 'processor_topup', availableCents: cents, cause },
        ...(chargeId === undefined ? {} : { processorChargeId: chargeId }),
      });
    });
  }

  const refundAll = (paymentId: string) => service.stripe.refunds.create({ payment_intent: paymentId });

  it('finds nothing after rentals, top-ups, refunds, disputes and invoices', async () => {
    const renting = new Renting(service);
    const user = await service.signIn();
    const page = await paying.page(user, 20_000);
    await paying.pay(page.url);
    await paying.awaitTopup(page.topupId, 'succeeded');
    const stopped = await renting.run(user, b200);
    await renting.age(stopped.id, 60);
    await renting.stop(user, stopped.id);
    await renting.awaitClosed(stopped.id);
    const running = await renting.run(user, b200);
    await service.gpus.crash((await renting.run(user, b200)).pod_id ?? '');

    await paying.saveCard(user);
    const charged = await paying.topup((await paying.checkout(user, 1_000)).body.topupId);
    await service.stripe.refunds.create({ payment_intent: charged.payment_id!, amount: 300 });
    const other = await paying.topup((await paying.checkout(user, 1_500)).body.topupId);
    const { id: won } = await paying.order(`charges/${other.charge_id}/dispute`);
    await until('it was taken', async () => {
      const row = await service
        .db('refunds_and_disputes')
        .where({ id: String(won) })
        .first();
      return row !== undefined && row.taken_at !== null;
    });
    await paying.order(`disputes/${String(won)}/win`);
    const debt = await paying.open(user, 700);
    await paying.pay(debt.hosted_invoice_url ?? '');
    await paying.awaitInvoice(debt.id, 'paid');
    await paying.open(user, 800);
    const offer = await paying.open(user, 900, 'topup_failed');
    await paying.pay(offer.hosted_invoice_url ?? '');
    await paying.awaitInvoice(offer.id, 'paid');
    await paying.awaitHandled();

    await reconciling.assertFinds([], 'full');
    const fromMs = Date.now();
    await reconciling.assertFinds([], 'window');
    const { findings, sources, lastRunSeconds } = await reconcileFigures(service.db);
    assert.equal(findings.length, Object.keys(findingKinds).length);
    assert.ok(findings.every(({ open, acknowledged }) => open + acknowledged === 0));
    assert.deepEqual(
      sources.map(({ source }) => source),
      ['charges', 'invoices', 'ledger', 'pods:lab', 'reversals'],
    );
    const tookSeconds = Math.ceil((Date.now() - fromMs) / 1_000);
    assert.ok(
      sources.every(({ failing, uncomparedSeconds }) => !failing && uncomparedSeconds <= tookSeconds),
    );
    assert.ok(lastRunSeconds !== null && lastRunSeconds <= tookSeconds);
    await renting.stop(user, running.id);
  });

  it('finds a charge that nobody was credited with, tells operators once, and sees when it was given back', async () => {
    const id = await payment(650);
    assert.equal((await reconciling.run('window', 60_000)).open, 0, 'it may be under way still');
    await reconciling.assertFinds([['charge_without_entry', id]]);
    await reconciling.assertFinds([['charge_without_entry', id]]);
    // The mails also hold the dispute of the test before.
    const mails = await service
      .db('mail_outbox')
      .where({ recipient: operatorEmail })
      .whereNot('cause', 'like', 'charges-held:%');
    assert.equal(mails.length, 1);
    assert.match(mails[0]!.body ?? '', new RegExp(`charge_without_entry {2}${id}`));
    const {
      evidence,
      first_run_id: first,
      last_run_id: last,
    } = await reconciling.finding('charge_without_entry');
    assert.equal((evidence['processor'] as { amountCents: number }).amountCents, 650);
    assert.ok(last > first);

    await refundAll(id);
    await reconciling.assertFinds([]);
    const row = await service.db('reconcile_findings').where({ subject: id }).first();
    assert.equal(row?.state, 'resolved');
    assert.ok(row.resolved_at);
  });

  it('finds a charge that is put aside for operators', async () => {
    const id = await payment(660, { user_id: newId('usr') });
    await until('it is parked', () => service.db('parked_payments').where({ payment_id: id }).first());
    await reconciling.assertFinds([['charge_parked', id]]);
    await service
      .db('parked_payments')
      .where({ payment_id: id })
      .update({ resolved_at: service.db.raw('clock_ms()'), resolution: 'paid back by hand' });
    await reconciling.assertFinds([]);
  });

  it('finds an entry of another amount than its charge, and one charge in two entries', async () => {
    const { user } = await service.signIn();
    const [differs, twice] = [await payment(500), await payment(700)];
    const { latest_charge: charge } = await service.stripe.paymentIntents.retrieve(twice);
    await postTopup(user.id, 400, { kind: 'payment', paymentId: differs });
    await postTopup(user.id, 700, { kind: 'payment', paymentId: twice }, charge as string);
    await postTopup(user.id, 700, { kind: 'operation', operationId: newId('op') }, charge as string);
    await reconciling.assertFinds([
      ['charge_amount_differs', differs],
      ['charge_counted_twice', twice],
    ]);
    const { id, subject_ids: ids } = await reconciling.finding('charge_counted_twice');
    assert.equal(ids['userId'], user.id);
    const { open } = await reconciling.run();
    assert.ok(await acknowledgeFinding(service.db, id, 'ada', 'corrected by hand'));
    const report = await reconciling.run();
    assert.deepEqual([report.open, report.acknowledged], [open - 1, 1]);
    assert.equal((await reconciling.finding('charge_counted_twice')).state, 'acknowledged');
    // The rest of the file needs a clean state.
    await service.db('reconcile_findings').update({
      ...{ state: 'resolved', resolved_at: service.db.raw('clock_ms()') },
    });
  });
});

describe('reconcile: entries without a charge, and a processor that can’t be asked', () => {
  let service: TestService;
  let paying: Invoicing;
  let reconciling: Reconciling;

  before(async () => {
    service = await startService({ wrapProcessor: withUnreadable(unreadable), pollMs: 1_000 });
    paying = new Invoicing(service);
    reconciling = new Reconciling(service);
  });
  afterEach(() => paying.clearFaults());
  after(() => service.stop());

  it('finds a credit, and a paid debt, that no charge stands for', async () => {
    const user = await service.signIn(500);
    const cause = await service.db('ledger_causes').first('cause');
    const credited = cause!.cause.slice('payment:'.length);
    const debt = await paying.open(user, 700);
    await paying.pay(debt.hosted_invoice_url ?? '');
    const { payment_id: paid } = await paying.awaitInvoice(debt.id, 'paid');
    await reconciling.assertFinds([['entry_without_charge', credited]]);
    await service.db('invoices').where({ id: debt.id }).update({ payment_id: 'pi_none' });
    await reconciling.assertFinds([
      ['entry_without_charge', credited],
      ['entry_without_charge', 'pi_none'],
      ['charge_without_entry', paid ?? ''],
    ]);
    await service.db('invoices').where({ id: debt.id }).update({ payment_id: paid });
    await reconciling.assertFinds([['entry_without_charge', credited]]);
  });

  it('finds what is wrong beside things that can not be read, and names those', async () => {
    const pay = async (amount: number): Promise<string> => {
      const { id } = await service.stripe.paymentIntents.create({
        ...{ amount, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
        payment_method_types: ['card'],
      });
      return id;
    };
    const [wrong, garbled] = [await pay(660), await pay(670)];
    const { id: walletId } = await getWallet(service.db, (await service.signIn(680)).user.id);
    const [cause] = await service.db('ledger_causes').where({ wallet_id: walletId }).select('cause');
    const silent = cause!.cause.slice('payment:'.length);
    for (const id of [garbled, silent]) unreadable.add(id);
    try {
      await reconciling.run();
      const subjects = (await reconciling.standing()).map(([, subject]) => subject);
      assert.ok(subjects.includes(wrong));
      assert.ok(!subjects.includes(garbled) && !subjects.includes(silent), 'of these nothing is known');
      const row = await service.db('reconcile_sources').where({ source: 'charges' }).first();
      assert.equal(
        row?.failing_why,
        `not read: ${garbled} (SQLSTATE 22021), ${silent} (unknown, HTTP 500); the rest was compared`,
      );
      assert.equal((await reconciling.run()).notCompared, 1);
    } finally {
      unreadable.clear();
    }
    await reconciling.run();
    const found = await reconciling.standing();
    assert.ok(found.some(([kind, subject]) => kind === 'charge_without_entry' && subject === garbled));
    assert.ok(found.some(([kind, subject]) => kind === 'entry_without_charge' && subject === silent));
    assert.deepEqual(await reconciling.gaps(), []);
  });

  it('shows what it could not compare, since when, and resolves nothing meanwhile', async () => {
    const { id } = await service.stripe.paymentIntents.create({
      ...{ amount: 900, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
      payment_method_types: ['card'],
    });
    await reconciling.run();
    const before = await reconciling.standing();
    assert.ok(before.some(([, subject]) => subject === id));
    const { compared_until: comparedUntil } = (await service
      .db('reconcile_sources')
      .where({ source: 'charges' })
      .first())!;

    await service.stripe.refunds.create({ payment_intent: id });
    await paying.order('faults', { kind: 'status', path: '/v1/charges', times: 1_000 });
    const report = await reconciling.run();
    assert.equal(report.notCompared, 1);
    assert.deepEqual(await reconciling.standing(), before, 'nothing was resolved that was not compared');
    assert.deepEqual(await reconciling.gaps(), ['charges']);
    const row = await service.db('reconcile_sources').where({ source: 'charges' }).first();
    assert.deepEqual(row?.compared_until, comparedUntil);
    assert.match(row.failing_why ?? '', /^unknown: /);
    const { sources } = await reconcileFigures(service.db);
    assert.deepEqual(
      sources.filter(({ failing }) => failing).map(({ source }) => source),
      ['charges'],
    );

    await paying.clearFaults();
    await reconciling.run();
    assert.ok(!(await reconciling.standing()).some(([, subject]) => subject === id));
    assert.deepEqual(await reconciling.gaps(), []);
  });

  it('begins after an outage where it ended, and asks again for what stands and is older', async () => {
    const { id } = await service.stripe.paymentIntents.create({
      ...{ amount: 950, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
      payment_method_types: ['card'],
    });
    await reconciling.run();
    const standing = await reconciling.standing();
    // The findings' payments are in no list from now on; the findings stand all the same.
    await service.db('users').update({ created_at: service.db.raw(`created_at + interval '1 day'`) });
    await service.db('reconcile_findings').where({ subject: id }).delete();
    await reconciling.run('full');
    assert.deepEqual(
      await reconciling.standing(),
      standing.filter(([, subject]) => subject !== id),
    );
    // The last comparison is long ago: the window reaches back to it.
    await service
      .db('reconcile_sources')
      .update({ compared_until: service.db.raw(`clock_ms() - interval '3 days'`) });
    await reconciling.run();
    assert.ok((await reconciling.standing()).some(([, subject]) => subject === id));
  });
});
