import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Database } from '../../adapters/postgres/database.js';
import { lockRental } from '../../money/rentals/rentals.js';
import { endLost } from '../../money/rentals/lost.js';
import { settle } from '../../money/rentals/settle.js';
import { tick } from '../../money/metering/tick.js';
import { lockWalletOfRental } from '../../money/ledger/wallets.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../support/money/kept-plan.js';
import type { RentalId } from '../../domain/ids.js';
import { worstCaseCents } from '../../domain/rentals/quote.js';
import {
  credit,
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../support/money/money.js';
import { dueOf, type Asked } from '../support/money/rental-oracle.js';

/** One event of a wallet. Time passes by moving the instants of its rentals into the past. */
type Step =
  | {
      readonly kind: 'rent';
      readonly priceCents: number;
      /** How much of an hour it holds, in thousandths: the rest of its time comes from what is available. */
      readonly holdThousandths: number;
      readonly maxSpendCents: number | null;
      readonly autoStopMs: number | null;
    }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'tick'; readonly engines: number; readonly shards: number }
  | { readonly kind: 'tick while locked' }
  | { readonly kind: 'killed tick' }
  | { readonly kind: 'stop'; readonly index: number }
  | { readonly kind: 'stop while ticking'; readonly index: number }
  | { readonly kind: 'lose'; readonly index: number; readonly aliveMs: number }
  | { readonly kind: 'settle'; readonly index: number }
  | { readonly kind: 'credit'; readonly cents: number }
  | { readonly kind: 'topup'; readonly is: 'open' | 'over' };

const index = fc.nat(5);
const lose = fc.record({
  kind: fc.constant('lose' as const),
  index,
  aliveMs: fc.oneof(fc.nat(200_000), fc.nat(14_400_000)),
});
const money = fc.record({ kind: fc.constant('credit' as const), cents: fc.integer({ min: 1, max: 20_000 }) });

const HOUR = 3_600_000;

interface Starving {
  readonly waits: boolean;
  readonly cameIn: fc.Arbitrary<number> | null;
  readonly aliveMs: fc.Arbitrary<number>;
}

/** A rental runs out of money, may wait for an auto-topup and get some, and then loses its machine. */
function starved({ waits, cameIn, aliveMs: alive }: Starving): fc.Arbitrary<Step[]> {
  return fc
    .record({
      priceCents: fc.integer({ min: 20_000, max: 100_000 }),
      holdThousandths: fc.nat(1_000),
      firstMs: fc.integer({ min: 3 * HOUR, max: 4 * HOUR }),
      secondMs: fc.integer({ min: 3 * HOUR, max: 4 * HOUR }),
      cents: cameIn ?? fc.constant(0),
      aliveMs: alive,
    })
    .map(({ priceCents, holdThousandths, firstMs, secondMs, cents, aliveMs }) => [
      { kind: 'credit', cents: priceCents },
      { kind: 'rent', priceCents, holdThousandths, maxSpendCents: null, autoStopMs: null },
      ...(waits ? [{ kind: 'topup', is: 'open' } as const] : []),
      { kind: 'pass', ms: firstMs },
      { kind: 'tick', engines: 1, shards: 1 },
      { kind: 'pass', ms: secondMs },
      ...(cents === 0 ? [] : [{ kind: 'credit', cents } as const]),
      { kind: 'lose', index: 0, aliveMs },
    ]);
}

/** A cent a second, lost after an hour in which nothing was metered. */
function lostUnmetered(maxSpendCents: number | null, aliveMs: fc.Arbitrary<number>): fc.Arbitrary<Step[]> {
  return aliveMs.map((ms) => [
    { kind: 'credit', cents: 3_600 },
    { kind: 'rent', priceCents: 3_600, holdThousandths: 1_000, maxSpendCents, autoStopMs: null },
    { kind: 'pass', ms: HOUR },
    { kind: 'lose', index: 0, aliveMs: ms },
  ]);
}

