import type { AllocationAttemptRow, ListingRow } from '../../adapters/postgres/rows/tables.js';
import type { Wait } from '../../adapters/providers/provider.js';
import type { KnownStarts } from '../../domain/catalog/starts.js';
import type { RentalId } from '../../domain/ids.js';
import type { SoftwareOutline } from '../../domain/rentals/software.js';

/** The order to an upstream: one pod of one listing. */
export interface PodOrder extends Wait {
  readonly rentalId: RentalId;
  readonly listing: ListingRow;
  readonly templateId: string;
  /** The renter's own; absent: the template alone. */
  readonly software?: SoftwareOutline | undefined;
  /** Whether the machine itself shall tell its use, where nobody else does. */
  readonly telemetry: boolean;
  readonly publicKeys: readonly string[];
  /** When the upstream itself shall end the pod, in case this service is gone by then; null: never. */
  readonly endBy: Date | null;
  /** The most that an hour may cost, in cents. */
  readonly maxPricePerHourCents: number;
}

/**
 * The result of asking an upstream for a pod.
 * - bought: the pod exists at the agreed price, and its attempt is open until the rental adopts it.
 * - unknown: a pod may exist under the attempt's tag; `listed`: it does exist, and has not told its price yet.
 * - none: nothing was bought, or it was given back; the next offer may be tried. `outOfTurnMs`: this one was passed over,
 *   because others buy there just now; it may be had after so long. `isUnfit`: its upstream takes no such order,
 *   whatever the offer.
 */
export type Purchase =
  | { readonly kind: 'bought'; readonly attempt: AllocationAttemptRow; readonly podId: string }
  | { readonly kind: 'unknown'; readonly attempt: AllocationAttemptRow; readonly listed: boolean }
  | { readonly kind: 'none'; readonly outOfTurnMs?: number; readonly isUnfit?: boolean };

/** A purchase that a rental can be opened with, and the listing that it was made from at the agreed price. */
export interface Bargain {
  readonly listing: ListingRow;
  readonly purchase: Exclude<Purchase, { kind: 'none' }>;
}

/** The way from an opening to the upstreams. The activity hands it in: code that moves money knows no upstream. */
export interface Market {
  /** The upstreams that can start a machine as it was asked for. */
  readonly providerCodes: readonly string[];
  /** What came of the machines that were lately asked for there. */
  readonly starts: KnownStarts;
  /**
   * Finds what a try of the same opening bought before it died; undefined when it bought nothing.
   * @param untilMs until when the upstream may be asked, by this process's clock (performance.now)
   */
  findBought(untilMs: number): Promise<Bargain | undefined>;
  /**
   * Asks one upstream for one pod. The attempt is committed before the call, in a transaction apart from the opening
   * (decision 21, "Lost upstream answers").
   */
  buy(order: PodOrder): Promise<Purchase>;
  /**
   * Puts a purchase that was passed over into its upstream's queue: the rental's workflow makes it in turn.
   * @returns a purchase of unknown outcome; undefined when the queue is too long
   */
  queue(order: PodOrder): Promise<Extract<Purchase, { kind: 'unknown' }> | undefined>;
}
