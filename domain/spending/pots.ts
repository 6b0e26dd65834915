import type { ApiKeyId, RentalId } from '../ids.js';
import { accruedCents, elapsedMsAtCents } from '../metering/metering.js';
import { Refusal } from '../refusal.js';
import { worstCaseOf, type CostLimits, type RunningLimits } from '../rentals/quote.js';
import { spendingLimits } from './limits.js';

/** A sum that rentals may cost in all: the cap of an API key, or a month's budget. Amounts in cents. */
export interface Pot {
  readonly limitCents: number;
  /** What rentals have cost by now. */
  readonly spentCents: number;
  /** What others may still cost at most. */
  readonly reservedCents: number;
}

/** What a pot still holds for something new; 0 for one that was lowered below what it already gave. */
export function leftOf({ limitCents, spentCents, reservedCents }: Pot): number {
  return Math.max(0, limitCents - spentCents - reservedCents);
}

/** What a rental holds of a pot, in cents. */
export interface Holder {
  readonly rentalId: RentalId;
  readonly reservedCents: number;
}

/** The cap of an API key. */
export interface CapPot extends Pot {
  readonly kind: 'cap';
  readonly apiKeyId: ApiKeyId;
  readonly holders: readonly Holder[];
}

/** The hard budget of an account for the present month. */
export interface BudgetPot extends Pot {
  readonly kind: 'budget';
  /** The month in UTC, such as 2026-11. */
  readonly month: string;
  readonly holders: readonly Holder[];
}

export type AnyPot = CapPot | BudgetPot;

/**
 * The spend limit that a rental is opened with (decision 109, "Caps and budgets"): what is asked for; without that,
 * four hours' price, or what is left of the fullest pot. Where a pot must hold it, it is no more than what the rental's
 * time can cost.
 * @param asked the limits that are asked for
 * @returns cents; null without a limit and without a pot
 * @throws Refusal cap_reserved or budget_reserved when a pot does not hold it
 */
export function limitOfOpening(
  asked: CostLimits,
  pricePerHourCents: number,
  pots: readonly AnyPot[],
): number | null {
  const limit = usualLimit(asked, pricePerHourCents, pots);
  if (limit === null) return null;
  const empty = pots.find((pot) => leftOf(pot) === 0);
  if (asked.maxSpendCents === null && empty) throw refusalOfFull(empty, limit);
  refuseBeyond(limit, pots);
  return limit;
}

/** The same limit for a quote, which refuses nothing: the whole of it where nothing is left. */
export function usualLimit(
  { maxSpendCents: askedCents, autoStopAfterMs }: CostLimits,
  pricePerHourCents: number,
  pots: readonly Pot[],
): number | null {
  if (pots.length === 0) return askedCents;
  const ofTime = autoStopAfterMs === null ? Infinity : costOfTime(pricePerHourCents, autoStopAfterMs);
  if (askedCents !== null) return Math.min(askedCents, ofTime);
  const usual = Math.min(spendingLimits.usualHours * pricePerHourCents, ofTime);
  const left = Math.min(...pots.map(leftOf));
  return left === 0 ? usual : Math.min(usual, left);
}

/** The least limit that does not end a rental before its time: its price, rounded up; one cent at least. */
function costOfTime(pricePerHourCents: number, ms: number): number {
  const accrued = accruedCents(pricePerHourCents, ms);
  return Math.max(1, elapsedMsAtCents(pricePerHourCents, accrued) < ms ? accrued + 1 : accrued);
}

/**
 * Refuses other limits of a rental where the pots don't hold what it may cost then.
 * @param limits in force before, and after the change, which may ask for another time alone
 * @throws Refusal as refuseUnreservedTime and refuseRaise do
 */
export function refuseUnreserved(
  { pricePerHourCents, runningAt }: { readonly pricePerHourCents: number; readonly runningAt: Date | null },
  { before, after, isTimeAlone }: ChangedLimits,
  pots: readonly AnyPot[],
): void {
  if (isTimeAlone) {
    const spans = { before: { ...before, runningAt }, after: { ...after, runningAt } };
    refuseUnreservedTime(pricePerHourCents, spans, pots);
  } else if (before.maxSpendCents !== after.maxSpendCents) {
    refuseRaise({ before: before.maxSpendCents, after: after.maxSpendCents }, pots);
  }
}

