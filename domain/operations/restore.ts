import type { RentalId } from '../ids.js';
import type { EndedBy } from './lost-time.js';

/**
 * The facts about a restored database, for the human who decides (decision 67, "Restored databases"). Instants are ISO
 * texts.
 */
export interface RestoreReport {
  /** The run whose rows hold all items; absent where this report holds them, as before release 0.3. */
  readonly runId?: string;
  /** How many more there are than each list names; absent where none is cut. */
  readonly more?: Readonly<Partial<Record<CutList, number>>>;
  /** confirmed: nothing is wrong. restored: it is behind what Temporal was told. */
  readonly database: 'confirmed' | 'restored';
  readonly watermark: number;
  readonly raisedAt: string;
  /** null when Temporal was never told of a watermark. */
  readonly keptInTemporal: number | null;
  /** The lost time, as far as the watermark tells: it rises once a minute. */
  readonly lostMinutes: number;
  /** Rentals that are live here and that ended in the lost time. */
  readonly ended: readonly EndedRental[];
  /** Rentals that go on, with other limits than those of their history; absent in reports before release 0.3. */
  readonly limits?: readonly ChangedLimit[];
  /** Rentals that are live here and at Temporal: they go on, and the formula charges the lost time once. */
  readonly goingOn: number;
  /** Rentals that are live here, and of which Temporal knows no run: they go on until their machine is seen gone. */
  readonly withoutRun: readonly RentalId[];
  /** Rentals that were opened in the lost time: Temporal knows them and the database does not. */
  readonly lost: readonly LostRental[];
  /** Machines that no rental of this database owns. */
  readonly unknownPods: readonly UnknownPod[];
  /** Upstreams that did not answer: nothing is known of their machines. */
  readonly silentUpstreams: readonly string[];
  /** Payments that succeeded and that this database credits to nobody. */
  readonly missingPayments: readonly MissingPayment[];
  /** Payments that could not be read, each with its reason; absent in reports of release 0.1. */
  readonly unreadPayments?: readonly string[];
}

/** The lists of a report that may be cut; `differing` are the ended rentals whose bill differs. */
type CutList = 'ended' | 'differing' | 'limits' | 'withoutRun' | 'lost' | 'unknownPods' | 'missingPayments';

/** A rental that ended in the lost time. Reports before release 0.3 name the end of its run, and none of the rest. */
export interface EndedRental {
  readonly rentalId: RentalId;
  readonly status: string;
  /** The instant up to which it is billed. */
  readonly endedAt: string;
  readonly by?: EndedBy;
  /** Whether its run goes on: it ends by the signal that follows. */
  readonly isOpen?: boolean;
  /** The formula's bill where its user was shown another one, and the bill that it gets. */
  readonly differs?: {
    readonly formulaCents: number;
    readonly toldCents: number;
    readonly billCents: number;
  };
}

/** A limit that was changed in the lost time: the instants at which the rental ends by it, null without one. */
export interface ChangedLimit {
  readonly rentalId: RentalId;
  readonly here: string | null;
  readonly there: string | null;
  /** A limit that was lowered holds again; one that was raised is for operators to decide. */
  readonly isLowered: boolean;
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

/** The result of reconciling. */
export interface Reconciled {
  readonly endedRentals: number;
  readonly credited: readonly { readonly paymentId: string; readonly amountCents: number }[];
  /** Money that this database can credit to nobody; parked for operators. */
  readonly parked: readonly string[];
  /** What the two lists do not name; absent where they name all. */
  readonly more?: { readonly credited: number; readonly creditedCents: number; readonly parked: number };
  readonly listedPods: number;
  /** Steps that could not be done and were left, because an operator said so. */
  readonly undone?: readonly string[];
  readonly watermark: number;
}
