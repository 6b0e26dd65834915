import { readClock } from '../../adapters/postgres/clock.js';
import {
  beginWalk,
  endWalk,
  findUnsealed,
  hasRunsToSealAgain,
  noteWalked,
  readSealing,
  sealWallet,
} from '../../adapters/postgres/ledger/sealing.js';
import { findNewestWallet } from '../../adapters/postgres/ledger/verify.js';
import { ledgerLimits } from '../../domain/ledger/limits.js';
import type { ActivityDeps } from '../deps.js';
import { beginDueRoot, buildRoots } from './roots.js';
import { eachItem } from '../each-item.js';
import type { Tell } from '../heartbeat.js';

/** A walk over all wallets, as a round of it goes on. */
interface Walk {
  /** When it began, by which it is named. */
  readonly begun: Date;
  readonly leastEntries: number;
  /** When the round is over, by performance.now(). */
  readonly end: number;
  sealed: number;
}

/**
 * Seals what wallets have written (decision 139, "Seals of the ledger"): walks over all of them, for some seconds a
 * round, and goes on where the round before ended. A walk that begins on a new day seals each wallet up to its newest
 * entry, and ends with the root that covers them.
 * @returns how many entries it sealed, for the heartbeat
 */
export async function sealLedgers(deps: ActivityDeps, tell: Tell): Promise<object> {
  const { db } = deps;
  const sealing = await readSealing(db);
  if (!sealing.is_on) return { sealing: 'off' };
  const isNew = sealing.walk_began_at === null;
  const isDaily = isNew ? isNewDay(sealing.daily_at, await readClock(db)) : sealing.is_daily;
  const walk: Walk = {
    begun: sealing.walk_began_at ?? (await beginWalk(db, isDaily)),
    leastEntries: isDaily ? 1 : ledgerLimits.sealEntries,
    end: performance.now() + ledgerLimits.sealRoundMs,
    sealed: 0,
  };
  const newest = await findNewestWallet(db);
  for (let walkedTo = isNew ? 0 : sealing.walked_wallet; walkedTo < newest;) {
    walkedTo = await sealSpan(deps, walk, walkedTo, tell);
    await noteWalked(db, walk.begun, walkedTo);
    tell({ sealed: walk.sealed, walkedTo });
    if (performance.now() > walk.end && walkedTo < newest) return { sealed: walk.sealed, walkedTo };
  }
  await endWalk(db, walk.begun);
  await beginDueRoot(deps);
  await buildRoots(deps, tell);
  return { sealed: walk.sealed };
}

/** Seals the wallets after one. @returns up to which wallet all are done */
async function sealSpan(deps: ActivityDeps, walk: Walk, above: number, tell: Tell): Promise<number> {
  const upTo = above + ledgerLimits.sealSpan;
  for (const walletId of await findUnsealed(deps.db, { above, upTo }, walk.leastEntries)) {
    const progress = { isCut: false };
    await eachItem(deps, { duty: 'seal', items: [walletId], keyOf: String }, async () => {
      progress.isCut = await sealWhole(deps, walk, walletId);
    });
    tell({ sealed: walk.sealed, walletId });
    if (performance.now() > walk.end) return progress.isCut ? walletId - 1 : walletId;
  }
  return upTo;
}

function isNewDay(last: Date | null, now: Date): boolean {
  return last?.toISOString().slice(0, 10) !== now.toISOString().slice(0, 10);
}

/**
 * Seals a wallet seal by seal, until too few entries are left or the round is over.
 * @returns whether the round was over before
 */
async function sealWhole({ db }: ActivityDeps, walk: Walk, walletId: number): Promise<boolean> {
  const mostEntries = ledgerLimits.sealEntries;
  for (;;) {
    const next = await sealWallet(db, walletId, { leastEntries: walk.leastEntries, mostEntries });
    walk.sealed += next;
    if (next === 0 || (next < mostEntries && !(await hasRunsToSealAgain(db, walletId)))) return false;
    if (performance.now() > walk.end) return true;
  }
}
