import assert from 'node:assert/strict';
import { unnamedSeller } from '../../../domain/payments/receipt.js';
import { creditTopup } from '../../../money/payments/credit.js';
import { explainEntry } from '../../../adapters/postgres/explain/explain-entry.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import type { Explanation } from '../../../domain/ledger/explanation.js';
import { ledgerEntryId } from '../../../domain/ledger/ledger-ids.js';
import { getRental, getWallet } from '../../support/money/money.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { ToldLedger } from '../../support/money/told-ledger.js';
import { beginEarlier } from '../../support/money/begin-earlier.js';

describe('GET /v1/billing/ledger/:id/explain', () => {
  let api: TestApi;
  let user: SignedIn;
  let ledger: ToldLedger;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
    ledger = new ToldLedger(api.db, user.user.id);
    await ledger.payTopup();
  });
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(api.db, user.user.id), []);
  });
  after(() => api.stop());

  /** As JSON carries it: instants are texts. */
  type Told = { [Key in keyof Explanation]: Explanation[Key] };

  async function explain(id: string): Promise<Told> {
    const { status, body } = await user.get(`/v1/billing/ledger/${id}/explain`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Told;
  }

  it('derives a tick’s charge from the rate and the instants, with the sum written out', async () => {
    const rentalId = await ledger.runMachine(100_000);
    const { entry, charge, rental, why } = await explain(await ledger.newestId());
    const row = await getRental(api.db, rentalId);
    assert.deepEqual([entry.type, entry.amountCents, entry.rentalId], ['rental_charge', -10, rentalId]);
    assert.equal(entry.balanceBeforeCents + entry.amountCents, entry.balanceAfterCents);
    assert.ok(charge);
    const elapsedMs = Date.parse(String(entry.createdAt)) - row.running_at!.getTime();
    assert.deepEqual(
      [charge.occasion, charge.untilWas, charge.elapsedMs, charge.accruedCents, charge.unpaidCents],
      ['tick', 'clock', elapsedMs, 10, 0],
    );
    assert.equal(
      charge.formula,
      `floor(360 cents/h x ${elapsedMs} ms / 3600000 ms/h = ${(elapsedMs / 10_000).toFixed(4)}) = 10; 10 - 0 charged before = 10`,
    );
    assert.equal(rental?.id, rentalId);
    assert.match(
      why,
      /^\$0\.10 was taken from your wallet: 1 × RTX 4090 \(rent_\w+\) ran at \$3\.60 an hour from /,
    );
  });

  it('goes on from the entry before, and until the stop was asked for', async () => {
    const rentalId = await ledger.runMachine(100_000);
    const first = await explain(await ledger.newestId());
    const { db } = api;
    await beginEarlier(db, [rentalId], 20);
    await ledger.stopMachine(rentalId);
    const row = await getRental(db, rentalId);
    const tick = (await explain(await ledger.newestId(row.charged_cents === 12 ? 0 : 1))).charge;
    assert.deepEqual([tick?.chargedBeforeCents, tick?.dueCents, tick?.untilWas], [10, 2, 'stop_requested']);
    assert.equal(tick?.until, row.ended_at?.toISOString());
    assert.equal(tick?.from, first.charge?.until);
  });

  it('rounds half up at the settlement', async () => {
    const rentalId = await ledger.runMachine(105_500);
    await ledger.stopMachine(rentalId);
    const { charge, why } = await explain(await ledger.newestId());
    assert.deepEqual(
      [
        charge?.occasion,
        charge?.untilWas,
        charge?.accruedCents,
        charge?.chargedBeforeCents,
        charge?.amountCents,
      ],
      ['settlement', 'ended', 11, 10, 1],
    );
    assert.match(
      charge?.formula ?? '',
      /^round\(360 cents\/h x \d+ ms .* = 10\.[5-9]\d+\) = 11; 11 - 10 charged before = 1$/,
    );
    assert.match(why, /the final charge for 1 × RTX 4090/);
  });

  it('says what the wallet did not cover, and which limit ended it', async () => {
    await ledger.byHand('adjust', -1_500);
    await ledger.runMachine(20_000_000);
    const { charge } = await explain(await ledger.newestId());
    assert.deepEqual([charge?.amountCents, charge?.dueCents, charge?.unpaidCents], [500, 2_000, 1_500]);
    assert.match(charge?.formula ?? '', /the wallet had 500 of it, 1500 were missing$/);
    await ledger.payTopup();
    await ledger.runMachine(100_000, { maxSpendCents: 7 });
    const capped = (await explain(await ledger.newestId())).charge;
    assert.deepEqual([capped?.amountCents, capped?.untilWas, capped?.elapsedMs], [7, 'spend_limit', 70_000]);
  });

  it('tells of a rental that failed: its hold captured, and all of it given back', async () => {
    const rentalId = await ledger.failToProvision();
    const capture = await explain(await ledger.newestId(1));
    assert.deepEqual([capture.charge?.occasion, capture.charge?.amountCents], ['capture', 50]);
    const refund = await explain(await ledger.newestId());
    assert.deepEqual([refund.entry.type, refund.rental?.id], ['refund', rentalId]);
    assert.equal(
      refund.rentalRefund?.formula,
      'it failed, so it costs nothing; 50 charged - 0 = 50 given back',
    );
    assert.equal(refund.rental?.error, 'No machine could be had.');
  });

  it('tells of a machine that was lost: what it was charged after it was last seen alive', async () => {
    const rentalId = await ledger.runMachine(200_000);
    await ledger.loseMachine(rentalId, 100_000);
    const { entry, rentalRefund, why } = await explain(await ledger.newestId());
    assert.deepEqual([entry.type, entry.amountCents], ['refund', 10]);
    assert.deepEqual([rentalRefund?.chargedCents, rentalRefund?.finalCents], [20, 10]);
    assert.match(why, /was lost, so charges after it was last seen running were refunded/);
  });

  it('names the payment, its page and its receipt', async () => {
    const { topupId, payment } = await ledger.payTopup();
    const { entry, payment: shown, why } = await explain(await ledger.newestId());
    assert.deepEqual([entry.type, entry.processorChargeId], ['processor_topup', payment.chargeId]);
    assert.deepEqual(shown, {
      ...{ paymentId: payment.paymentId, chargeId: payment.chargeId, topupId, source: 'checkout' },
      ...{ sessionId: `cs_test_${topupId}`, receiptUrl: payment.receiptUrl },
    });
    assert.match(why, /^\$20\.00 was added to your wallet: a payment was received \(pi_/);
    await ledger.payTopup({ source: 'auto_topup', pm_id: 'pm_1' });
    const auto = await explain(await ledger.newestId());
    assert.deepEqual([auto.entry.type, auto.payment?.source], ['auto_topup', 'auto_topup']);
    assert.match(auto.why, /auto-topup charged the saved card/);
  });

  it('finds the top-up of a page that was paid twice by the payment’s own event', async () => {
    const { topupId, payment } = await ledger.payTopup();
    const second = { ...payment, paymentId: `${payment.paymentId}b`, chargeId: 'ch_b' };
    await creditTopup(api.db, topupId as `top_${string}`, second, unnamedSeller);
    await api.db('processor_events').insert({
      ...{ id: `evt_${topupId}`, kind: 'payment_intent.succeeded', created_at: new Date(), livemode: false },
      object: { object: 'payment_intent', id: second.paymentId, metadata: { topup_id: topupId } },
    });
    const shown = (await explain(await ledger.newestId())).payment;
    assert.deepEqual(
      [shown?.paymentId, shown?.topupId, shown?.receiptUrl],
      [second.paymentId, topupId, null],
    );
  });

  it('names the refund at the processor, taken and given back', async () => {
    const { payment } = await ledger.payTopup();
    const id = `re_${payment.paymentId}`;
    await ledger.reverse(payment, id, false);
    const taken = await explain(await ledger.newestId());
    assert.deepEqual([taken.entry.type, taken.entry.amountCents], ['adjustment', -300]);
    assert.deepEqual(
      [taken.reversal?.id, taken.reversal?.debitedCents, taken.payment?.paymentId],
      [id, 300, payment.paymentId],
    );
    await ledger.reverse(payment, id, true);
    const back = await explain(await ledger.newestId());
    assert.deepEqual([back.entry.amountCents, back.reversal?.id], [300, id]);
    assert.match(back.why, /money came back from refund re_\w+ of payment pi_\w+/);
  });

  it('names the invoice whose payment was credited', async () => {
    const offer = await ledger.payInvoice('offer');
    const credited = await explain(await ledger.newestId());
    assert.deepEqual([credited.entry.type, credited.invoice?.id], ['processor_topup', offer]);
    assert.match(credited.why, new RegExp(`invoice ${offer} was paid`));
    const debt = await ledger.payInvoice('void debt');
    const returned = await explain(await ledger.newestId());
    assert.deepEqual([returned.entry.type, returned.invoice?.id], ['adjustment', debt]);
    assert.match(returned.why, /was paid although you no longer owed it/);
  });

  it('tells the reason of an operator’s action, and not the operator', async () => {
    for (const kind of ['refund', 'adjust'] as const) {
      const operationId = await ledger.byHand(kind, 250);
      const { byHand, why } = await explain(await ledger.newestId());
      assert.deepEqual([byHand?.operationId, byHand?.kind], [operationId, kind]);
      assert.match(why, /an operator did this by hand: the machine was slow/);
    }
  });

  it('shows nothing that only operators see', async () => {
    await ledger.runMachine(100_000);
    await ledger.byHand('refund', 1);
    for (const before of [0, 1]) {
      const text = JSON.stringify(await explain(await ledger.newestId(before)));
      assert.doesNotMatch(text, /evidence|workflow|operator"|pod-rent|test-rent|ada/);
    }
  });

  it('takes the plain ids that release 0.1 showed, of entries of its time alone, and shows the new ones', async () => {
    const { id: walletId, seq } = await getWallet(api.db, user.user.id);
    const plain = ledgerEntryId(walletId, seq);
    const made = await user.get(`/v1/billing/ledger/${plain}/explain`);
    assert.deepEqual([made.status, made.body.error], [404, 'not_found'], 'nobody was ever shown it');
    assert.equal((await explainEntry(api.db, plain, 1))?.entry.id, await ledger.newestId(), 'operators may');

    await api.db('installation_keys').update({ created_at: api.db.raw('clock_ms()') });
    const upgraded = await startApi({ databaseUrl: api.databaseUrl });
    try {
      const client = new ApiClient(upgraded.url, user.sid);
      const kept = await client.get(`/v1/billing/ledger/${plain}/explain`);
      assert.equal(kept.status, 200);
      const { entries } = (await client.get('/v1/billing/ledger')).body;
      assert.equal((kept.body as unknown as Told).entry.id, entries[0]!.id);
      assert.notEqual(entries[0]!.id, plain);
      assert.equal((await client.get(`/v1/billing/ledger/${entries[0]!.id}/explain`)).status, 200);
    } finally {
      await upgraded.stop();
    }
  });

  it('answers not_found for another user’s entry just as for none', async () => {
    const id = await ledger.newestId();
    const other = await api.signIn();
    for (const path of [id, 'led_00000000000000000000000000', 'led_1', 'x']) {
      const { status, body } = await other.get(`/v1/billing/ledger/${path}/explain`);
      assert.deepEqual([status, body.error], [404, 'not_found']);
    }
    const { status } = await api.stranger().get(`/v1/billing/ledger/${id}/explain`);
    assert.equal(status, 401);
  });
});