/** The limits of a rental before and after a change. */
export interface ChangedLimits {
  readonly before: Omit<RunningLimits, 'runningAt'>;
  readonly after: Omit<RunningLimits, 'runningAt'>;
  /** Whether it asks for another time, and says nothing of the spend limit. */
  readonly isTimeAlone: boolean;
}

/**
 * Refuses more time for a rental that a pot holds where that time alone is asked for, and would cost more than is
 * reserved: the rental would end at its spend limit, before the time that was agreed.
 * @param limits with the limit in force, before and after the change
 * @throws Refusal validation_failed, which names the limit that must be sent with it
 */
function refuseUnreservedTime(
  pricePerHourCents: number,
  limits: { readonly before: RunningLimits; readonly after: RunningLimits },
  pots: readonly AnyPot[],
): void {
  const timeOf = (one: RunningLimits) => worstCaseOf(pricePerHourCents, { ...one, maxSpendCents: null });
  const [before, after] = [timeOf(limits.before) ?? Infinity, timeOf(limits.after) ?? Infinity];
  const { maxSpendCents } = limits.after;
  if (pots.length === 0 || maxSpendCents === null || after <= before || after <= maxSpendCents) return;
  const costs =
    after === Infinity
      ? 'Without a time limit nothing stops it earlier'
      : `That time costs up to ${after} cents`;
  const message = `maxSpendCents must be sent with a longer time: ${costs}, and ${maxSpendCents} are reserved for it`;
  const fields = [{ field: 'maxSpendCents', message }];
  throw new Refusal('validation_failed', `The request is invalid: ${message}.`, { fields });
}

/**
 * Refuses a limit that is raised by more than the pots hold, or taken away.
 * @param limits the rental's own limit before and after the change, in cents; null for none
 * @throws Refusal cap_reserved, budget_reserved, or validation_failed for a limit that is taken away
 */
export function refuseRaise(
  limits: { readonly before: number | null; readonly after: number | null },
  pots: readonly AnyPot[],
): void {
  const [pot] = pots;
  if (pot === undefined) return;
  if (limits.after === null) throw refusalOfNoLimit(pot);
  const raisedBy = limits.after - (limits.before ?? 0);
  if (raisedBy > 0) refuseBeyond(raisedBy, pots);
}

function refuseBeyond(cents: number, pots: readonly AnyPot[]): void {
  const full = pots.find((pot) => leftOf(pot) < cents);
  if (full) throw refusalOfFull(full, cents);
}

function refusalOfFull(pot: AnyPot, askedCents: number): Refusal {
  const { limitCents, spentCents, reservedCents } = pot;
  const facts = {
    askedCents,
    leftCents: leftOf(pot),
    limitCents,
    spentCents,
    reservedCents,
    reservedBy: pot.holders.slice(0, spendingLimits.namedHolders),
  };
  const sums = `${spentCents} are spent and ${reservedCents} are reserved, so another ${askedCents} would exceed it`;
  if (pot.kind === 'cap') {
    return new Refusal(
      'cap_reserved',
      `This key’s rentals may cost ${limitCents} cents in total: ${sums}. Ask for a lower maxSpendCents, stop a rental of the key, or ask its owner to raise the cap.`,
      { apiKeyId: pot.apiKeyId, ...facts },
    );
  }
  return new Refusal(
    'budget_reserved',
    `The budget for ${pot.month} is ${limitCents} cents: ${sums}. Ask for a lower maxSpendCents, stop a rental, or raise the budget: PUT /v1/billing/budget.`,
    { month: pot.month, ...facts },
  );
}

/** What can't be held to a limit while rentals without one are open. */
export interface Unlimited {
  readonly unlimited: readonly { readonly rentalId: RentalId }[];
}

/** What a key's rentals have cost and may still cost, and those without a limit. */
export interface KeyUse extends Unlimited, Pick<Pot, 'spentCents' | 'reservedCents'> {
  readonly apiKeyId: ApiKeyId;
}

/**
 * The cap that a key has once one is asked for: no less than what is spent and reserved.
 * @param wantedCents null takes it away
 * @throws Refusal cap_reserved while a rental has no limit
 */
