import type { AutoTopupSettings } from '../../adapters/postgres/payments/auto-topup-settings.js';
import type { AutoTopupRow } from '../../adapters/postgres/rows/tables.js';
import type { AutoTopupOffReason } from '../../domain/events/events.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type { Account } from './account.js';
import type { World } from './world.js';

/** Stores settings; a setting that is left out stays as it was (decision 33, "Removal of a card"). */
export function saveAutoTopup(world: World, account: Account, settings: AutoTopupSettings): AutoTopupRow {
  if (!settings.enabled) switchOffAutoTopup(world, account, 'user');
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

/** Switches auto-topup off, and tells it, unless it is off already; the numbers stay (decision 33, "Removal of a card"). */
export function switchOffAutoTopup(
  world: World,
  { user, autoTopup }: Account,
  reason: AutoTopupOffReason,
): void {
  if (autoTopup?.enabled !== true) return;
  autoTopup.enabled = false;
  autoTopup.disabled_why = reason === 'user' ? null : reason;
  world.events.tell(user.id, 'auto_topup.switched_off', user.id, { reason });
}
