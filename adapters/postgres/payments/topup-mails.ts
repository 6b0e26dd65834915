import type { TopupId } from '../../../domain/ids.js';
import { formatUsd } from '../../../domain/money.js';
import type { Database } from '../database.js';
import { insertMail } from '../upkeep/outbox.js';

/**
 * Tells a user what became of a charge that was answered with "processing": that it failed, or that their bank wants
 * them to approve it. A success has its receipt. Once each.
 */
export async function mailTopupOutcome(db: Database, topupId: TopupId): Promise<void> {
  const topup = await db('topups').where({ id: topupId }).first();
  const user = topup && (await db('users').where({ id: topup.user_id }).first('email'));
  if (!user) throw new Error(`top-up ${topupId} vanished`);
  const amount = formatUsd(topup.amount_cents);
  const mail = { recipient: user.email, wipeAfterSending: false };
  if (topup.status === 'failed') {
    await insertMail(db, {
      ...mail,
      cause: { kind: 'topup_failed', topupId },
      subject: `Your top-up of ${amount} failed`,
      body: `${topup.error ?? 'The payment failed.'}\n\nTop-up: ${topupId}`,
    });
  } else if (topup.status === 'requires_payment' && topup.checkout_url !== null) {
    await insertMail(db, {
      ...mail,
      cause: { kind: 'topup_approval', topupId },
      subject: `Your bank asks you to approve a top-up of ${amount}`,
      body: `Your saved card was not charged: your bank wants you to approve it. Pay here:\n${topup.checkout_url}`,
    });
  }
}
