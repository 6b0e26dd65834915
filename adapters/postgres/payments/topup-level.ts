import { paymentLimits } from '../../../domain/payments/limits.js';
import type { Database, Transaction } from '../database.js';

/**
 * SQL that holds while something runs on a wallet, or is about to. A machine that is being got counts: its hold is gone
 * from what is available, and it begins to cost within a minute (decision 34, "Trigger of auto-topup").
 * @param walletId an SQL expression
 */
export function somethingRuns(walletId: string): string {
  return `(exists (select 1 from meters lm where lm.wallet_id = ${walletId})
           or exists (select 1 from rentals lr where lr.wallet_id = ${walletId} and lr.status = 'provisioning'))`;
}

/**
 * SQL that holds while an auto-topup may begin an attempt: it is on, and its next attempt need not wait (decision 34,
 * "Trigger of auto-topup").
 * @param settings the name by which its row goes
 * @param at an SQL expression: the instant
 */
export function attemptMayBegin(settings: string, at: string): string {
  return `(${settings}.enabled and ${isCooling(`${settings}.next_attempt_at`, at)} is not true)`;
}

/**
 * SQL of the rest of a cooldown in milliseconds; null without one.
 * @param nextAttemptAt an SQL expression: the instant at which it ends
 */
export function cooldownLeftMs(nextAttemptAt: string): string {
  return `case when ${isCooling(nextAttemptAt, 'clock_ms()')}
               then ceil(extract(epoch from ${nextAttemptAt} - clock_ms()) * 1000)::bigint end`;
}

/** A cooldown that ends later than one that begins now was set by a clock that ran ahead since: it says nothing. */
function isCooling(nextAttemptAt: string, at: string): string {
  const longest = `interval '${paymentLimits.autoTopupCooldownMs} milliseconds'`;
  return `(${nextAttemptAt} > ${at} and ${nextAttemptAt} <= ${at} + ${longest})`;
}

/**
 * Records an intent for auto-topup when what is available lies below its threshold (decision 34, "Trigger of
 * auto-topup"). Each transaction that lowers what is available calls it, and so does whoever has changed the settings.
 * A tick does the same in its own statement (money/metering/meter.ts). The workflow looks again under the wallet's lock
 * before it charges.
 */
export async function recordTopupIntent(db: Database | Transaction, walletId: number): Promise<void> {
  await db.raw(
    `insert into intents (kind, wallet_id)
     select 'auto_topup', w.id
       from wallets w join auto_topups a on a.wallet_id = w.id
      where w.id = :walletId and w.available_cents < a.threshold_cents
        and ${attemptMayBegin('a', 'clock_ms()')} and ${somethingRuns('w.id')}
     on conflict do nothing`,
    { walletId },
  );
}