const early = fc.integer({ min: 60_001, max: HOUR - 1_000 });
const late = fc.constant(9 * HOUR);

/** How stories begin: with what chance alone hardly ever comes to. */
const scenes = {
  'ended by its money': starved({ waits: false, cameIn: null, aliveMs: late }),
  'lost while it waited, before its money ended': starved({ waits: true, cameIn: null, aliveMs: early }),
  'lost while it waited, after its money ended': starved({ waits: true, cameIn: null, aliveMs: late }),
  'lost while it waited, after money that came in ended too': starved({
    ...{ waits: true, cameIn: fc.integer({ min: 1, max: 50_000 }), aliveMs: late },
  }),
  'lost after its limit': lostUnmetered(100, fc.integer({ min: 100_000, max: HOUR })),
  'lost within a minute': lostUnmetered(null, fc.nat(60_000)),
} satisfies Readonly<Record<string, fc.Arbitrary<Step[]>>>;
type Scene = keyof typeof scenes;

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('rent' as const),
        holdThousandths: fc.oneof(fc.constant(1_000), fc.nat(1_000)),
        priceCents: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 400_000 })),
        maxSpendCents: fc.option(fc.integer({ min: 1, max: 2_000 })),
        autoStopMs: fc.option(fc.integer({ min: 1, max: 7_200_000 })),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('pass' as const),
        ms: fc.oneof(fc.nat(5_000), fc.nat(7_200_000)),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('tick' as const),
        engines: fc.integer({ min: 1, max: 3 }),
        shards: fc.integer({ min: 1, max: 4 }),
      }),
    },
    fc.record({ kind: fc.constant('tick while locked' as const) }),
    fc.record({ kind: fc.constant('killed tick' as const) }),
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('stop' as const), index }) },
    fc.record({ kind: fc.constant('stop while ticking' as const), index }),
    lose,
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const), index }) },
    { weight: 2, arbitrary: money },
    fc.record({ kind: fc.constant('topup' as const), is: fc.constantFrom('open' as const, 'over' as const) }),
  ),
  { minLength: 4, maxLength: 25 },
);

