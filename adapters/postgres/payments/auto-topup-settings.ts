import type { AutoTopupOffReason } from '../../../domain/events/events.js';
import type { UserId } from '../../../domain/ids.js';
import type { NoticeFacts } from '../../../domain/notices/notices.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import { refuseWhenClosing } from '../accounts/closings.js';
import { Refusal } from '../../../domain/refusal.js';
import { insertAuditEvent, type AuditEvent } from '../accounts/audit-events.js';
import { isHeld } from './charge-marks.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent } from '../events/outbox.js';
import { noteForUser } from '../notices/user-notices.js';
import type { AutoTopupRow } from '../rows/tables.js';
import { burnSql } from '../rentals/meter-reads.js';
import { cooldownLeftMs, recordTopupIntent } from './topup-level.js';

/** Finds a user's settings of auto-topup; undefined before the first PUT. */
export async function findAutoTopup(db: Database, userId: UserId): Promise<AutoTopupRow | undefined> {
  return db('auto_topups').where({ user_id: userId }).first();
}

/** Returns the rest of a user's cooldown by the database's clock, in milliseconds; 0 without one. */
export async function readCooldownMs(db: Database, userId: UserId): Promise<number> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(
    `select greatest(0, ${cooldownLeftMs('next_attempt_at')}) as ms from auto_topups where user_id = ?`,
    [userId],
  );
  return rows[0]?.ms ?? 0;
}

export interface AutoTopupSettings {
  readonly enabled: boolean;
  /** A setting that is left out stays as it was. */
  readonly thresholdCents?: number | undefined;
  readonly topupAmountCents?: number | undefined;
  /** null takes the cap away. */
  readonly dailyCapCents?: number | null | undefined;
}

/**
 * Stores the settings.
 * @param clientAddress the address that they came from, for the audit trail
 * @throws Refusal `blocked` when they are to be enabled and nothing may be charged automatically (decision 79, "Charge
 *   marks")
 * @returns undefined when they are to be enabled and the user has no card that can be charged: nothing is stored
 */
export async function saveAutoTopup(
  db: Database,
  userId: UserId,
  settings: AutoTopupSettings,
  clientAddress?: AuditEvent['clientAddress'],
): Promise<AutoTopupRow | undefined> {
  const saved = await db.transaction(async (trx) => {
    // Two settings of one user come one after the other: each sees what it switches off.
    await trx.raw('select id from users where id = ? for no key update', [userId]);
    if (settings.enabled && !(await lockChargeableCard(trx, userId))) return undefined;
    if (settings.enabled) await refuseCharges(trx, userId);
    if (!settings.enabled) await switchOff(trx, userId, 'user');
    const { rows } = await trx.raw<{ rows: AutoTopupRow[] }>(
      `insert into auto_topups (wallet_id, user_id, enabled, threshold_cents, topup_amount_cents, daily_cap_cents)
       select id, user_id, :enabled, :threshold, coalesce(:amount, :defaultAmount::int), :cap
         from wallets where user_id = :userId
       on conflict (user_id) do update set
         enabled = excluded.enabled,
         threshold_cents = coalesce(:threshold, auto_topups.threshold_cents),
         topup_amount_cents = coalesce(:amount, auto_topups.topup_amount_cents),
         daily_cap_cents = case when :keepCap then auto_topups.daily_cap_cents else :cap end,
         disabled_why = null,
         updated_at = clock_ms()
       returning *`,
      {
        userId,
        enabled: settings.enabled,
        threshold: settings.thresholdCents ?? null,
        amount: settings.topupAmountCents ?? null,
        defaultAmount: paymentLimits.autoTopupDefaultCents,
        cap: settings.dailyCapCents ?? null,
        keepCap: settings.dailyCapCents === undefined,
      },
    );
    const [row] = rows;
    if (!row) throw new Error(`${userId} has no wallet`);
    await insertAuditEvent(trx, {
      userId,
      kind: 'auto_topup_changed',
      clientAddress,
      details: {
        enabled: row.enabled,
        thresholdCents: row.threshold_cents,
        topupAmountCents: row.topup_amount_cents,
        dailyCapCents: row.daily_cap_cents,
      },
    });
    return row;
  });
  // After the commit, since an opening takes the intent before the user. The next tick makes one that is lost here.
  if (saved) await recordTopupIntent(db, saved.wallet_id);
  return saved;
}

/** A removal of the card waits until the settings are stored, and then switches them off. */
async function lockChargeableCard(trx: Transaction, userId: UserId): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: unknown[] }>(
    `select 1 from saved_cards
      where user_id = ? and removed_at is null
        and make_timestamptz(exp_year, exp_month, 1, 0, 0, 0, 'UTC') + interval '1 month' > clock_ms()
        for share`,
    [userId],
  );
  return rows.length > 0;
}

/**
 * Switches auto-topup off, and tells it, unless it is off already; the numbers stay (decision 33, "Removal of a card").
 * @param told why its user is told so by mail (decision 103, "Notices by mail"); left out where they asked for it, or
 *   another mail of this transaction says it
 */
export async function disableAutoTopup(
  trx: Transaction,
  userId: UserId,
  why: NonNullable<AutoTopupRow['disabled_why']>,
  told?: NoticeFacts['auto_topup_off']['why'],
): Promise<void> {
  const at = await switchOff(trx, userId, why);
  if (at === undefined || told === undefined) return;
  await noteForUser(trx, {
    userId,
    kind: 'auto_topup_off',
    cause: { kind: 'auto_topup_off', userId, at },
    facts: { why: told },
  });
}

/** @returns when it was switched off; undefined when it is off already */
async function switchOff(
  trx: Transaction,
  userId: UserId,
  reason: AutoTopupOffReason,
): Promise<Date | undefined> {
  const [switched] = await trx('auto_topups')
    .where({ user_id: userId, enabled: true })
    .update({
      enabled: false,
      disabled_why: reason === 'user' ? null : reason,
      updated_at: trx.raw('clock_ms()'),
    })
    .returning('updated_at');
  if (switched === undefined) return undefined;
  const type = 'auto_topup.switched_off';
  await recordEvent(trx, { type, userId, entityId: userId, data: { reason } });
  return switched.updated_at;
}

/** Returns the hourly cost of all of a user's machines, in cents. */
export async function readBurnPerHour(db: Database, userId: UserId): Promise<number> {
  const { rows } = await db.raw<{ rows: { cents: number }[] }>(
    `select ${burnSql('w')} as cents from wallets w where w.user_id = ?`,
    [userId],
  );
  return rows[0]?.cents ?? 0;
}

/** @throws Refusal account_closing, or blocked while nothing may be charged automatically */
async function refuseCharges(trx: Transaction, userId: UserId): Promise<void> {
  await refuseWhenClosing(trx, userId);
  if (!(await isHeld(trx, userId))) return;
  throw new Refusal(
    'blocked',
    'A payment with this card or account was disputed or reported as fraud. Contact support. You can still pay on the payment page.',
    { reason: 'charges_held' },
  );
}
