/** A request of a user for a stop: when it left, and when its answer came. Milliseconds since 1970. */
export interface ToldStop {
  readonly rentalId: string;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly status: number | 'lost';
}

/** A rental as its user was told of it. */
export interface ToldRental {
  readonly rentalId: string;
  readonly email: string;
  readonly pricePerHourCents: number;
  readonly autoStopAfterHours: number | undefined;
  readonly maxSpendCents: number | undefined;
  readonly answeredMs: number;
}

/** What all users were told, for the oracle. */
export class Told {
  readonly rentals = new Map<string, ToldRental>();
  readonly stops: ToldStop[] = [];
  /** Rentals of which a 503 said that they will never be. */
  readonly never = new Set<string>();
  /** Requests by their kind and answer, such as "create 200". */
  readonly reached = new Map<string, number>();
  readonly strange: string[] = [];
}
