import type { AutoTopupSettings } from '../../adapters/postgres/payments/auto-topup-settings.js';
import type { AutoTopupRow } from '../../adapters/postgres/rows/tables.js';
import { HOUR, MINUTE } from '../../domain/durations.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { formatUsd } from '../../domain/money.js';
import { joi, fields, needed, nullable, wholeFrom } from '../http/fields.js';
import { fieldRefusal } from '../http/validation.js';

/**
 * The requests and answers of auto-topup (decision 33, "Removal of a card", and decision 34, "Trigger of auto-topup").
 */

const { minThresholdCents, maxThresholdCents, minAutoTopupCents, maxAutoTopupCents, maxDailyCapCents } =
  paymentLimits;

export const autoTopupSchema = fields({
  enabled: needed(joi.boolean()),
  thresholdCents: wholeFrom(minThresholdCents, maxThresholdCents).when('enabled', {
    is: true,
    then: joi.required(),
  }),
  topupAmountCents: wholeFrom(minAutoTopupCents, maxAutoTopupCents),
  dailyCapCents: nullable(wholeFrom(minAutoTopupCents, maxDailyCapCents)),
});

/**
 * Refuses a cap below the amount: it would never let anything be charged, which nobody wishes.
 * @throws Refusal validation_failed
 */
export function refuseWhenCapIdle(settings: AutoTopupSettings, stored: AutoTopupRow | undefined): void {
  const amount =
    settings.topupAmountCents ?? stored?.topup_amount_cents ?? paymentLimits.autoTopupDefaultCents;
  const cap = settings.dailyCapCents === undefined ? stored?.daily_cap_cents : settings.dailyCapCents;
  if (typeof cap === 'number' && cap < amount) {
    throw fieldRefusal(
      'dailyCapCents',
      `dailyCapCents must be at least topupAmountCents, which is ${amount}`,
    );
  }
}

/**
 * Warns when the amount can't keep up with what runs: the card is charged once per cooldown at most.
 * @param burnCents the cost of all the user's machines in an hour
 */
export function autoTopupWarnings(row: AutoTopupRow, burnCents: number): string[] {
  const perCooldownCents = Math.ceil((burnCents * paymentLimits.autoTopupCooldownMs) / HOUR);
  if (!row.enabled || perCooldownCents <= row.topup_amount_cents) return [];
  return [
    `Your machines use ${formatUsd(perCooldownCents)} in ${paymentLimits.autoTopupCooldownMs / MINUTE} minutes, and we charge your card at most once in that time: raise topupAmountCents above ${perCooldownCents}.`,
  ];
}

/** The settings; nulls before the first PUT. */
export function presentAutoTopup(row: AutoTopupRow | undefined) {
  if (row === undefined) return beforeTheFirstPut;
  return {
    enabled: row.enabled,
    thresholdCents: row.threshold_cents,
    topupAmountCents: row.topup_amount_cents,
    dailyCapCents: row.daily_cap_cents,
    disabledReason: row.disabled_why,
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
  };
}

const beforeTheFirstPut = {
  enabled: false,
  thresholdCents: null,
  topupAmountCents: null,
  dailyCapCents: null,
  disabledReason: null,
  nextAttemptAt: null,
};
