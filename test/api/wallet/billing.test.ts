import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser, moveHold } from '../../../money/ledger/wallets.js';
import type { UserId } from '../../../domain/ids.js';
import { firstBrokenLink, type LedgerEntryType } from '../../../domain/ledger/ledger.js';
import type { Item } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental } from '../../support/money/factories.js';

describe('billing reads', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  /** Changes available, with its entry. Holds come about in another way. */
  async function move(
    userId: UserId,
    type: LedgerEntryType,
    availableCents: number,
    more: { rentalNo?: number; processorChargeId?: string } = {},
  ): Promise<void> {
    await api.db.transaction(async (trx) => {
      const wallet = await lockWalletOfUser(trx, userId);
      const cause = { kind: 'operation', operationId: newId('op') } as const;
      await post(trx, wallet, { type, availableCents, cause, ...more });
    });
  }

  async function hold(userId: UserId, cents: number): Promise<void> {
    await api.db.transaction(async (trx) => moveHold(trx, await lockWalletOfUser(trx, userId), cents));
  }

  describe('GET /v1/billing/balance', () => {
    it('is all zeros for a new wallet, without a runway', async () => {
      const answer = await user.get('/v1/billing/balance');
      assert.deepEqual(answer.body, {
        availableCents: 0,
        reservedCents: 0,
        totalCents: 0,
        openInvoicesCents: 0,
        openInvoiceCount: 0,
        burnPerHourCents: 0,
        runwaySeconds: null,
        updatedAt: answer.body.updatedAt,
      });
      assert.match(answer.body.updatedAt, /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/);
    });

    it('shows what is held, what runs now costs, and how long the money lasts', async () => {
      await move(user.user.id, 'processor_topup', 2_000);
      await hold(user.user.id, 300);
      const now = new Date();
      await insertRental(api.db, user.user.id, {
        status: 'running',
        running_at: now,
        price_per_hour_cents: 200,
        hold_cents: 100,
      });
      await insertRental(api.db, user.user.id, {
        status: 'running',
        running_at: now,
        price_per_hour_cents: 100,
        hold_cents: 150,
      });
      await insertRental(api.db, user.user.id, { price_per_hour_cents: 50, hold_cents: 50 });
      const { body } = await user.get('/v1/billing/balance');
      assert.equal(body.availableCents, 1_700);
      assert.equal(body.reservedCents, 300);
      assert.equal(body.totalCents, 2_000);
      assert.equal(body.burnPerHourCents, 300);
      assert.equal(body.runwaySeconds, Math.floor(((1_700 + 250) * 3600) / 300));
    });

    it('counts open invoices that are debts: overage and manual', async () => {
      const wallet = (await api.db('wallets').where({ user_id: user.user.id }).first())!;
      const invoice = (reason: 'overage' | 'manual' | 'topup_failed', more: object) => ({
        id: newId('inv'),
        user_id: user.user.id,
        wallet_id: wallet.id,
        status: 'open' as const,
        reason,
        amount_cents: 100,
        cause: newId('li'),
        ...more,
      });
      const rental = await insertRental(api.db, user.user.id);
      await api
        .db('invoices')
        .insert([
          invoice('overage', { rental_no: rental.no }),
          invoice('manual', { amount_cents: 250 }),
          invoice('topup_failed', {}),
          invoice('manual', { status: 'void', voided_at: new Date() }),
          invoice('manual', { status: 'draft' }),
        ]);
      const { body } = await user.get('/v1/billing/balance');
      assert.deepEqual([body.openInvoiceCount, body.openInvoicesCents], [2, 350]);
    });
  });

  it('GET /v1/billing/config tells what a client needs to take payments', async () => {
    const answer = await user.get('/v1/billing/config');
    assert.deepEqual(answer.body, {
      publishableKey: 'pk_test_api',
      currency: 'USD',
      minTopupCents: 100,
      maxTopupCents: 500_000,
      supportContact: null,
    });
  });

  describe('GET /v1/billing/ledger', () => {
    it('is empty for a new wallet', async () => {
      assert.deepEqual((await user.get('/v1/billing/ledger')).body, {
        entries: [],
        balanceCents: 0,
        nextCursor: null,
      });
    });

    it('shows entries newest first, with a rental or a charge where there is one', async () => {
      const rental = await insertRental(api.db, user.user.id);
      await move(user.user.id, 'processor_topup', 500, { processorChargeId: 'ch_1' });
      await move(user.user.id, 'rental_charge', -20, { rentalNo: rental.no });
      await move(user.user.id, 'adjustment', 5);
      const { body } = await user.get('/v1/billing/ledger');
      assert.equal(body.balanceCents, 485);
      const [adjustment, charge, topup] = body.entries as [Item, Item, Item];
      assert.match(adjustment.id, /^led_[0-9A-HJKMNP-TV-Z]{26}$/);
      assert.deepEqual(adjustment, {
        id: adjustment.id,
        type: 'adjustment',
        amountCents: 5,
        balanceAfterCents: 485,
        createdAt: adjustment.createdAt,
      });
      assert.deepEqual([charge.type, charge.amountCents, charge.rentalId], ['rental_charge', -20, rental.id]);
      assert.deepEqual([topup.type, topup.processorChargeId], ['processor_topup', 'ch_1']);
      assert.match(topup.createdAt, /Z$/);
      assert.equal(new Set(body.entries.map((entry) => entry.id)).size, 3);
    });

    it('pages through all entries once while new ones are written, and the chain holds', async () => {
      await move(user.user.id, 'processor_topup', 1_000);
      for (let count = 0; count < 9; count += 1) await move(user.user.id, 'adjustment', -1 - count);
      const entries: { amountCents: number; balanceAfterCents: number }[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page = await user.get(
          `/v1/billing/ledger?pageSize=4${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        entries.push(...page.body.entries);
        cursor = page.body.nextCursor;
        await move(user.user.id, 'adjustment', 7);
      }
      assert.equal(entries.length, 10);
      assert.equal(firstBrokenLink(entries, true), undefined);
    });

    it('equals the balance endpoint’s total, reserved money included', async () => {
      await move(user.user.id, 'processor_topup', 1_000);
      await hold(user.user.id, 400);
      const ledger = await user.get('/v1/billing/ledger');
      const balance = await user.get('/v1/billing/balance');
      assert.equal(ledger.body.balanceCents, 1_000);
      assert.equal(balance.body.totalCents, 1_000);
      assert.equal(ledger.body.entries[0]!.balanceAfterCents, 1_000);
    });

    it('filters by type, with the balance of all', async () => {
      const rental = await insertRental(api.db, user.user.id);
      await move(user.user.id, 'processor_topup', 500);
      await move(user.user.id, 'rental_charge', -20, { rentalNo: rental.no });
      await move(user.user.id, 'refund', 20, { rentalNo: rental.no });
      for (const [type, amounts] of [
        ['processor_topup', [500]],
        ['rental_charge', [-20]],
        ['refund', [20]],
        ['auto_topup', []],
        ['adjustment', []],
      ] as const) {
        const { body } = await user.get(`/v1/billing/ledger?type=${type}`);
        assert.deepEqual(
          body.entries.map((entry) => entry.amountCents),
          amounts,
        );
        assert.equal(body.balanceCents, 500);
      }
    });

    it('reads from any number on, and tells which numbers there are', async () => {
      for (const cents of [100, 20, 3]) await move(user.user.id, 'processor_topup', cents);
      const read = async (query: string) => {
        const { body } = await user.get(`/v1/billing/ledger?${query}`);
        return [body.entries.map(({ amountCents }) => amountCents), body.range, body.nextCursor !== null];
      };
      const range = { oldestSeq: 1, newestSeq: 3 };
      assert.deepEqual(await read('beforeSeq=9007199254740991'), [[3, 20, 100], range, false]);
      assert.deepEqual(await read('beforeSeq=3&pageSize=1'), [[20], range, true]);
      assert.deepEqual(await read('beforeSeq=1'), [[], range, false]);
      assert.deepEqual(await read('pageSize=1'), [[3], undefined, true]);
      const { body: newest } = await user.get('/v1/billing/ledger?beforeSeq=3&pageSize=1');
      assert.deepEqual(await read(`beforeSeq=3&cursor=${newest.nextCursor ?? ''}`), [[100], range, false]);
    });

    it('shows what lies between two instants, and the numbers of that alone', async () => {
      for (const cents of [100, 20, 3]) await move(user.user.id, 'processor_topup', cents);
      const { entries } = (await user.get('/v1/billing/ledger')).body;
      const [newest, middle] = entries as unknown as { createdAt: string }[];
      const read = async (query: string) => {
        const { body } = await user.get(`/v1/billing/ledger?beforeSeq=1000&${query}`);
        return [body.entries.map(({ amountCents }) => amountCents), body.range];
      };
      const [from, to] = [middle!.createdAt, newest!.createdAt];
      assert.deepEqual(await read(`from=${from}`), [[3, 20], { oldestSeq: 2, newestSeq: 3 }]);
      assert.deepEqual(await read(`to=${to}`), [[20, 100], { oldestSeq: 1, newestSeq: 2 }]);
      assert.deepEqual(await read(`from=${from}&to=${to}`), [[20], { oldestSeq: 2, newestSeq: 2 }]);
      assert.deepEqual(await read(`from=${from}&to=${to}&type=refund`), [[], { oldestSeq: 2, newestSeq: 2 }]);
      assert.deepEqual(await read('to=2020-01-01'), [[], { oldestSeq: 1, newestSeq: 0 }]);
      assert.deepEqual(await read('from=2100-01-01'), [[], { oldestSeq: 4, newestSeq: 3 }]);
      const backwards = await user.get('/v1/billing/ledger?from=2026-02-01&to=2026-01-01');
      assert.deepEqual([backwards.status, backwards.body.error], [400, 'validation_failed']);
    });

    it('shows nothing of another user', async () => {
      const other = await api.signIn();
      await move(other.user.id, 'processor_topup', 500);
      assert.deepEqual((await user.get('/v1/billing/ledger')).body.entries, []);
    });

    it('refuses queries of another shape', async () => {
      const wrong = [
        '?type=stripe',
        '?pageSize=201',
        '?pageSize=-1',
        '?cursor=xyz',
        '?cursor=WzAuNV0',
        '?from=1',
        '?beforeSeq=0',
        '?beforeSeq=x',
      ];
      for (const query of wrong) {
        const answer = await user.get(`/v1/billing/ledger${query}`);
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], query);
      }
    });
  });
});
