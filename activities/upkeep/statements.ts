import {
  nextStatements,
  noteStatement,
  noteStatementsWalked,
} from '../../adapters/postgres/notices/monthly-statements.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import type { Tell } from '../heartbeat.js';

/**
 * Notes last month's statements for users, some at a time, so that a mail that somebody waits for stands behind few of them
 * (decision 171, "Statements by mail"). One that fails keeps no other back, and is tried again.
 * @param tell is told of each: a large wallet's month takes most of a second
 */
export async function noteStatements(deps: ActivityDeps, tell: Tell): Promise<void> {
  const next = await nextStatements(deps.db);
  if (!next) return;
  const { month, wallets } = next;
  const done = await eachItem(
    deps,
    { duty: 'statement', items: wallets, keyOf: (walletId) => `${month}:${walletId}`, tell },
    (walletId) => noteStatement(deps.db, walletId, month),
  );
  const noted = new Set(done);
  await noteStatementsWalked(
    deps.db,
    next,
    wallets.filter((walletId) => !noted.has(walletId)),
  );
}
