import { findClosing } from '../../adapters/postgres/accounts/closings.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import { signalLook } from '../../adapters/temporal/signal-look.js';
import type { UserId } from '../../domain/ids.js';
import { stopSpending } from '../../money/closing/stop-spending.js';
import type { ActivityDeps } from '../deps.js';

/** Ends all that an account has running, however often it is called; how it ends, its own workflows follow. */
export async function stopAll(deps: ActivityDeps, userId: UserId): Promise<void> {
  await stopSpending(deps.db, userId);
  await stopRentals(deps, userId);
  await closePages(deps, userId);
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

/** Closes each page that is open, unless it was paid meanwhile: it could be paid for hours. */
export async function closePages({ db, temporal, processor }: ActivityDeps, userId: UserId): Promise<void> {
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
