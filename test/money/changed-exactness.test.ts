import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newId } from '../../adapters/ids.js';
import { readClock } from '../../adapters/postgres/clock.js';
import type { Database } from '../../adapters/postgres/database.js';
import { explainEntry } from '../../adapters/postgres/explain/explain-entry.js';
import { insertAttempt } from '../../adapters/postgres/machines/attempts.js';
import { insertChange } from '../../adapters/postgres/rentals/changes.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import { getLedgerIds } from '../../adapters/postgres/ledger/ledger-ids.js';
import { verifyLedgerAgain } from '../support/money/kept-plan.js';
import type { RentalId } from '../../domain/ids.js';
import { limitsAtStart, type AskedChange } from '../../domain/rentals/changes.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { tick } from '../../money/metering/tick.js';
import { changeRental } from '../../money/rentals/change.js';
import { settleEnded } from '../../money/rentals/lifecycle.js';
import { lockRental, startRunning } from '../../money/rentals/rentals.js';
import { insertRental, insertUser } from '../support/money/factories.js';
import { LimitsOracle } from '../support/money/limits-oracle.js';
import { getRental, insertRunning, insertWallet, openMoneyDatabase } from '../support/money/money.js';
import { VirtualClock } from '../support/money/virtual-clock.js';

type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'tick' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'settle' }
  | {
      readonly kind: 'change';
      readonly maxSpendCents: number | null | undefined;
      readonly autoStopMs: number | null | undefined;
      /** Whether the auto-stop is asked for by its instant. */
      readonly isInstant: boolean;
      readonly whileTicking: boolean;
    };

const limit = (arbitrary: fc.Arbitrary<number>) =>
  fc.oneof(
    { weight: 4, arbitrary },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.constant(undefined) },
  );

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('pass' as const),
        ms: fc.oneof(fc.nat(3), fc.nat(5_000), fc.nat(3_600_000)),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('tick' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('change' as const),
        maxSpendCents: limit(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20_000 }))),
        autoStopMs: limit(
          fc.oneof(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 1, max: 9_000_000 })),
        ),
        isInstant: fc.boolean(),
        whileTicking: fc.boolean(),
      }),
    },
  ),
  { minLength: 4, maxLength: 20 },
);

const start = fc.record({
  priceCents: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 400_000 })),
  maxSpendCents: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: null }),
  autoStopMs: fc.option(fc.integer({ min: 1, max: 7_200_000 }), { nil: null }),
});

