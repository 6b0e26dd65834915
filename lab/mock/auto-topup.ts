import type { AutoTopupSettings } from '../../adapters/postgres/payments/auto-topup-settings.js';
import type { AutoTopupRow } from '../../adapters/postgres/rows/tables.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type { Account } from './account.js';
import { issueInvoice } from './invoices.js';
import { chargeCard } from './topups.js';
import type { World } from './world.js';

/** Stores settings; a setting that is left out stays as it was (decision 33, "Removal of a card"). */
export function saveAutoTopup(world: World, account: Account, settings: AutoTopupSettings): AutoTopupRow {
  const before = account.autoTopup ?? beforeTheFirst;
  const { enabled, thresholdCents, topupAmountCents, dailyCapCents } = settings;
  account.autoTopup = {
    wallet_id: account.wallet.id,
    user_id: account.user.id,
    enabled,
    threshold_cents: thresholdCents ?? before.threshold_cents,
    topup_amount_cents: topupAmountCents ?? before.topup_amount_cents,
    daily_cap_cents: dailyCapCents === undefined ? before.daily_cap_cents : dailyCapCents,
    disabled_why: null,
    next_attempt_at: before.next_attempt_at,
    updated_at: world.now(),
  };
  return account.autoTopup;
}

const beforeTheFirst = {
  threshold_cents: null,
  topup_amount_cents: paymentLimits.autoTopupDefaultCents,
  daily_cap_cents: null,
  next_attempt_at: null,
};

/**
 * Charges the saved card when a rental runs and the level asks for it (spec: Auto-topup trigger; decision 34, "Trigger
 * of auto-topup").
 */
export function topUpWhenLow(world: World, account: Account): void {
  const { autoTopup: settings, wallet } = account;
  if (settings?.enabled !== true || wallet.availableCents >= (settings.threshold_cents ?? 0)) return;
  const nowMs = world.now().getTime();
  const cooling = settings.next_attempt_at !== null && settings.next_attempt_at.getTime() > nowMs;
  if (cooling || !account.rentals.some(({ row }) => row.status === 'running')) return;
  settings.next_attempt_at = new Date(nowMs + world.durations.cooldownMs);
  if (isBeyondCap(account, settings, nowMs)) return;
  const topup = chargeCard(world, account, settings.topup_amount_cents, 'auto_topup');
  if (topup.status !== 'failed') return;
  settings.enabled = false;
  settings.disabled_why = 'charge_failed';
  const { id: userId } = account.user;
  world.events.tell(userId, 'auto_topup.switched_off', userId, { reason: 'charge_failed' });
  const description = `Automatic top-up ${topup.id}, which your saved card did not pay`;
  issueInvoice(world, account, { reason: 'topup_failed', amountCents: topup.amount_cents, description });
}

function isBeyondCap(account: Account, settings: AutoTopupRow, nowMs: number): boolean {
  if (settings.daily_cap_cents === null) return false;
  const today = account.topups.filter(
    (row) => row.source === 'auto_topup' && row.created_at.getTime() > nowMs - paymentLimits.dayMs,
  );
  const chargedCents = today.reduce((sum, row) => sum + (row.credited_cents ?? 0), 0);
  return chargedCents + settings.topup_amount_cents > settings.daily_cap_cents;
}
