import { readClock } from '../clock.js';
import { findTopupRequest } from '../requests/opening-requests.js';
import { findTopup } from './topups.js';
import type { TopupId } from '../../../domain/ids.js';
import { topupApprovalMail, topupFailedMail } from '../../../domain/mails/payments.js';
import type { Database } from '../database.js';
import type { TopupRow } from '../rows/tables.js';
import { mailUser } from '../upkeep/outbox.js';

/**
 * Tells a user the outcome of a charge that was answered with "processing": it failed, or their bank wants them to
 * approve it. A success has its receipt. Each outcome is told once.
 */
export async function mailTopupOutcome(db: Database, topupId: TopupId): Promise<void> {
  const topup = await findTopup(db, topupId);
  if (!topup) throw new Error(`top-up ${topupId} vanished`);
  const { user_id: userId, amount_cents: amountCents, checkout_url: payUrl } = topup;
  if (topup.status === 'failed') {
    const message = topupFailedMail({ topupId, amountCents, error: topup.error });
    await db.transaction((trx) => mailUser(trx, userId, { kind: 'topup_failed', topupId }, message));
  } else if (topup.status === 'requires_payment' && payUrl !== null) {
    const message = topupApprovalMail({ amountCents, payUrl });
    await db.transaction((trx) => mailUser(trx, userId, { kind: 'topup_approval', topupId }, message));
  }
}

/**
 * Tells a user the outcome of a charge that became known after its request was answered, as `mailTopupOutcome` does. A
 * row does not say since when it has a page: one that was answered with before a worker died may be mailed as well.
 * @param topup as it is now
 */
export async function mailLateOutcome(db: Database, topup: TopupRow): Promise<void> {
  if (topup.charge_sent_at === null) return;
  const request = await findTopupRequest(db, topup.id);
  if (!request) return;
  const knownAt = topup.closed_at ?? (await readClock(db));
  if (knownAt > request.answer_before) await mailTopupOutcome(db, topup.id);
}
