import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { newId } from '../../adapters/ids.js';
import { ensureProvider, replaceListings } from '../../adapters/postgres/catalog/catalog.js';
import type { Database } from '../../adapters/postgres/database.js';
import { areEventsWaiting, sequenceEvents } from '../../adapters/postgres/events/sequence.js';
import { insertAttempt } from '../../adapters/postgres/machines/attempts.js';
import { isWalletBusy } from '../../adapters/postgres/requests/user-turns.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import { prune } from '../../adapters/postgres/upkeep/retention.js';
import { noStarts } from '../../domain/catalog/starts.js';
import { eventLimits } from '../../domain/events/limits.js';
import type { RentalId, UserId } from '../../domain/ids.js';
import { retention } from '../../domain/operations/retention.js';
import { Refusal } from '../../domain/refusal.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { recordAnswer } from '../../money/rentals/answered-machines.js';
import { beginBilling, settleEnded } from '../../money/rentals/lifecycle.js';
import { openRental } from '../../money/rentals/open.js';
import type { Market, PodOrder } from '../../money/rentals/purchase.js';
import { closeRental, findRental } from '../../money/rentals/rentals.js';
import { createDice, makeOffers } from '../offers.js';

/**
 * The lives of rentals during a soak: the product's own steps on its rows, without Temporal and without machines. An
 * opening buys at a market that always has one; the machine answers at once.
 */
export interface Lives {
  readonly opened: number;
  readonly settled: number;
  /** Steps that found somebody else at the wallet, mostly a tick, and were repeated, as their activities are. */
  readonly busy: number;
  /** Whether a step failed: the lives have ended, and stop() says why. */
  readonly failed: boolean;
  /** Settles and closes what a tick has ended. */
  settle(ended: readonly RentalId[]): void;
  /** Ends all loops, and waits for what is under way. @throws what the first of them threw */
  stop(): Promise<void>;
}

const PROVIDER = 'lab';
const OFFERS = 500;
const DEADLINE_MS = 600_000;
const ANSWER_WITHIN_MS = 20_000;
const FREE_MACHINES = { ...rentalLimits.freeMachines, freeCents: 1_000_000_000 };
const PRUNE_EVERY_MS = 60_000;
/**
 * The steps at once. An opening takes two connections, one for its attempt, so twice this fits into the pool of the
 * caller: otherwise each would wait for the other's second one.
 */
const AT_ONCE = 6;
/** What the steps, the sequencer and the pruning take at once. */
export const LIVES_CONNECTIONS = 2 * AT_ONCE + 4;
/** A machine that does not keep up begins no more than this beyond. */
const MOST_WAITING = 100;
/** The rest before a step is repeated that found the wallet busy. */
const BUSY_REST_MS = 250;
/** How many rentals are drawn for one that still runs: nearly all of them do. */
const DRAWN = 20;

/** Fills the market. Nothing syncs it, so its last sync lies in the future. */
export async function seedMarket(db: Database): Promise<void> {
  await ensureProvider(db, PROVIDER);
  await replaceListings(db, PROVIDER, makeOffers(PROVIDER, OFFERS, 3));
  await db('providers')
    .where({ code: PROVIDER })
    .update({ catalog_synced_at: db.raw(`clock_ms() + interval '1 day'`) });
}

/**
 * Starts and ends rentals of the fleet's users, at the same rate, so that about as many run throughout; numbers the
 * events and prunes the tables beside it, as the worker does.
 * @param db with `LIVES_CONNECTIONS`
 * @param perSecond how many rentals begin, and how many end, each second
 * @param wallets the size of the fleet (fleet.ts)
 */
