import { readClock } from '../../adapters/postgres/clock.js';
import {
  beginWalk,
  endWalk,
  findUnsealed,
  noteWalked,
  readSealing,
  sealInTurns,
} from '../../adapters/postgres/ledger/sealing.js';
import type { LedgerSealingRow } from '../../adapters/postgres/rows/tables.js';
import { findStuck } from '../../adapters/postgres/upkeep/stuck-items.js';
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
  /** It seals each wallet up to its newest entry. */
  readonly isDaily: boolean;
  /** When the round is over, by performance.now(). */
  readonly end: number;
  sealed: number;
  /** The wallets up to this one are done. */
  walkedTo: number;
}

/**
 * Seals what wallets have written (decision 139, "Seals of the ledger"): walks over all of them, for some seconds a
 * round, and goes on where the round before ended. A walk that begins on a new day seals each wallet up to its newest
 * entry, and ends with the root that covers them. The others rest before they begin.
 * @returns how many entries it sealed, for the heartbeat
 */
export async function sealLedgers(deps: ActivityDeps, tell: Tell): Promise<object> {
  const sealing = await readSealing(deps.db);
  if (!sealing.is_on) return { sealing: 'off' };
  const walk = await goOn(deps, sealing);
  const isDone = walk === undefined || (await walkOn(deps, walk, tell));
  if (!isDone) return { sealed: walk.sealed, walkedTo: walk.walkedTo };
  await beginDueRoot(deps);
  await buildRoots(deps, tell);
  return { sealed: walk?.sealed ?? 0 };
}

/** Goes on with the walk, or begins one. @returns undefined while it rests */
async function goOn({ db }: ActivityDeps, sealing: LedgerSealingRow): Promise<Walk | undefined> {
  const { walk_began_at: begun, walked_wallet: walkedTo } = sealing;
  const end = performance.now() + ledgerLimits.sealRoundMs;
  if (begun) return { begun, isDaily: sealing.is_daily, end, sealed: 0, walkedTo };
  const now = await readClock(db);
  const isDaily = isNewDay(sealing.daily_at, now);
  if (!isDaily && isResting(sealing.walked_at, now)) return undefined;
  return { begun: await beginWalk(db, isDaily), isDaily, end, sealed: 0, walkedTo: 0 };
}

/** Walks until all wallets are done, or the round is over. @returns whether they are */
async function walkOn(deps: ActivityDeps, walk: Walk, tell: Tell): Promise<boolean> {
  const newest = await findNewestWallet(deps.db);
  while (walk.walkedTo < newest) {
    walk.walkedTo = await sealSpan(deps, walk, tell);
    await noteWalked(deps.db, walk.begun, walk.walkedTo);
    tell({ sealed: walk.sealed, walkedTo: walk.walkedTo });
    if (isOver(walk) && walk.walkedTo < newest) return false;
  }
  await endWalk(deps.db, walk.begun);
  return true;
}

function isOver({ end }: Walk): boolean {
  return performance.now() > end;
}

/** Seals the next wallets of a walk, some at once. @returns up to which wallet all are done */
async function sealSpan(deps: ActivityDeps, walk: Walk, tell: Tell): Promise<number> {
  const upTo = walk.walkedTo + ledgerLimits.sealSpan;
  const due = await findUnsealed(deps.db, { above: walk.walkedTo, upTo }, leastOf(walk));
  for (let from = 0; from < due.length; from += ledgerLimits.sealAtOnce) {
    const part = due.slice(from, from + ledgerLimits.sealAtOnce);
    const left = await sealPart(deps, walk, part, tell);
    tell({ sealed: walk.sealed, ofWallets: part.length });
    if (isOver(walk)) return left.length > 0 ? Math.min(...left) - 1 : Math.max(...part);
  }
  return upTo;
}

/** How few entries are sealed. */
function leastOf({ isDaily }: Walk): number {
  return isDaily ? 1 : ledgerLimits.sealEntries;
}

/**
 * Seals some wallets at once. Where one can't be sealed each is sealed alone, and one that failed lately is so from the
 * start: it keeps no other from it.
 * @returns those that have more to seal, once the round is over
 */
async function sealPart(
  deps: ActivityDeps,
  walk: Walk,
  part: readonly number[],
  tell: Tell,
): Promise<number[]> {
  const stuck = await findStuck(deps.db, 'seal', part.map(String));
  const well = part.filter((id) => !stuck.has(String(id)));
  const left: number[] = [];
  let alone = part.filter((id) => stuck.has(String(id)));
  try {
    left.push(...(await sealWhole(deps, walk, well)));
  } catch {
    // The failure comes again where it belongs.
    alone = [...part];
  }
  await eachItem(deps, { duty: 'seal', items: alone, keyOf: String, tell }, async (id) => {
    left.push(...(await sealWhole(deps, walk, [id])));
  });
  return left;
}

/**
 * Seals wallets seal by seal, until too few entries are left or the round is over.
 * @returns those that have more to seal
 */
async function sealWhole({ db }: ActivityDeps, walk: Walk, walletIds: readonly number[]): Promise<number[]> {
  const limits = { leastEntries: leastOf(walk), mostEntries: ledgerLimits.sealEntries };
  return sealInTurns(db, walletIds, limits, (entries) => {
    walk.sealed += entries;
    return isOver(walk);
  });
}

function isNewDay(last: Date | null, now: Date): boolean {
  return last?.toISOString().slice(0, 10) !== now.toISOString().slice(0, 10);
}

/** Whether the last walk ended a short while ago. A clock that was set back since then says nothing. */
function isResting(last: Date | null, now: Date): boolean {
  const since = now.getTime() - (last?.getTime() ?? -Infinity);
  return since >= 0 && since < ledgerLimits.sealRestMs;
}
