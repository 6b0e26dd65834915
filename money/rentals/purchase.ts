import type { AllocationAttemptRow, ListingRow } from '../../adapters/postgres/rows/tables.js';
import type { Wait } from '../../adapters/providers/provider.js';
import type { RentalId } from '../../domain/ids.js';

/** What an upstream is asked for: one pod of one listing. */
export interface PodOrder extends Wait {
  readonly rentalId: RentalId;
  readonly listing: ListingRow;
  readonly templateId: string;
  readonly publicKeys: readonly string[];
  /** When the upstream itself shall end the pod, should this service be gone by then; null for never. */
  readonly endBy: Date | null;
  /** What an hour may cost at most. */
  readonly maxPricePerHourCents: number;
}

/**
 * What came of asking an upstream for a pod.
 * - bought: the pod exists at the agreed price, its attempt is open until the rental adopts it.
 * - unknown: a pod may exist under the attempt's tag; `listed`: it does exist, and has not told its price yet.
 * - none: nothing was bought, or it was given back; the next offer may be tried.
 */
export type Purchase =
  | { readonly kind: 'bought'; readonly attempt: AllocationAttemptRow; readonly podId: string }
  | { readonly kind: 'unknown'; readonly attempt: AllocationAttemptRow; readonly listed: boolean }
  | { readonly kind: 'none' };

/** A purchase that a rental can be opened with, and the listing that it was made from, at the price that was agreed. */
export interface Bargain {
  readonly listing: ListingRow;
  readonly purchase: Exclude<Purchase, { kind: 'none' }>;
}

/** How an opening reaches the upstreams. The activity hands it in: what moves money knows no upstream. */
export interface Market {
  /** The upstreams that can start a machine from what was asked for. */
  readonly providerCodes: readonly string[];
  /**
   * What a try of the same opening bought before it died; undefined when it bought nothing.
   * @param untilMs until when the upstream may be asked, by this process's clock (performance.now)
   */
  findBought(untilMs: number): Promise<Bargain | undefined>;
  /**
   * Asks one upstream for one pod. The attempt is committed before the call, apart from the opening (decision 21, "Lost
   * upstream answers").
   */
  buy(order: PodOrder): Promise<Purchase>;
}