describe('changed limits are exact, whatever happens in whatever order', () => {
  let db: Database;
  let clock: VirtualClock;
  let close: () => Promise<void>;
  before(async () => {
    const money = await openMoneyDatabase();
    ({ db } = money);
    close = () => money.close();
    clock = await VirtualClock.install(db);
  });
  after(() => close());

  it('begin in SQL as the domain begins them', async () => {
    const user = await insertUser(db);
    // From before the billing begins until after it.
    const now = await readClock(db);
    const instants = [-60_000, 60_000, 7_200_000].map((ms) => new Date(now.getTime() + ms));
    const cases = [null, ...instants].flatMap((autoStopAt) =>
      [null, 90_000, 9_000_000].flatMap((autoStopAfterMs) =>
        [null, ...instants].map((latestEnd, index) => {
          const maxSpendCents = [null, 1, 777][index % 3] ?? null;
          return { autoStopAt, autoStopAfterMs, latestEnd, maxSpendCents };
        }),
      ),
    );
    for (const { latestEnd, ...limits } of cases) {
      const { no, tag, id } = await insertRental(db, user.id, {
        ...{ auto_stop_at: limits.autoStopAt, auto_stop_after_ms: limits.autoStopAfterMs },
        ...{ max_spend_cents: limits.maxSpendCents, price_per_hour_cents: 77 },
      });
      await insertAttempt(db, {
        ...{ rentalId: id, deployment: tag.split('-')[0]!, providerCode: 'lab', listingId: newId('lst') },
        ...{ offerId: 'o', pricePerHourCents: 77, endBy: null, deadlineMs: 60_000 },
      });
      const contractEnd = latestEnd && new Date(latestEnd.getTime() + rentalLimits.contractMarginMs);
      await db('allocation_attempts').where({ rental_id: id }).update({ tag, available_until: contractEnd });
      await db.transaction(async (trx) =>
        startRunning(trx, await lockRental(trx, id), { address: null, readyBy: 'port' }),
      );
      const row = (await db('rentals').where({ no }).first())!;
      const rental = { ...limits, latestEnd, spendLimitAt: null, pricePerHourCents: 77 };
      assert.deepEqual(
        { autoStopAt: row.auto_stop_at, spendLimitAt: row.spend_limit_at },
        limitsAtStart(rental, row.running_at!),
        JSON.stringify({ ...rental, runningAt: row.running_at }),
      );
    }
  });

  it('charges what an oracle says that was told the same story, and gives nothing back', async () => {
    await fc.assert(
      fc.asyncProperty(start, steps, async (begun, story) => {
        const wallet = await insertWallet(db, 100_000_000);
        const id = await insertRunning(db, wallet, {
          ...{ priceCents: begun.priceCents, ranMs: 0 },
          ...(begun.maxSpendCents !== null && { maxSpendCents: begun.maxSpendCents }),
          ...(begun.autoStopMs !== null && { autoStopAfterMs: begun.autoStopMs }),
        });
        const oracle = new LimitsOracle(begun);
        let charged = 0;
        for (const step of [...story, { kind: 'stop' } as const, { kind: 'pass', ms: 1 } as const]) {
          await take(step, id, oracle);
          const rental = await getRental(db, id);
          assert.ok(rental.charged_cents >= charged, `after ${JSON.stringify(step)}`);
          assert.equal(rental.refunded_cents, 0);
          charged = rental.charged_cents;
        }
        await tick(db, { shard: 0, shards: 1 });
        await settleEnded(db, id);
        const rental = await getRental(db, id);
        const ms = rental.ended_at!.getTime() - rental.running_at!.getTime();
        assert.deepEqual({ ms, cents: rental.charged_cents }, oracle.bill());
        assert.deepEqual(await verifyLedgerAgain(db, wallet.user_id), []);
        await isExplained(rental.no);
      }),
      { numRuns: 60, endOnFailure: false },
    );
  });

  async function take(step: Step, id: RentalId, oracle: LimitsOracle): Promise<void> {
    switch (step.kind) {
      case 'pass':
        oracle.pass(step.ms);
        return clock.pass(step.ms);
      case 'tick':
        await tick(db, { shard: 0, shards: 1 });
        return;
      case 'stop':
        oracle.stop();
        return insertStopRequest(db, (await getRental(db, id)).no, 'user');
      case 'settle':
        return settleEnded(db, id);
      case 'change':
        return change(step, id, oracle);
    }
  }

  async function change(
    step: Extract<Step, { kind: 'change' }>,
    id: RentalId,
    oracle: LimitsOracle,
  ): Promise<void> {
    const { maxSpendCents, autoStopMs, whileTicking } = step;
    if (maxSpendCents === undefined && autoStopMs === undefined) return;
    const rental = await getRental(db, id);
    const asked: AskedChange = {
      ...(maxSpendCents !== undefined && { maxSpendCents }),
      ...autoStopOf(step, rental.running_at!),
    };
    const changeId = newId('chg');
    const answerBefore = new Date('2100-01-01');
    await insertChange(db, { id: changeId, rental, asked, answerBefore });
    const told = { rentalId: id, changeId, answerBefore: answerBefore.toISOString() };
    const [refusal] = await Promise.all([
      changeRental(db, told),
      ...(whileTicking ? [tick(db, { shard: 0, shards: 1 }), tick(db, { shard: 0, shards: 1 })] : []),
    ]);
    const isDone = oracle.change({ maxSpendCents, autoStopMs });
    assert.equal(refusal === undefined, isDone, `${JSON.stringify(asked)}: ${refusal?.message ?? 'done'}`);
  }

  /** Each tick's sum is found again from what is kept. */
  async function isExplained(rentalNo: number): Promise<void> {
    const ids = await getLedgerIds(db);
    for (const entry of await db('ledger_entries').where({ rental_no: rentalNo })) {
      const { charge } = (await explainEntry(db, ids.of(entry.wallet_id, entry.seq), 1))!;
      assert.equal(charge?.dueCents, -entry.amount_cents, charge?.formula);
    }
  }
});

function autoStopOf(
  { autoStopMs, isInstant }: Extract<Step, { kind: 'change' }>,
  runningAt: Date,
): AskedChange {
  if (autoStopMs === undefined) return {};
  if (autoStopMs === null || !isInstant) return { autoStopAfterMs: autoStopMs };
  return { autoStopAt: new Date(runningAt.getTime() + autoStopMs).toISOString() };
}
