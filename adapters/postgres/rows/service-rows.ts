import type { AuditKind } from '../../../domain/accounts/audit.js';
import type {
  ApiKeyId,
  AuditEventId,
  ListingId,
  RentalId,
  SessionId,
  SshKeyId,
  UserId,
} from '../../../domain/ids.js';
import type { LedgerEntryType } from '../../../domain/ledger/ledger.js';
import type { QuotaWindow } from '../../providers/upstream/quotas.js';
import type { RentalStatus, StopReason } from '../../../domain/rentals/rental.js';

/** The rows as Postgres holds them; migrations/ says what each column means. */
export interface UserRow {
  id: UserId;
  email: string;
  processor_customer_id: string | null;
  blocked_at: Date | null;
  blocked_reason: string | null;
  /**
   * The most that auto-topup may charge in a day, by the installation's setting when the account was made; null: no
   * cap.
   */
  auto_topup_daily_cap_cents: number | null;
  created_at: Date;
}

export interface AuditEventRow {
  no: number;
  id: AuditEventId;
  user_id: UserId;
  kind: AuditKind;
  entity_id: string | null;
  details: Record<string, unknown> | null;
  client_address: string | null;
  at: Date;
  /** The key by which it was asked for; null: by a session, or by nobody outside. */
  api_key_id: ApiKeyId | null;
}

export interface SessionRow {
  /** Not to be shown: `id` is. */
  token_hash: Buffer;
  user_id: UserId;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  id: SessionId;
  user_agent: string | null;
  client_address: string | null;
  proved_at: Date | null;
}

export interface SshKeyRow {
  id: SshKeyId;
  user_id: UserId;
  name: string;
  public_key: string;
  fingerprint: string;
  created_at: Date;
}

export interface WalletRow {
  id: number;
  user_id: UserId;
  available_cents: number;
  reserved_cents: number;
  seq: number;
  low_since: Date | null;
  metering_blocked_at: Date | null;
  metering_blocked_reason: string | null;
  /** Up to which instant its running rentals have paid, in milliseconds since 1970; 0 before their first cent. */
  metered_ms: number;
  created_at: Date;
}

export interface LedgerEntryRow {
  wallet_id: number;
  seq: number;
  type: LedgerEntryType;
  amount_cents: number;
  balance_after_cents: number;
  rental_no: number | null;
  processor_charge_id: string | null;
  note: string | null;
  created_at: Date;
}

export interface LedgerCauseRow {
  cause: string;
  wallet_id: number;
  seq: number;
}

/** Why an upstream's offers are not for sale for a while. */
export type OutReason = 'failing' | 'failing_creates' | 'refused' | 'rate_limited' | 'no_funds';

export interface ProviderRow {
  code: string;
  catalog_synced_at: Date | null;
  pods_listed_at: Date | null;
  last_error: string | null;
  last_error_at: Date | null;
  failures: number;
  create_failures: number;
  out_until: Date | null;
  out_reason: OutReason | null;
  last_success_at: Date | null;
  missing_accepted_until: Date | null;
  paused_at: Date | null;
  paused_by: string | null;
  paused_reason: string | null;
  balance_cents: number | null;
  burn_cents_per_hour: number | null;
  balance_read_at: Date | null;
  /** The templates that it can start at all; null: nobody has told, so any. */
  template_ids: string[] | null;
}

export interface ProviderQuotasRow {
  provider_code: string;
  windows: QuotaWindow[];
  told_at: Date;
  next_read_at: Date;
}

export interface ListingRow {
  id: ListingId;
  provider_code: string;
  offer_id: string;
  model: string;
  family: string;
  vram_gb: number;
  gpu_count: number;
  price_per_hour_cents: number;
  region: string;
  region_code: string;
  interconnect: string;
  offered: boolean;
  /** null when the upstream does not tell. */
  max_boot_ms: number | null;
  /** null for all that the upstream can start. */
  template_ids: string[] | null;
  created_at: Date;
}

/** An upstream's present offers of a family, counted when its listings change. */
export interface ProviderFamilyRow {
  provider_code: string;
  family: string;
  from_price_per_hour_cents: number;
  listings: number;
}

export interface RentalRow {
  no: number;
  id: RentalId;
  wallet_id: number;
  user_id: UserId;
  status: RentalStatus;
  name: string | null;
  family: string;
  model: string;
  gpu_count: number;
  region: string;
  region_code: string;
  interconnect: string;
  template_id: string;
  ssh_key_ids: SshKeyId[];
  listing_id: ListingId;
  provider_code: string;
  tag: string;
  pod_id: string | null;
  host: string | null;
  port: number | null;
  username: string | null;
  host_key_fingerprint: string | null;
  price_per_hour_cents: number;
  max_spend_cents: number | null;
  auto_stop_after_ms: number | null;
  hold_cents: number;
  charged_cents: number;
  refunded_cents: number;
  released_cents: number;
  overage_cents: number;
  written_off_cents: number;
  started_at: Date;
  running_at: Date | null;
  auto_stop_at: Date | null;
  spend_limit_at: Date | null;
  ended_at: Date | null;
  settled_at: Date | null;
  terminated_at: Date | null;
  closed_at: Date | null;
  stop_reason: StopReason | null;
  error: string | null;
  opened_seq: number;
  settled_seq: number | null;
  /** Computed by the database, for its meter: running_at, and the earlier of auto_stop_at and spend_limit_at. */
  running_ms: number | null;
  limit_ms: number | null;
  /** The key that opened it; null: a session did. */
  api_key_id: ApiKeyId | null;
  /** How many public keys of its own it was rented with. */
  own_ssh_keys: number;
}

