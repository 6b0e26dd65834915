import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Database } from '../../adapters/postgres/database.js';
import { lockRental } from '../../money/rentals/rentals.js';
import { endLost } from '../../money/rentals/lost.js';
import { settle } from '../../money/rentals/settle.js';
import { tick } from '../../money/metering/tick.js';
import { lockWalletOfRental } from '../../money/ledger/wallets.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import { verifyLedger } from '../../adapters/postgres/wallets/verify.js';
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
  | { readonly kind: 'credit'; readonly cents: number };

const index = fc.nat(5);
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('rent' as const),
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
    fc.record({ kind: fc.constant('lose' as const), index, aliveMs: fc.nat(200_000) }),
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const), index }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('credit' as const),
        cents: fc.integer({ min: 1, max: 20_000 }),
      }),
    },
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

  it('keeps chain, holds and balances after each step, and ends at the price that rate and instants give', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30_000 }), steps, async (startCents, story) => {
        const wallet = await insertWallet(db, startCents);
        const rentals: RentalId[] = [];
        for (const step of story) {
          await take(step, wallet, rentals);
          assert.deepEqual(await verifyLedger(db, wallet.user_id), [], `after ${JSON.stringify(step)}`);
        }
        for (const id of rentals) await askToStop(id);
        await db.raw(`select pg_sleep(0.002)`);
        await tick(db, { shard: 0, shards: 1 });
        for (const id of rentals) await settleIfEnded(id);
        await judge(wallet, rentals);
      }),
      { numRuns: 40, endOnFailure: false },
    );
  });

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
    assert.deepEqual(await verifyLedger(db, wallet.user_id), []);
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
      const isLost = await endLost(trx, wallet, rental, new Date(alive));
      if (isLost) asked.get(id)!.lostAfterMs = alive - rental.running_at.getTime();
    });
  }

  async function settleIfEnded(id: RentalId): Promise<void> {
    await db.transaction(async (trx) => {
      const wallet = await lockWalletOfRental(trx, id);
      const rental = await lockRental(trx, id);
      if (rental.status === 'stopping') await settle(trx, wallet, rental);
    });
  }
});
