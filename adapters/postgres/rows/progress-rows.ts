/** What happened at an upstream with the machines of a family in one hour (UTC). */
export interface ReliabilityHourRow {
  provider_code: string;
  family: string;
  hour: Date;
  created: number;
  not_created: number;
  ready_seconds: number[];
  ssh_seconds: number[];
  losses: number;
  machine_ms: number;
}

/** The same over 30 days; the times are null when no machine came up. */
export interface ReliabilityRow {
  provider_code: string;
  family: string;
  created: number;
  not_created: number;
  ready_p50_seconds: number | null;
  ready_p90_seconds: number | null;
  ssh_p50_seconds: number | null;
  ssh_p90_seconds: number | null;
  losses: number;
  machine_ms: number;
  counted_at: Date;
}

/** An hour (UTC) in which an upstream's offers were read. */
export interface CatalogHourRow {
  hour: Date;
  provider_code: string;
}

/** What an upstream had on sale in an hour, by country; `*` for all countries together. */
export interface OfferHourRow {
  family: string;
  region_code: string;
  hour: Date;
  provider_code: string;
  lowest_price_per_hour_cents: number;
  offers: number;
}
