import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newId } from '../../../adapters/ids.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { insertChange } from '../../../adapters/postgres/rentals/changes.js';
import { insertStopRequest } from '../../../adapters/postgres/rentals/stop-requests.js';
import type { RentalRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { readBudgetUse } from '../../../adapters/postgres/spending/budgets.js';
import { setCap } from '../../../adapters/postgres/spending/caps.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import type { ApiKeyId, RentalId } from '../../../domain/ids.js';
import { accruedCents } from '../../../domain/metering/metering.js';
import { Refusal } from '../../../domain/refusal.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { tick } from '../../../money/metering/tick.js';
import { changeRental } from '../../../money/rentals/change.js';
import { giveUpRental, settleEnded } from '../../../money/rentals/lifecycle.js';
import { endLost } from '../../../money/rentals/lost.js';
import { openRental } from '../../../money/rentals/open.js';
import { lockRental } from '../../../money/rentals/rentals.js';
import { lockWalletOfRental } from '../../../money/ledger/wallets.js';
import { PRICE, stories, type Step, type Which } from '../../support/money/cap-stories.js';
import { insertListing, insertProvider, runMachine } from '../../support/money/factories.js';
import { getKey, insertKey } from '../../support/money/keys.js';
import { getRental, insertWallet, openMoneyDatabase } from '../../support/money/money.js';
import { TestMarket } from '../../support/money/test-market.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';

const SHARD = { shard: 0, shards: 1 };

/** A plain account of what was promised: limits are taken when they are agreed, and costs when they are settled. */
class Plain {
  readonly limits = new Map<RentalId, { key: ApiKeyId | undefined; limit: number | null }>();
  readonly spent = new Map<ApiKeyId, number>();
  readonly caps = new Map<ApiKeyId, number | null>();

  reserved(key: ApiKeyId): number {
    return [...this.limits.values()].reduce((sum, one) => sum + (one.key === key ? (one.limit ?? 0) : 0), 0);
  }
  left(key: ApiKeyId | undefined): number {
    const cap = key === undefined ? null : (this.caps.get(key) ?? null);
    if (key === undefined || cap === null) return Number.POSITIVE_INFINITY;
    return cap - (this.spent.get(key) ?? 0) - this.reserved(key);
  }
  settle(id: RentalId, cost: number): void {
    const { key } = this.limits.get(id)!;
    this.limits.delete(id);
    if (key !== undefined) this.spent.set(key, (this.spent.get(key) ?? 0) + cost);
  }
}

/** The cases that the stories of each kind must come to. */
const cases = {
  poor: ['overage of a capped key', 'overage in the month', 'refused by the wallet'],
  rich: ['a refund of a capped key', 'used before the month', 'refused by the cap'],
  any: [],
} as const;
type Case = (typeof cases)[keyof typeof cases][number] | 'refused by the budget';

describe('caps of keys and budgets of months, whatever happens in whatever order', function () {
  this.timeout(240_000);
  let db: Database;
  let clock: VirtualClock;
  let close: () => Promise<void>;
  let wallet: WalletRow;
  let keys: readonly ApiKeyId[];
  let opened: RentalId[];
  let plain: Plain;
  /** null: no hard budget. */
  let budget: number | null;
  const reached = new Set<Case>();
  beforeEach(() => {
    reached.clear();
  });
  before(async () => {
    const money = await openMoneyDatabase();
    ({ db } = money);
    close = () => money.close();
    clock = await VirtualClock.install(db);
    await insertListing(db, { price_per_hour_cents: PRICE, provider_code: await insertProvider(db) });
  });
  after(() => close());

  for (const isBudgeted of [false, true]) {
    for (const kind of ['poor', 'rich', 'any'] as const) {
      it(`agree with a plain account${isBudgeted ? ', under a hard budget too' : ''}: ${kind}`, async () => {
        await fc.assert(
          fc.asyncProperty(stories[kind], async ({ funds, cap, story }) => {
            await begin(cap, isBudgeted ? cap * 2 : null, funds);
            for (const step of story) {
              await take(step);
              await agrees(JSON.stringify(step));
            }
            await finish();
          }),
          { numRuns: 3, endOnFailure: false },
        );
        const due: Case[] = [...cases[kind]];
        if (kind === 'rich' && isBudgeted) due.push('refused by the budget');
        assert.deepEqual(
          due.filter((one) => !reached.has(one)),
          [],
          'no story came to them',
        );
      });
    }
  }

  async function begin(cap: number, monthly: number | null, funds: number): Promise<void> {
    wallet = await insertWallet(db, funds);
    keys = [await insertKey(db, wallet.user_id, cap), await insertKey(db, wallet.user_id, null)];
    plain = new Plain();
    plain.caps.set(keys[0]!, cap);
    opened = [];
    budget = monthly;
    if (monthly === null) return;
    await db('budgets').insert({ user_id: wallet.user_id, monthly_cents: monthly, hard: true });
  }

  async function take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'open':
        return open(keys[step.by], step.asked);
      case 'cap':
        return lowerOrRaise(keys[step.by]!, step.to);
      case 'budget':
        if (budget === null) return;
        budget = step.to;
        await db('budgets').where({ user_id: wallet.user_id }).update({ monthly_cents: step.to });
        return;
      case 'pass':
        return clock.pass(step.ms);
      case 'tick':
        await tick(db, SHARD);
        return;
      default:
        return takeWith(step);
    }
  }

  async function takeWith(step: Extract<Step, Which>): Promise<void> {
    const id = opened.at(-1 - (step.which % Math.max(1, opened.length)));
    if (id === undefined) return;
    const rental = await getRental(db, id);
    switch (step.kind) {
      case 'change':
        return change(rental, step.to);
      case 'run':
        return runMachine(db, id);
      case 'stop':
        return insertStopRequest(db, rental.no, 'user');
      case 'settle':
        return settleEnded(db, id);
      case 'fail':
        return giveUpRental(db, id, 'No machine came.');
      case 'lose':
        await db.transaction(async (trx) => {
          const locked = await lockWalletOfRental(trx, id);
          const row = await lockRental(trx, id);
          if (row.running_at) await endLost(trx, locked, row, new Date((await clock.nowMs()) - 30_000));
        });
    }
  }

  async function open(key: ApiKeyId | undefined, asked: number | null): Promise<void> {
    if (plain.limits.size >= 15) return;
    const left = await leftFor(key);
    await db('providers').update({ catalog_synced_at: db.raw('clock_ms()') });
    const rentalId = newId('rent');
    const request = {
      ...{ userId: wallet.user_id, familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04' },
      ...{ region: null, name: null, sshKeyIds: [], autoStopAfterMs: null, maxPricePerHourCents: null },
      maxSpendCents: asked,
      ...(key !== undefined && { apiKeyId: key }),
    };
    const answerBefore = new Date('2100-01-01').toISOString();
    const answer = await openRental(
      db,
      { rentalId, request, answerBefore },
      new TestMarket(db),
      // The plain account knows nothing of machines that cost nobody anything.
      { ...rentalLimits.freeMachines, freeCents: 1_000_000_000 },
    );
    if (answer instanceof Refusal) {
      isRightlyRefused(answer, plain.left(key), left, asked ?? 1);
      return;
    }
    assert.ok(left >= (asked ?? 1), 'opened beyond what is left');
    const usual = left === Number.POSITIVE_INFINITY ? null : Math.min(4 * PRICE, left);
    opened.push(rentalId);
    plain.limits.set(rentalId, { key, limit: asked ?? usual });
  }

  /** What is left of the cap and of the budget. */
  async function leftFor(key: ApiKeyId | undefined): Promise<number> {
    if (budget === null) return plain.left(key);
    const { spentCents, reservedCents } = await readBudgetUse(db, wallet.user_id);
    return Math.min(plain.left(key), Math.max(0, budget - spentCents - reservedCents));
  }

  function isRightlyRefused(refusal: Refusal, ofKey: number, left: number, asked: number): void {
    if (refusal.code === 'insufficient_balance') {
      const { availableCents } = refusal.details as { availableCents?: number };
      assert.ok((availableCents ?? 0) < PRICE, refusal.message);
      reached.add('refused by the wallet');
      return;
    }
    assert.ok(left < asked, refusal.message);
    assert.equal(refusal.code, ofKey < asked ? 'cap_reserved' : 'budget_reserved');
    reached.add(ofKey < asked ? 'refused by the cap' : 'refused by the budget');
  }

  async function change(rental: RentalRow, to: number | null): Promise<void> {
    if (!plain.limits.has(rental.id)) return;
    const id = newId('chg');
    const answerBefore = new Date('2100-01-01');
    await insertChange(db, { id, rental, asked: { maxSpendCents: to }, answerBefore });
    const refusal = await changeRental(db, {
      ...{ rentalId: rental.id, changeId: id, answerBefore: answerBefore.toISOString() },
    });
    if (refusal) return;
    // What has accrued by now is the least limit.
    const { max_spend_cents: limit } = await getRental(db, rental.id);
    const one = plain.limits.get(rental.id)!;
    const before = plain.left(one.key);
    plain.limits.set(rental.id, { ...one, limit });
    if (before !== Number.POSITIVE_INFINITY)
      assert.ok(plain.left(one.key) >= 0, 'a raise beyond the cap is refused');
  }

  async function lowerOrRaise(key: ApiKeyId, to: number | null): Promise<void> {
    const isUnlimited = [...plain.limits.values()].some((one) => one.key === key && one.limit === null);
    const set = db.transaction((trx) => setCap(trx, { id: key, user_id: wallet.user_id }, to));
    if (to !== null && isUnlimited) {
      await assert.rejects(set, (error: Refusal) => error.code === 'cap_reserved');
      return;
    }
    const least = (plain.spent.get(key) ?? 0) + plain.reserved(key);
    plain.caps.set(key, to === null ? null : Math.max(to, least));
    assert.equal(await set, plain.caps.get(key));
  }

  /** The rows say what the plain account says, and no cap is ever passed. */
  async function agrees(after: string): Promise<void> {
    for (const id of [...plain.limits.keys()]) {
      const row = await getRental(db, id);
      assert.equal(row.max_spend_cents, plain.limits.get(id)!.limit, after);
      if (row.settled_at === null) continue;
      if (row.api_key_id === keys[0] && plain.caps.get(keys[0]) !== null) {
        if (row.overage_cents > 0) reached.add('overage of a capped key');
        if (row.refunded_cents > 0) reached.add('a refund of a capped key');
      }
      plain.settle(id, await costByLedger(row));
    }
    for (const key of keys) {
      const row = await getKey(db, key);
      const told = { spent: row.spent_cents, reserved: row.reserved_cents, cap: row.spend_cap_cents };
      const due = {
        spent: plain.spent.get(key) ?? 0,
        reserved: plain.reserved(key),
        cap: plain.caps.get(key) ?? null,
      };
      assert.deepEqual(told, due, after);
      assert.ok(plain.left(key) >= 0, after);
    }
    await budgetAgrees(after);
  }

  async function costByLedger({ no, overage_cents: overage }: RentalRow): Promise<number> {
    const row = await db('ledger_entries')
      .where({ rental_no: no })
      .sum<{ cents: number | null }[]>({ cents: 'amount_cents' });
    return overage - (row[0]?.cents ?? 0);
  }

  async function budgetAgrees(after: string): Promise<void> {
    const now = new Date(await clock.nowMs());
    const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
    let spent = 0;
    let mayCost = 0;
    for (const id of opened) {
      const row = await getRental(db, id);
      const cost = row.charged_cents - row.refunded_cents + row.overage_cents;
      const before = usedBefore(row, monthMs);
      spent += Math.max(0, cost - before);
      if (row.overage_cents > 0 && cost > before) reached.add('overage in the month');
      if (row.settled_at === null && before > 0) reached.add('used before the month');
      if (row.settled_at === null && row.max_spend_cents !== null) {
        mayCost += Math.max(0, row.max_spend_cents - before) - Math.max(0, cost - before);
      }
    }
    const use = await readBudgetUse(db, wallet.user_id);
    assert.deepEqual(
      { spent: use.spentCents, reserved: use.reservedCents },
      { spent, reserved: mayCost },
      after,
    );
  }

  /** What a rental had used before the month, whatever was charged by then. */
  function usedBefore(row: RentalRow, monthMs: number): number {
    if (row.running_at === null) return 0;
    if (row.ended_at !== null && row.ended_at.getTime() <= monthMs) return Number.POSITIVE_INFINITY;
    return accruedCents(PRICE, monthMs - row.running_at.getTime());
  }

  /** At the end nothing is reserved any more, and the keys have spent what their rentals cost by the ledger. */
  async function finish(): Promise<void> {
    for (const id of opened) {
      const { no, settled_at: settledAt } = await getRental(db, id);
      if (settledAt !== null) continue;
      await insertStopRequest(db, no, 'user');
      await giveUpRental(db, id, null);
    }
    await clock.pass(1_000);
    await tick(db, SHARD);
    for (const id of opened) await settleEnded(db, id);
    await agrees('the end');
    assert.equal(plain.limits.size, 0);
    assert.deepEqual(await verifyLedgerAgain(db, wallet.user_id), []);
  }
});
