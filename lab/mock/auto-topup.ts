import { judgeAutoTopup, type AutoTopupFacts } from '../../domain/payments/auto-topup.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { isUsed } from '../../domain/rentals/rental.js';
import type { Account } from './account.js';
import { switchOffAutoTopup } from './auto-topup-settings.js';
import { issueInvoice } from './invoices.js';
import { chargeCard } from './topups.js';
import type { World } from './world.js';

/**
 * Charges the saved card when a rental runs and the level asks for it (spec: Auto-topup trigger; decision 34, "Trigger
 * of auto-topup").
 * @returns whether it was due; it is paid by now, or never
 */
export function topUpWhenLow(world: World, account: Account): boolean {
  const { autoTopup: settings } = account;
  if (!settings?.enabled) return false;
  const nowMs = world.now().getTime();
  const { kind } = judgeAutoTopup(settings, factsOf(account, nowMs));
  if (kind === 'quiet' || kind === 'cooling') return false;
  settings.next_attempt_at = new Date(nowMs + world.durations.cooldownMs);
  if (kind === 'held') return true;
  const topup = chargeCard(world, account, settings.topup_amount_cents, 'auto_topup');
  if (topup.status !== 'failed') return true;
  switchOffAutoTopup(world, account, 'charge_failed');
  const description = `Automatic top-up ${topup.id}, which your saved card did not pay`;
  issueInvoice(world, account, { reason: 'topup_failed', amountCents: topup.amount_cents, description });
  return true;
}

/** There are no operators here: nothing is paused or blocked, and no account has a cap. */
function factsOf({ autoTopup, wallet, rentals, topups }: Account, nowMs: number): AutoTopupFacts {
  const today = topups.filter(
    (row) => row.source === 'auto_topup' && row.created_at.getTime() > nowMs - paymentLimits.dayMs,
  );
  return {
    availableCents: wallet.availableCents,
    coolingMs: (autoTopup?.next_attempt_at?.getTime() ?? nowMs) - nowMs,
    isRunning: rentals.some(({ row }) => isUsed(row.status)),
    ...{ isPaused: false, isBlocked: false, accountCapCents: null },
    chargedCents: today.reduce((sum, row) => sum + (row.credited_cents ?? 0), 0),
  };
}
