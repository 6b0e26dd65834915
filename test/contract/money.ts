import assert from 'node:assert/strict';
import { until } from '../support/until.js';
import { saveCard, signIn, topUp, type Backend, type Person } from './backends.js';

/** Top-ups, the saved card, auto-topup's settings, the ledger, and invoices. */
export function describeMoney(backend: () => Backend): void {
  describe('a checkout', () => {
    it('is credited once it is paid, and the ledger tells of it', async () => {
      const person = await signIn(backend());
      const topupId = await topUp(backend(), person, 2_500);
      const { body: topup } = await person.get(`/v1/billing/topups/${topupId}`);
      assert.deepEqual([topup.amountCents, topup.creditedCents, topup.checkoutUrl], [2_500, 2_500, null]);
      const { body: ledger } = await person.get('/v1/billing/ledger');
      const [entry] = ledger.entries;
      assert.deepEqual(
        [entry?.type, entry?.amountCents, entry?.balanceAfterCents],
        ['processor_topup', 2_500, 2_500],
      );
      assert.deepEqual([entry?.processorChargeId, ledger.balanceCents], [topup.processorChargeId, 2_500]);
      const { body: balance } = await person.get('/v1/billing/balance');
      assert.deepEqual(
        [balance.availableCents, balance.reservedCents, balance.totalCents],
        [2_500, 0, 2_500],
      );
      assert.deepEqual([balance.burnPerHourCents, balance.runwaySeconds], [0, null]);
      const { body: config } = await person.get('/v1/billing/config');
      assert.equal((config as unknown as { currency: string }).currency, 'USD');
      assert.deepEqual((await person.get('/v1/billing/standing')).body, {
        ...{ blockedReason: null, chargesHeld: false, reversals: [] },
      });
    });

    it('has a receipt, made out to whom its user says', async () => {
      const person = await signIn(backend());
      const details = { name: 'Example Ltd', address: null, taxId: 'GB1' };
      const { body: stored } = await person.put('/v1/billing/details', { name: 'Example Ltd', taxId: 'GB1' });
      assert.deepEqual([stored, (await person.get('/v1/billing/details')).body], [details, details]);
      await topUp(backend(), person, 500);
      const [topup] = (await person.get('/v1/billing/topups')).body.topups;
      const receipt = await person.get(`/v1/billing/topups/${topup!.id}/receipt`);
      assert.equal(receipt.headers.get('content-type'), 'application/pdf');
      assert.match(receipt.body as unknown as string, /^%PDF-/);
      const { status } = await person.get('/v1/billing/topups/top_01ARZ3NDEKTSV4RRFFQ69G5FAV/receipt');
      assert.equal(status, 404);
    });

    it('has no proof before the night in which its month is proved', async () => {
      const person = await signIn(backend());
      await topUp(backend(), person, 500);
      const { status, body } = await person.get('/v1/billing/proof?month=2026-10');
      assert.deepEqual([status, body.error], [409, 'proof_not_ready']);
      assert.deepEqual((await person.get('/v1/ledger/roots')).body, { roots: [] });
    });

    it('is answered once per Idempotency-Key', async () => {
      const person = await signIn(backend());
      const key = { 'Idempotency-Key': 'pay' };
      const first = await person.post('/v1/billing/checkout', { amountCents: 500 }, key);
      const second = await person.post('/v1/billing/checkout', { amountCents: 500 }, key);
      assert.deepEqual([second.status, second.body], [200, first.body]);
      assert.equal(second.headers.get('Idempotent-Replayed'), 'true');
      const other = await person.post('/v1/billing/checkout', { amountCents: 600 }, key);
      assert.deepEqual([other.status, other.body.error], [409, 'idempotency_conflict']);
      assert.equal((await person.get('/v1/billing/topups')).body.topups.length, 1);
    });

    it('is found by its Idempotency-Key, which belongs to its user', async () => {
      const person = await signIn(backend());
      await person.post('/v1/billing/checkout', { amountCents: 500 });
      const { body } = await person.post(
        '/v1/billing/checkout',
        { amountCents: 500 },
        { 'Idempotency-Key': 'a & b' },
      );
      const found = async (asker: Person, key: string) =>
        (await asker.get(`/v1/billing/topups?idempotencyKey=${encodeURIComponent(key)}`)).body;
      const { topups, nextCursor } = await found(person, 'a & b');
      assert.deepEqual([topups.map(({ id }) => id), nextCursor], [[body.topupId], null]);
      assert.deepEqual((await found(person, 'another')).topups, []);
      assert.deepEqual((await found(await signIn(backend()), 'a & b')).topups, []);
      const empty = await person.get('/v1/billing/topups?idempotencyKey=');
      assert.deepEqual([empty.status, empty.body.error], [400, 'validation_failed']);
    });

    it('pages through top-ups and ledger, and sums the ledger up', async () => {
      const person = await signIn(backend());
      const ids = [await topUp(backend(), person, 300), await topUp(backend(), person, 400)];
      const first = (await person.get('/v1/billing/topups?pageSize=1')).body;
      const second = (await person.get(`/v1/billing/topups?pageSize=1&cursor=${first.nextCursor ?? ''}`))
        .body;
      assert.deepEqual([first.topups[0]?.id, second.topups[0]?.id], ids.toReversed());
      const newest = (await person.get('/v1/billing/ledger?pageSize=1')).body;
      const older = (await person.get(`/v1/billing/ledger?cursor=${newest.nextCursor ?? ''}`)).body;
      assert.deepEqual(
        [...newest.entries, ...older.entries].map((entry) => entry.balanceAfterCents),
        [700, 300],
      );
      assert.equal(older.nextCursor, null);
      const numbered = (await person.get('/v1/billing/ledger?beforeSeq=2&from=2020-01-01')).body;
      assert.deepEqual(
        [numbered.entries.map((entry) => entry.balanceAfterCents), numbered.range],
        [[300], { oldestSeq: 1, newestSeq: 2 }],
      );
      const none = (await person.get('/v1/billing/ledger?beforeSeq=9&to=2020-01-01')).body;
      assert.deepEqual([none.entries, none.range], [[], { oldestSeq: 1, newestSeq: 0 }]);
      const statement = await person.get('/v1/billing/statement?from=2020-01-01&to=2100-01-01');
      const { totals, closingBalanceCents } = statement.body as unknown as Record<string, unknown>;
      assert.deepEqual(
        [totals, closingBalanceCents],
        [[{ type: 'processor_topup', entries: 2, amountCents: 700 }], 700],
      );
      const csv = (await person.get('/v1/billing/ledger.csv')).body as unknown as string;
      assert.deepEqual(
        csv.split('\r\n').map((line) => line.split(',').slice(2, 5).join()),
        ['type,amountCents,balanceAfterCents', 'processor_topup,300,300', 'processor_topup,400,700', ''],
      );
    });
  });

  describe('a saved card', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
    });

    it('is none at first', async () => {
      const none = { brand: null, last4: null, expMonth: null, expYear: null, pmId: null };
      assert.deepEqual((await person.get('/v1/billing/card')).body, none);
      const { body } = await person.get('/v1/billing/auto-topup');
      assert.deepEqual([body.enabled, body.thresholdCents], [false, null]);
    });

    it('is charged by the next checkout, serves auto-topup, and is removed with it', async () => {
      assert.deepEqual(await saveCard(backend(), person), { brand: 'visa', last4: '4242' });

      const charged = (await person.post('/v1/billing/checkout', { amountCents: 1_000 })).body;
      assert.deepEqual(
        [charged.status, charged.checkoutUrl, charged.amountCents],
        ['succeeded', null, 1_000],
      );
      assert.equal((await person.get('/v1/billing/balance')).body.availableCents, 1_000);

      const settings = { enabled: true, thresholdCents: 500, topupAmountCents: 3_000, dailyCapCents: 6_000 };
      const stored = (await person.put('/v1/billing/auto-topup', settings)).body;
      assert.deepEqual(stored, { ...settings, disabledReason: null, nextAttemptAt: null, warnings: [] });
      const less = (await person.put('/v1/billing/auto-topup', { enabled: true, thresholdCents: 600 })).body;
      assert.deepEqual([less.thresholdCents, less.topupAmountCents, less.dailyCapCents], [600, 3_000, 6_000]);

      const offReasons = async () => {
        const { body } = await person.get('/v1/events?types=auto_topup.switched_off');
        return (body as unknown as { events: { data: { reason: string } }[] }).events.map(
          ({ data }) => data.reason,
        );
      };
      await person.put('/v1/billing/auto-topup', { enabled: false });
      await until('it is told', async () => (await offReasons()).includes('user'));
      await person.put('/v1/billing/auto-topup', { enabled: true, thresholdCents: 600 });

      assert.deepEqual((await person.delete('/v1/billing/card')).body, { ok: true });
      assert.deepEqual((await person.delete('/v1/billing/card')).body, { ok: true });
      const off = (await person.get('/v1/billing/auto-topup')).body;
      assert.deepEqual([off.enabled, off.disabledReason], [false, 'card_removed']);
    });
  });

  describe('an invoice', () => {
    it('is listed, shown, owed, and paid on its page', async () => {
      const person = await signIn(backend());
      assert.deepEqual((await person.get('/v1/billing/invoices')).body.data, []);
      const id = await backend().issueInvoice(person, 1_234);
      const { data } = (await person.get('/v1/billing/invoices?status=open')).body;
      assert.deepEqual(
        data.map((each) => [each.id, each.amountCents]),
        [[id, 1_234]],
      );
      assert.deepEqual((await person.get(`/v1/billing/invoices/${id}`)).body, data[0]);
      assert.deepEqual((await person.get('/v1/billing/invoices?status=paid')).body.data, []);
      const balance = (await person.get('/v1/billing/balance')).body;
      assert.deepEqual([balance.openInvoicesCents, balance.openInvoiceCount], [1_234, 1]);
      const { url } = (await person.get(`/v1/billing/invoices/${id}/pay-url`)).body;
      assert.equal((await fetch(url!)).status, 200);
      await backend().payInvoice(url!);
      const paid = await until('the invoice is paid', async () => {
        const { body } = await person.get(`/v1/billing/invoices/${id}`);
        return body.status === 'paid' && body;
      });
      assert.ok(URL.canParse(paid.receiptUrl ?? ''));
      assert.equal((await person.get(`/v1/billing/invoices/${id}/pay-url`)).body.url, null);
      assert.equal((await person.get('/v1/billing/balance')).body.openInvoiceCount, 0);
      const other = await signIn(backend());
      assert.equal((await other.get(`/v1/billing/invoices/${id}`)).body.error, 'invoice_not_found');
    });
  });
}
