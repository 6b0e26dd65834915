import { lockApiKeysOf, revokeApiKeysOf } from '../../adapters/postgres/accounts/api-key-list.js';
import { findClosing } from '../../adapters/postgres/accounts/closings.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import { signalLook } from '../../adapters/temporal/signal-look.js';
import type { UserId } from '../../domain/ids.js';
import { voidOlderOffers } from '../../money/invoices/invoice-voids.js';
import { moneyTransaction } from '../../money/ledger/transaction.js';
import { lockWalletOfUser } from '../../money/ledger/wallets.js';
import type { ActivityDeps } from '../deps.js';

/** Ends all that an account has running, however often it is called; how it ends, its own workflows follow. */
export async function stopAll(deps: ActivityDeps, userId: UserId): Promise<void> {
  await stopSpending(deps, userId);
  await stopRentals(deps, userId);
  await closePages(deps, userId);
}

/** Nothing is charged by itself any more, no key opens anything, and what might be paid without being owed is void. */
async function stopSpending({ db }: ActivityDeps, userId: UserId): Promise<void> {
  await moneyTransaction(db, userId, async (trx) => {
    await lockWalletOfUser(trx, userId);
    await trx('auto_topups').where({ user_id: userId, enabled: true }).update({ enabled: false });
    await lockApiKeysOf(trx, userId, undefined);
    await revokeApiKeysOf(trx, userId, undefined);
    await voidOlderOffers(trx, userId);
  });
}

async function stopRentals({ db, temporal }: ActivityDeps, userId: UserId): Promise<void> {
  const closing = await findClosing(db, userId);
  const by = closing?.requested_by === 'operator' ? 'operator' : 'user';
  const running = await db('rentals')
    .where({ user_id: userId })
    .whereNull('settled_at')
    .orderBy('no')
    .select('no', 'id');
  for (const { no, id } of running) {
    await insertStopRequest(db, no, by, by === 'operator' ? 'its account is being closed' : null);
    await signalLook({ db, workflows: temporal.workflow }, { workflow: 'rental', workflowId: id });
  }
}

/** A page that is open could be paid for hours: it is closed, unless it was paid meanwhile. */
async function closePages({ db, temporal, processor }: ActivityDeps, userId: UserId): Promise<void> {
  if (!processor.enabled) return;
  const open = await db('topups')
    .where({ user_id: userId })
    .whereNull('closed_at')
    .orderBy('id')
    .select('id', 'session_id', 'source');
  for (const { id, session_id: sessionId, source } of open) {
    if (sessionId !== null) await processor.expireCheckoutSession(sessionId);
    if (source === 'auto_topup') continue;
    await signalLook({ db, workflows: temporal.workflow }, { workflow: 'topup', workflowId: id });
  }
}
