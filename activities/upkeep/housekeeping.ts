import { claimUntoldNotices } from '../../adapters/postgres/operators/operator-notices.js';
import { listExpiredCards, noticeExpiredCard } from '../../adapters/postgres/payments/expired-cards.js';
import { warnOfNearEnds } from '../../adapters/postgres/rentals/near-ends.js';
import { raiseWatermark } from '../../adapters/postgres/restore/watermark.js';
import { signalWatermark } from '../../adapters/temporal/watermark.js';
import { retention } from '../../domain/operations/retention.js';
import { tellBudgets } from './budgets.js';
import { pruneInTurn } from './pruning.js';
import { noteStatements } from './statements.js';
import { compareWatermarks, refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem, eachPart } from '../each-item.js';
import type { Tell } from '../heartbeat.js';

/**
 * Compares and raises the watermark, tells operators what was noted for them and users what ends soon, and removes rows
 * that have served their time.
 * @returns the watermark and how many rows were removed
 * @throws ApplicationFailure `database_restored` while the database is behind
 */
export async function keepHouse(
  deps: ActivityDeps,
  tell: Tell,
): Promise<{ watermark: number; removed: number }> {
  // Compared each minute, because rows that are put back under a running server do not change its incarnation.
  await compareWatermarks(deps);
  await refuseWhenRestored(deps);
  const watermark = await raiseWatermark(deps.db);
  // Temporal comes second: it must never have heard of more than the database has committed.
  await signalWatermark(deps.temporal.workflow, watermark);
  await eachPart(deps, 'notices for operators', () => mailOperators(deps));
  await eachPart(deps, 'warnings of near ends', () => warnOfNearEnds(deps.db, { tell }));
  await eachPart(deps, 'alerts of budgets', () => tellBudgets(deps, tell));
  await eachPart(deps, 'monthly statements', () => noteStatements(deps, tell));
  return { watermark, removed: await pruneTables(deps, tell) };
}

/** Tells operators, by the log and by mail, what was noted for them since the last round. */
async function mailOperators({ db, log, settings }: ActivityDeps): Promise<void> {
  for (const { cause, subject, body } of await claimUntoldNotices(db, settings.operatorEmail ?? null)) {
    log.error({ cause, body }, subject);
  }
}

/** Goes on where the round before it ended in this worker: whichever does a round is fair by itself. */
const pruneTables = pruneInTurn(retention);

/**
 * Tells users, once each, that their saved card has expired.
 * @param tell hears of each: a hundred transactions may wait for their locks
 * @returns how many were told
 */
export async function mailExpiredCards(deps: ActivityDeps, tell?: Tell): Promise<number> {
  const items = {
    duty: 'card_expiry',
    items: await listExpiredCards(deps.db),
    keyOf: ({ pm_id: id }: { readonly pm_id: string }) => id,
    tell,
  } as const;
  const mailed = await eachItem(deps, items, (card) => noticeExpiredCard(deps.db, card.pm_id));
  return mailed.length;
}