export function beginLives(db: Database, perSecond: number, wallets: number): Lives {
  const counts = { opened: 0, settled: 0, busy: 0 };
  const state = { failed: false };
  const limit = pLimit(AT_ONCE);
  const dice = createDice(11);
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const begin = (work: Promise<void>): void => {
    // A failure stays in the set: stop() throws it.
    underWay.add(work);
    work.then(
      () => underWay.delete(work),
      () => {
        state.failed = true;
        stopping.abort();
      },
    );
  };
  const drawUser = (): UserId => `usr_${String(1 + Math.floor(dice() * wallets)).padStart(26, '0')}`;
  const open = async (): Promise<void> => {
    await live(db, drawUser(), patiently);
    counts.opened += 1;
  };
  const patiently: Patiently = async (step) => {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!isWalletBusy(error)) throw error;
        counts.busy += 1;
        await sleep(BUSY_REST_MS);
      }
    }
  };
  const settle = async (id: RentalId): Promise<void> => {
    await patiently(() => settleEnded(db, id));
    await closeRental(db, id);
    counts.settled += 1;
  };
  const loops = [
    each(1_000 / perSecond, stopping.signal, () => {
      if (limit.pendingCount > MOST_WAITING) return Promise.resolve();
      begin(limit(open));
      begin(limit(() => endOne(db, dice)));
      return Promise.resolve();
    }),
    each(eventLimits.sequenceEveryMs, stopping.signal, async () => {
      if (await areEventsWaiting(db)) await sequenceEvents(db);
    }),
    each(PRUNE_EVERY_MS, stopping.signal, async () => {
      for (const kept of retention) await prune(db, kept);
    }),
  ];
  for (const loop of loops) begin(loop);
  return {
    get opened() {
      return counts.opened;
    },
    get settled() {
      return counts.settled;
    },
    get busy() {
      return counts.busy;
    },
    get failed() {
      return state.failed;
    },
    settle: (ended) => {
      for (const id of ended) begin(limit(() => settle(id)));
    },
    stop: async () => {
      stopping.abort();
      while (underWay.size > 0) await Promise.all([...underWay]);
    },
  };
}

/** Repeats a step while somebody else is at the wallet. */
type Patiently = <T>(step: () => Promise<T>) => Promise<T>;

/** Calls `work` at fixed instants; one that comes late is left out. */
async function each(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const beganMs = performance.now();
  while (!signal.aborted) {
    await work();
    const next = Math.floor((performance.now() - beganMs) / everyMs + 1) * everyMs + beganMs;
    await sleep(next - performance.now(), undefined, { signal }).catch(() => undefined);
  }
}

/** One rental from the opening until it runs. @throws when it is refused */
async function live(db: Database, userId: UserId, patiently: Patiently): Promise<void> {
  const rentalId = newId('rent');
  const wanted = { familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04', region: null };
  const limits = { autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null };
  const opening = {
    rentalId,
    request: { userId, ...wanted, ...limits, name: null, sshKeyIds: [] },
    answerBefore: new Date(Date.now() + ANSWER_WITHIN_MS).toISOString(),
  };
  const opened = await patiently(() => openRental(db, opening, marketOf(db), FREE_MACHINES));
  if (opened instanceof Refusal) throw new Error(`an opening was refused: ${opened.message}`);
  const address = { host: '203.0.113.1', port: 22, username: 'root', hostKeyFingerprint: null };
  const rental = await findRental(db, rentalId);
  if (!rental) throw new Error(`${rentalId} was opened, and has no row`);
  await recordAnswer(db, { rentalId, tag: rental.tag }, { address, readyBy: 'ssh' });
  await patiently(() => beginBilling(db, rentalId));
}

/** Each order gets a machine; its attempt is written as the upstreams' is. */
function marketOf(db: Database): Market {
  return {
    providerCodes: [PROVIDER],
    starts: noStarts,
    findBought: () => Promise.resolve(undefined),
    queue: () => Promise.resolve(undefined),
    buy: async ({ rentalId, listing, endBy }: PodOrder) => {
      const attempt = await insertAttempt(db, {
        rentalId,
        deployment: 'bench',
        providerCode: PROVIDER,
        listingId: listing.id,
        offerId: listing.offer_id,
        pricePerHourCents: listing.price_per_hour_cents,
        endBy,
        deadlineMs: DEADLINE_MS,
      });
      return { kind: 'bought', attempt, podId: `pod-${rentalId}` };
    },
  };
}

/** Asks for the end of a running rental, old or new; a tick ends it. */
async function endOne(db: Database, dice: () => number): Promise<void> {
  const newest = await db('rentals').max<{ no: number | null }[]>('no as no');
  const drawn = Array.from({ length: DRAWN }, () => 1 + Math.floor(dice() * (newest[0]?.no ?? 0)));
  const running = await db('rentals').whereIn('no', drawn).where({ status: 'running' }).first('no');
  if (running) await insertStopRequest(db, running.no, 'user');
}