/**
 * A meter as it was last written (decision 126, "Meters that are not written"): of a running rental. What it shows now
 * stands in the view `meters`.
 */
export interface MeterReadingRow {
  rental_no: number;
  wallet_id: number;
  price_per_hour_cents: number;
  hold_cents: number;
  charged_cents: number;
  running_ms: number;
  limit_ms: number | null;
  /** Since when it waits for money; null: it does not. */
  starved_ms: number | null;
  /** Whether it has gone on with its wallet's metered_ms since. */
  follows_wallet: boolean;
}

/** A meter as it stands now. Whoever writes to it writes a new reading. */
export interface MeterRow extends Omit<MeterReadingRow, 'follows_wallet'> {
  /** Computed: the first millisecond in which a cent more is due, or the limit. */
  readonly due_ms: number;
}

export interface StopRequestRow {
  rental_no: number;
  requested_at: Date;
  requested_by: 'user' | 'operator';
  reason: string | null;
  open: boolean;
  /** requested_at, computed by the database. */
  requested_ms: number | null;
}

/** The evidence for a lost machine's settlement, kept when its pod's row has served its time. */
export interface LostMachineRow {
  rental_no: number;
  last_alive_at: Date;
  settled_at: Date;
}

export type AttemptState = 'open' | 'adopted' | 'condemned' | 'failed' | 'gone';

/** Who is to blame for an attempt that was given up: the upstream did not deliver, or we gave it up. */
export type FailedBy = 'upstream' | 'us';

export interface AllocationAttemptRow {
  id: number;
  rental_id: RentalId;
  attempt: number;
  provider_code: string;
  listing_id: ListingId;
  offer_id: string;
  tag: string;
  price_per_hour_cents: number;
  state: AttemptState;
  pod_id: string | null;
  error: string | null;
  created_at: Date;
  changed_at: Date;
  end_by: Date | null;
  given_up_at: Date | null;
  slow_end_told_at: Date | null;
  /** The time within which its machine must answer, from its beginning; null for one of release 0.1. */
  deadline_ms: number | null;
  /** When the SSH daemon of its machine was first seen to answer. */
  answered_at: Date | null;
  /** Why it was given up; null where nobody said so. */
  failed_by: FailedBy | null;
}

export interface PodRow {
  provider_code: string;
  pod_id: string;
  tag: string;
  status: 'pending' | 'active' | 'lost' | 'ending';
  upstream_status: string;
  host: string | null;
  port: number | null;
  username: string | null;
  price_per_hour_cents: number | null;
  first_seen_at: Date;
  last_alive_at: Date | null;
  missing_lists: number;
  gone_at: Date | null;
  probed_at: Date | null;
  silent_probes: number;
  host_key_changed: boolean;
  held_since: Date | null;
  /** When a list first showed it active. */
  active_at: Date | null;
}

/** A view: the cost of pods that nobody pays for. */
export interface PodLeakRow {
  provider_code: string;
  pod_id: string;
  tag: string;
  rental_id: RentalId | null;
  kind: 'unknown tag' | 'ending' | 'given up';
  since: Date;
  gone_at: Date | null;
  slow_end_told_at: Date | null;
  seconds: number;
  cents: number;
}

/** A view: the cost of machines until their rentals ended, where nobody pays for them. */
export interface FreeMachineRow {
  provider_code: string;
  rental_id: RentalId;
  user_id: UserId;
  settled_at: Date;
  kind: 'lost at once' | 'below a cent' | 'never ready' | 'stopped while provisioning';
  seconds: number;
  cents: number;
}

export interface ProviderOddityRow {
  provider_code: string;
  kind: string;
  subject: string;
  times: number;
  first_seen_at: Date;
  last_seen_at: Date;
}

export type IntentKind = 'end_rental' | 'pod_lost' | 'auto_topup' | 'low_balance';

export interface IntentRow {
  id: number;
  kind: IntentKind;
  wallet_id: number;
  rental_no: number | null;
  created_at: Date;
  delivered_at: Date | null;
  acknowledged_at: Date | null;
}

export interface MeterShardRow {
  shard: number;
  shards: number;
  ticks: number;
  last_tick_at: Date;
  /** The instant of the last look at all meters, in milliseconds since 1970; 0 before the first. */
  looked_ms: number;
  /** The ids of wallets in which something was due by that look, and which are not metered yet. */
  behind: string[];
}