export function capOfWish(wantedCents: number | null, use: KeyUse): number | null {
  if (wantedCents === null) return null;
  const { apiKeyId, unlimited, spentCents, reservedCents } = use;
  if (unlimited.length > 0) throw refusalOfUnlimitedRentals({ apiKeyId, capCents: wantedCents, unlimited });
  return Math.max(wantedCents, spentCents + reservedCents);
}

/**
 * Refuses a hard budget while a rental has no limit.
 * @throws Refusal budget_reserved
 */
export function refuseUnlimitedBudget(
  { monthlyCents, hard }: { readonly monthlyCents: number | null; readonly hard: boolean },
  { month, unlimited }: Unlimited & Pick<BudgetPot, 'month'>,
): void {
  if (!hard || monthlyCents === null || unlimited.length === 0) return;
  throw refusalOfUnlimitedRentals({ monthlyCents, month, unlimited });
}

/** A rental that a month counts. */
export interface CountedRental {
  /** What it has cost by now, in cents. */
  readonly usedCents: number;
  readonly maxSpendCents: number | null;
  readonly pricePerHourCents: number;
  readonly runningAt: Date | null;
  readonly endedAt: Date | null;
  readonly isSettled: boolean;
}

/**
 * What a rental has cost of a month, and may still cost: a cent counts in the month in which it was used. The service
 * reads the same of many rentals at once by SQL (adapters/postgres/spending/budgets.ts), and a test compares both.
 * @param monthMs when the month begins
 */
export function shareOfMonth(
  rental: CountedRental,
  monthMs: number,
): Pick<Pot, 'spentCents' | 'reservedCents'> {
  const { usedCents, maxSpendCents, isSettled } = rental;
  const earlierCents = usedBefore(rental, monthMs);
  const ofMonth = (cents: number) => Math.max(0, cents - earlierCents);
  const limitCents = isSettled ? null : maxSpendCents;
  return {
    spentCents: ofMonth(usedCents),
    reservedCents: limitCents === null ? 0 : ofMonth(limitCents) - ofMonth(Math.min(usedCents, limitCents)),
  };
}

/**
 * The shares of a month's budget that are spent, in percent, the lowest first. The service finds them in SQL
 * (adapters/postgres/spending/budget-alerts.ts), and a test compares both. Amounts in cents.
 */
export function percentsReached(spentCents: number, monthlyCents: number): number[] {
  return spendingLimits.alertPercents.filter((percent) => spentCents * 100 >= monthlyCents * percent);
}

/** What ended before the month counts before it, with the cent that rounding adds. */
function usedBefore({ runningAt, endedAt, pricePerHourCents }: CountedRental, monthMs: number): number {
  if (endedAt !== null && endedAt.getTime() <= monthMs) return Infinity;
  return runningAt === null ? 0 : accruedCents(pricePerHourCents, monthMs - runningAt.getTime());
}

/**
 * The refusal of a first cap, or of a hard budget, while rentals have no limit: nothing bounds what those may cost.
 * @param of the key and the cap in cents, or the month and the budget in cents
 */
function refusalOfUnlimitedRentals(
  of: Unlimited &
    (
      | { readonly apiKeyId: ApiKeyId; readonly capCents: number }
      | { readonly month: string; readonly monthlyCents: number }
    ),
): Refusal {
  const next = 'Set a maxSpendCents for each of them first, or stop them.';
  const unlimited = of.unlimited.slice(0, spendingLimits.namedHolders);
  if ('apiKeyId' in of) {
    return new Refusal(
      'cap_reserved',
      `Some rentals of this key have no limit, so it can’t have a cap. ${next}`,
      {
        ...{ apiKeyId: of.apiKeyId, askedCents: of.capCents, unlimited },
      },
    );
  }
  return new Refusal(
    'budget_reserved',
    `Some rentals have no limit, so you can’t set a hard budget. ${next}`,
    {
      ...{ month: of.month, askedCents: of.monthlyCents, unlimited },
    },
  );
}

/** The refusal of a rental without a limit where a pot must hold all that it may cost. */
function refusalOfNoLimit({ kind }: AnyPot): Refusal {
  const message =
    kind === 'cap'
      ? 'maxSpendCents can’t be null: a rental of a key with a cap needs a limit'
      : 'maxSpendCents can’t be null: a rental under a hard budget needs a limit';
  const fields = [{ field: 'maxSpendCents', message }];
  return new Refusal('validation_failed', `The request is invalid: ${message}.`, { fields });
}
