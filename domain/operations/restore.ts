import type { RentalId } from '../ids.js';

/**
 * What is known of a restored database, for the human who decides (decision 67, "Restored databases"). Instants are ISO
 * texts.
 */
export interface RestoreReport {
  /** confirmed: nothing is wrong. restored: it is behind what Temporal was told. */
  readonly database: 'confirmed' | 'restored';
  readonly watermark: number;
  readonly raisedAt: string;
  /** null when Temporal was never told of one. */
  readonly keptInTemporal: number | null;
  /** How much is lost, as far as the watermark tells: it is raised once a minute. */
  readonly lostMinutes: number;
  /** Live here although their workflow run has ended: they end at that run's end. */
  readonly ended: readonly {
    readonly rentalId: RentalId;
    readonly status: string;
    readonly endedAt: string;
  }[];
  /** Live here and at Temporal: they go on, and the formula charges the lost time once. */
  readonly goingOn: number;
  /** Live here, and Temporal knows no run of theirs any more: they go on until their machine is seen gone. */
  readonly withoutRun: readonly RentalId[];
  /** Opened in the lost time: Temporal knows them and the database does not. */
  readonly lost: readonly LostRental[];
  /** Machines that no rental of this database owns. */
  readonly unknownPods: readonly UnknownPod[];
  /** Upstreams that did not answer: of their machines nothing is known. */
  readonly silentUpstreams: readonly string[];
  /** Payments that succeeded and are credited to nobody here. */
  readonly missingPayments: readonly MissingPayment[];
  /** Payments that could not be read, each with its reason; absent in reports of release 0.1. */
  readonly unreadPayments?: readonly string[];
}

export interface LostRental {
  readonly rentalId: string;
  readonly userId: string;
  readonly startedAt: string;
  /** null while its run is open. */
  readonly endedAt: string | null;
  readonly pricePerHourCents: number | null;
}

export interface UnknownPod {
  readonly providerCode: string;
  readonly podId: string;
  readonly tag: string;
  /** The upstream's own word. */
  readonly status: string;
  readonly pricePerHourCents: number | null;
}

export interface MissingPayment {
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly userId: string | null;
  readonly topupId: string | null;
}

/** What reconciling did. */
export interface Reconciled {
  readonly endedRentals: number;
  readonly credited: readonly { readonly paymentId: string; readonly amountCents: number }[];
  /** Money that can be credited to nobody here; parked for operators. */
  readonly parked: readonly string[];
  readonly listedPods: number;
  /** What could not be done and was left, because an operator said so. */
  readonly undone?: readonly string[];
  readonly watermark: number;
}
