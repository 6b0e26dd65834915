import { accountClosing } from '../accounts/closing.js';
import { Refusal } from '../refusal.js';
import { limitOfOpening, type AnyPot } from '../spending/pots.js';
import { refuseWhenTooManyFree, type FreeMachineLimits, type FreeMachines } from './free-machines.js';
import { rentalLimits } from './limits.js';
import type { CostLimits } from './quote.js';

/** The facts of an account that may keep it from renting anything at all. */
export interface Renter {
  /** Operators have paused new rentals, or metering: without it nobody knows how much is left in a wallet. */
  readonly isPaused: boolean;
  /** Why the account is blocked; null when it is not. */
  readonly blockedReason: string | null;
  /** Its owner, or an operator, has it closed. */
  readonly isClosing: boolean;
  readonly overdueInvoiceId: string | null;
  /** How many of its rentals are provisioning or running. */
  readonly liveRentals: number;
}

/**
 * Refuses whoever may rent nothing, whatever is on offer (decision 23, "Guards against loss", and decision 37, "Brakes
 * and the watermark").
 * @throws Refusal account_closing, temporarily_unavailable, blocked
 */
export function refuseRenter(renter: Renter): void {
  const { isPaused, blockedReason, isClosing, overdueInvoiceId, liveRentals } = renter;
  if (isClosing) throw accountClosing();
  if (isPaused) {
    throw new Refusal('temporarily_unavailable', 'Our operators have paused new rentals. Try again later.');
  }
  if (blockedReason !== null) {
    throw new Refusal('blocked', 'This account is blocked. Contact support.', { reason: blockedReason });
  }
  if (overdueInvoiceId !== null) {
    throw new Refusal('blocked', 'An invoice is overdue. Pay it first: GET /v1/billing/invoices lists it.', {
      reason: 'unpaid_invoice',
      invoiceId: overdueInvoiceId,
    });
  }
  const { maxLiveRentals: limit } = rentalLimits;
  if (liveRentals < limit) return;
  throw new Refusal('blocked', `You can run ${limit} rentals at once. Stop one first.`, {
    reason: 'too_many_rentals',
    limit,
  });
}

/**
 * Refuses an opening before a machine is looked for; `limitOfMachine` is next.
 * @throws Refusal what refuseRenter throws; rate_limited
 */
export function refuseOpening(renter: Renter, machines: FreeMachines, limits: FreeMachineLimits): void {
  refuseRenter(renter);
  refuseWhenTooManyFree(machines, limits);
}

/** What pays for a machine. Amounts in cents. */
export interface Means {
  readonly availableCents: number;
  /** What its rental must fit into. */
  readonly pots: readonly AnyPot[];
}

/**
 * Refuses a machine of which one hour can't be paid, or that does not fit.
 * @returns the spend limit of its rental, in cents; null for none
 * @throws Refusal insufficient_balance, then cap_reserved or budget_reserved
 */
export function limitOfMachine(
  asked: CostLimits,
  pricePerHourCents: number,
  { availableCents, pots }: Means,
): number | null {
  if (availableCents < pricePerHourCents) {
    throw new Refusal(
      'insufficient_balance',
      'Your balance does not cover one hour of this machine. Top up your wallet first.',
      { requiredCents: pricePerHourCents, availableCents },
    );
  }
  return limitOfOpening(asked, pricePerHourCents, pots);
}

/**
 * Returns the most that an hour of another offer may cost, in cents (decision 19, "Order of an opening"): a tenth more
 * than the cheapest of these.
 */
export function dearestBeside(offers: readonly { readonly price_per_hour_cents: number }[]): number {
  const cheapest = Math.min(...offers.map((offer) => offer.price_per_hour_cents));
  return Math.floor((cheapest * (100 + rentalLimits.openMaxDearerPercent)) / 100);
}
