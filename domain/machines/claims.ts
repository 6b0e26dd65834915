import { DAY } from '../durations.js';
import { rentalLimits } from '../rentals/limits.js';
import { fitsModel, type RentedGpus } from './proof.js';

/** What an upstream's list tells of a machine's hardware. */
export interface ListedHardware {
  /** The upstream's own name of the machine that renters share one after the other; null: it tells none. */
  readonly machine: string | null;
  /** As the catalog names it; null: not told, or unknown. */
  readonly model: string | null;
  readonly gpuCount: number | null;
}

export const claimLimits = {
  /** For how long the word of one user about a machine supports that of the next. */
  othersMs: 7 * DAY,
} as const;

/** A running machine that calls itself bad. Its renter can make it say so. */
export interface Claim {
  readonly rented: RentedGpus;
  /** null: the list tells nothing of it. */
  readonly listed: ListedHardware | null;
  /** Whether another user, who has paid once and shares no card or address with this one, called it bad not long ago. */
  readonly isKnownBad: boolean;
  /** Whether a payment of its user ever came in. */
  readonly hasPaid: boolean;
  /** From the beginning of its billing until it said so. */
  readonly ranMs: number;
  readonly fullRefundsToday: number;
}

/**
 * Decides what a machine's own word does to its bill (decision 175, "Claims of machines"). It ends in any case; its renter
 * alone is no reason to give anything back. One that ran for longer than a lost machine may had been of use: a person
 * decides.
 */
export function judgeClaim(claim: Claim): { readonly isConfirmed: boolean; readonly isRefunded: boolean } {
  const { rented, listed, isKnownBad, hasPaid, ranMs, fullRefundsToday } = claim;
  const isConfirmed = isKnownBad || (listed !== null && isOtherThanRented(listed, rented));
  const isRefunded =
    isConfirmed &&
    hasPaid &&
    ranMs <= rentalLimits.refundWindowMs &&
    fullRefundsToday < rentalLimits.fullRefundsPerDay;
  return { isConfirmed, isRefunded };
}

function isOtherThanRented({ model, gpuCount }: ListedHardware, rented: RentedGpus): boolean {
  return (
    (model !== null && !fitsModel(model, rented.model)) || (gpuCount !== null && gpuCount < rented.gpuCount)
  );
}