describe('metering is exact, whatever happens in whatever order', () => {
  let database: MoneyDatabase;
  let db: Database;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
  });
  after(() => database.close());

  /** How many rentals of the stories were in each of these cases. */
  let reached: Record<Scene | 'owes what its money did not cover', number>;
  beforeEach(() => {
    const none = Object.fromEntries(Object.keys(scenes).map((scene) => [scene, 0])) as Record<Scene, number>;
    reached = { ...none, 'owes what its money did not cover': 0 };
  });

  for (const [scene, begun] of Object.entries(scenes)) {
    it(`keeps chain, holds and balances after each step, and ends at the price that rate and instants give: ${scene}`, async () => {
      const stories = fc.tuple(begun, steps).map(([first, more]) => [...first, ...more]);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 20_000 }), stories, async (startCents, story) => {
          const wallet = await insertWallet(db, startCents);
          const rentals: RentalId[] = [];
          for (const step of story) {
            await take(step, wallet, rentals);
            assert.deepEqual(
              await verifyLedgerAgain(db, wallet.user_id),
              [],
              `after ${JSON.stringify(step)}`,
            );
          }
          for (const id of rentals) await askToStop(id);
          await db.raw(`select pg_sleep(0.002)`);
          await tick(db, { shard: 0, shards: 1 });
          for (const id of rentals) await settleIfEnded(id);
          await judge(wallet, rentals);
        }),
        { numRuns: 4, endOnFailure: false },
      );
      assert.ok(reached[scene as Scene] > 0, 'no story came to it');
      if (scene === 'ended by its money') assert.ok(reached['owes what its money did not cover'] > 0);
    });
  }

  const asked = new Map<RentalId, Asked>();

  /**
   * Applies the closed formula of decision 25, "Usage as running total", and its named cases of decision 27, "Refund of
   * failed machines".
   */
  async function judge(wallet: WalletRow, rentals: readonly RentalId[]): Promise<void> {
    let net = 0;
    for (const id of rentals) {
      const rental = await getRental(db, id);
      assert.notEqual(rental.settled_at, null, `${id} is settled`);
      const charged = rental.charged_cents - rental.refunded_cents;
      net += charged;
      const own = asked.get(id) ?? assert.fail();
      const owed = charged + rental.overage_cents + rental.written_off_cents;
      assert.equal(owed, await dueOf(db, id, own));
      reached['ended by its money'] += Number(rental.stop_reason === 'balance_exhausted');
      reached['lost within a minute'] += Number(rental.status === 'failed');
      reached['owes what its money did not cover'] += Number(rental.overage_cents > 0);
      const worst = worstCaseCents(own.priceCents, { ...own, autoStopAfterMs: own.autoStopMs });
      assert.ok(worst === null || owed <= worst, `${id} owes ${owed}, and at most ${worst} were quoted`);
    }
    const { rows } = await db.raw<{ rows: { credited: number }[] }>(
      `select coalesce(sum(amount_cents) filter (where type = 'processor_topup'), 0)::bigint as credited
         from ledger_entries where wallet_id = ?`,
      [wallet.id],
    );
    const after = await getWallet(db, wallet.user_id);
    assert.equal(after.reserved_cents, 0);
    assert.equal(after.available_cents, (rows[0]?.credited ?? 0) - net);
    assert.deepEqual(await verifyLedgerAgain(db, wallet.user_id), []);
  }

  type Take<Kind extends Step['kind']> = (
    step: Extract<Step, { kind: Kind }>,
    wallet: WalletRow,
    picked: RentalId | undefined,
    rentals: RentalId[],
  ) => Promise<unknown>;

  const whole = () => tick(db, { shard: 0, shards: 1 });

  const takes: { readonly [Kind in Step['kind']]: Take<Kind> } = {
    rent: async (step, wallet, _, rentals) => {
      const { available_cents: available } = await getWallet(db, wallet.user_id);
      if (available < step.priceCents || rentals.length >= 5) return;
      const id = await insertRunning(db, wallet, {
        priceCents: step.priceCents,
        holdCents: Math.ceil((step.priceCents * step.holdThousandths) / 1_000),
        ranMs: 0,
        ...(step.maxSpendCents === null ? {} : { maxSpendCents: step.maxSpendCents }),
        ...(step.autoStopMs === null ? {} : { autoStopAfterMs: step.autoStopMs }),
      });
      asked.set(id, { ...step });
      rentals.push(id);
    },
    pass: (step, wallet) => pass(wallet, step.ms),
    tick: ({ engines, shards }) =>
      Promise.all(
        Array.from({ length: engines }, async () => {
          for (let shard = 0; shard < shards; shard += 1) await tick(db, { shard, shards });
        }),
      ),
    'tick while locked': (_, wallet) =>
      db.transaction(async (trx) => {
        await trx.raw('select id from wallets where id = ? for no key update', [wallet.id]);
        await whole();
      }),
    'killed tick': () => killedTick(),
    stop: async (_, __, picked) => picked && askToStop(picked),
    'stop while ticking': async (_, __, picked) =>
      picked && Promise.all([whole(), askToStop(picked), whole()]),
    lose: async (step, _, picked) => picked && lose(picked, step.aliveMs),
    settle: async (_, __, picked) => picked && settleIfEnded(picked),
    credit: (step, wallet) => credit(db, wallet.user_id, step.cents),
    topup: ({ is }, wallet) =>
      is === 'open'
        ? db.raw(`insert into intents (kind, wallet_id) values ('auto_topup', ?) on conflict do nothing`, [
            wallet.id,
          ])
        : db('intents')
            .where({ kind: 'auto_topup', wallet_id: wallet.id })
            .whereNull('acknowledged_at')
            .update({ acknowledged_at: db.raw('clock_ms()') }),
  };

  async function take(step: Step, wallet: WalletRow, rentals: RentalId[]): Promise<void> {
    const picked = 'index' in step ? rentals[step.index % Math.max(1, rentals.length)] : undefined;
    await (takes[step.kind] as Take<Step['kind']>)(step, wallet, picked, rentals);
  }

  async function pass(wallet: WalletRow, ms: number): Promise<void> {
    const back = db.raw(`:ms * interval '1 millisecond'`, { ms });
    await db.raw(
      `update stop_requests s set requested_at = requested_at - ? from rentals r
        where r.no = s.rental_no and r.wallet_id = ? and r.status = 'running'`,
      [back, wallet.id],
    );
    await db.raw(
      `update rentals set running_at = running_at - :back, auto_stop_at = auto_stop_at - :back,
              spend_limit_at = spend_limit_at - :back
        where wallet_id = :id and status = 'running'`,
      { back, id: wallet.id },
    );
  }

  /** The worker dies after the statement and before the commit: nothing of the tick may stay. */
  async function killedTick(): Promise<void> {
    const killed = new Error('killed');
    const dying = new Proxy(db, {
      get: (target, name) =>
        name === 'transaction'
          ? (work: (trx: unknown) => Promise<unknown>) =>
              target.transaction(async (trx) => {
                await work(trx);
                throw killed;
              })
          : (Reflect.get(target, name) as unknown),
    });
    await assert.rejects(tick(dying, { shard: 0, shards: 1 }), killed);
  }

  async function askToStop(id: RentalId): Promise<void> {
    await db.raw(
      `insert into stop_requests (rental_no, requested_by)
       select no, 'user' from rentals where id = ? and settled_at is null on conflict do nothing`,
      [id],
    );
  }

  async function lose(id: RentalId, aliveMs: number): Promise<void> {
    await db.transaction(async (trx) => {
      const wallet = await lockWalletOfRental(trx, id);
      const rental = await lockRental(trx, id);
      if (rental.status !== 'running' || !rental.running_at) return;
      const alive = Math.min(rental.running_at.getTime() + aliveMs, Date.now());
      const meter = await trx('meters').where({ rental_no: rental.no }).first('starved_ms');
      const waits = meter !== undefined && meter.starved_ms !== null;
      const isLost = await endLost(trx, wallet, rental, new Date(alive));
      const { spend_limit_at: spentAt, auto_stop_at: stopAt } = rental;
      const isLimited = [spentAt, stopAt].some((at) => at && at.getTime() <= alive);
      reached['lost after its limit'] += Number(!isLost && isLimited);
      if (!isLost) return;
      asked.get(id)!.lostAfterMs = alive - rental.running_at.getTime();
      if (waits) await isAllUsed(trx as Database, id, wallet.availableCents);
    });
  }

  /**
   * One that waited uses all the money that there is, and no more: it ends by its loss before that has ended, or by
   * its money with nothing left. @param cameInCents what was available when it was lost
   */
  async function isAllUsed(trx: Database, id: RentalId, cameInCents: number): Promise<void> {
    const ended = await getRental(trx, id);
    const { available_cents: left } = await getWallet(trx, ended.user_id);
    if (ended.stop_reason !== 'balance_exhausted') {
      reached['lost while it waited, before its money ended'] += 1;
      assert.equal(ended.overage_cents + ended.written_off_cents, 0, `${id} owes nothing`);
      return;
    }
    reached['lost while it waited, after its money ended'] += Number(cameInCents === 0);
    reached['lost while it waited, after money that came in ended too'] += Number(cameInCents > 0);
    assert.deepEqual([left, ended.refunded_cents, ended.released_cents], [0, 0, 0], `${id} used it all`);
  }

  async function settleIfEnded(id: RentalId): Promise<void> {
    await db.transaction(async (trx) => {
      const wallet = await lockWalletOfRental(trx, id);
      const rental = await lockRental(trx, id);
      if (rental.status === 'stopping') await settle(trx, wallet, rental);
    });
  }
});
