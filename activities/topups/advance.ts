import { isOlder } from '../../adapters/postgres/clock.js';
import { listUnhandledEvents } from '../../adapters/postgres/payments/event-handling.js';
import { mailTopupOutcome } from '../../adapters/postgres/payments/topup-mails.js';
import { findTopup } from '../../adapters/postgres/payments/topups.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import type { TopupId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { endTopup } from '../../money/topups/topups.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { handleEvents } from '../payments/settle-payment.js';
import { chargeTopup } from './charge.js';
import { resumePage, settlePage } from './page.js';

/**
 * Reads from the processor what became of a top-up's payment and records it: credits once, or ends the top-up. Payments
 * that events name beside it are credited as well.
 * @throws ProcessorError when the processor can't be asked: call it again
 */
export async function advanceTopup(deps: ActivityDeps, topupId: TopupId): Promise<EventLook> {
  const { db } = deps;
  const topup = await findTopup(db, topupId);
  const events = await listUnhandledEvents(db, topupId);
  if (topup) await settleTopup(deps, topup);
  // The answer handles only events that were stored before the processor was asked.
  await handleEvents(deps, events, topup ? 'the top-up was brought up to date' : 'no such top-up');
  return lookOf(await findTopup(db, topupId));
}

async function settleTopup(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  if (topup.session_id !== null) {
    // An expired or failed top-up that is paid after all gets its credit.
    if (topup.credited_at === null) await settlePage(deps, topup, topup.session_id);
    return;
  }
  if (topup.closed_at !== null) return;
  if (topup.charge_sent_at !== null) return advanceCharge(deps, topup);
  return topup.page_asked_at === null ? endWhenNeverBegun(deps, topup) : resumePage(deps, topup);
}

/**
 * Advances a charge, or the page that it has become because it needs its owner. Nobody waits for the answer any more, so
 * the user is told by mail when it is not a success.
 */
async function advanceCharge(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  const isPage = topup.source !== 'saved_card';
  if (isPage || (await chargeTopup(deps, topup)) === 'needs_page') await resumePage(deps, topup);
  await mailTopupOutcome(deps.db, topup.id);
}

async function endWhenNeverBegun(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  if (!(await isOlder(deps.db, topup.created_at, paymentLimits.topupBeginMs))) return;
  const error = 'We could not start it in time. You were not charged. Try again.';
  await endTopup(deps.db, topup.id, { status: 'failed', error, onlyUnsent: true });
}

function lookOf(topup: TopupRow | undefined): EventLook {
  if (!topup) return { state: 'missing', status: 'missing', summary: 'no such top-up' };
  return {
    state: topup.closed_at === null ? 'waiting' : 'closed',
    status: topup.status,
    summary: `${topup.status}: ${topup.credited_cents ?? topup.amount_cents} cents${topup.error === null ? '' : `; ${topup.error}`}`,
  };
}
