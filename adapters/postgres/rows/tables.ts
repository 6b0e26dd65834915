// Made from the schema by `npm run rows`: change migrations/ or tools/row-types/told.ts.
import type { Knex } from 'knex';
import type { ApiKeyScope } from '../../../domain/accounts/api-keys.js';
import type { EventType } from '../../../domain/events/events.js';
import type {
  ApiKeyId,
  AuditEventId,
  ChangeId,
  DeliveryId,
  EventId,
  InvoiceId,
  LineItemId,
  ListingId,
  OperationId,
  PasskeyId,
  QuoteId,
  RentalId,
  SessionId,
  SoftwareId,
  SshKeyId,
  TopupId,
  UserId,
  WebhookId,
} from '../../../domain/ids.js';
import type { BillingDetails, Seller } from '../../../domain/payments/receipt.js';
import type { OperationResult, OrderedAction } from '../../../domain/operations/operation.js';
import type { FindingKind } from '../../../domain/operations/reconcile.js';
import type { EventWorkflow } from '../../../domain/payments/processor-routes.js';
import type { RefusalCode, RefusalDetails } from '../../../domain/refusal.js';
import type { AskedChange } from '../../../domain/rentals/changes.js';
import type { PodPort } from '../../../domain/rentals/endpoints.js';
import type { Labels } from '../../../domain/rentals/labels.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import type { TelemetryTold } from '../../../domain/machines/telemetry.js';
import type { IdleGuard, Ignorable } from '../../../domain/rentals/idle-guard.js';
import type { SoftwareCapabilities, SoftwareOutline } from '../../../domain/rentals/software.js';
import type { QuotaWindow } from '../../providers/upstream/quotas.js';

/** The closing of an account (decision 182, "Closing an account"): one row, from the wish on and for good. */
export interface AccountClosingRow {
  user_id: UserId;
  requested_at: Date;
  /** restored: a restored database brought back what was erased. */
  requested_by: 'user' | 'operator' | 'restored';
  /**
   * stopping: what runs ends. settling: debts and disputes are waited for. returning: money goes back to its cards.
   * erasing: the person goes. kept: the person is gone, and something is still open under the number.
   */
  state: 'stopping' | 'settling' | 'returning' | 'erasing' | 'kept' | 'closed';
  /** What it waits for, in words of domain/accounts/closing.ts. */
  waits_for: string[];
  /** How often given money lapsed: money may come back after the first time. */
  lapses: number;
  lapsed_cents: number;
  /** How far each large table was searched for the person's words, by table: the key of a row. */
  swept: Record<string, unknown[]>;
  erased_at: Date | null;
  /** Until then, what comes late about the person is looked for. */
  late_until: Date | null;
  closed_at: Date | null;
  /**
   * The address of somebody whom a restored database brought back, and who is shut out since: their words are found
   * by it until they are erased again (decision 183, "What closing erases"). Null for everybody else, and once they
   * are.
   */
  former_email: string | null;
}

/**
 * What an account has in common with others: the fingerprints of cards that it paid by or saved, and the address
 * from which it was made.
 */
export interface AccountTieRow {
  user_id: UserId;
  kind: 'card' | 'address' | 'mailbox';
  value: string;
  tied_at: Date;
}

/**
 * Written on a connection of its own before each upstream call (decision 21, "Lost upstream answers"): no foreign
 * keys, which would wait for the lock that the writer's own transaction holds.
 */
export interface AllocationAttemptRow {
  id: number;
  rental_id: RentalId;
  attempt: number;
  provider_code: string;
  listing_id: ListingId;
  offer_id: string;
  tag: string;
  price_per_hour_cents: number;
  /**
   * open: may have bought a pod. adopted: its pod is the rental's. condemned: its pod, if any, must end. failed:
   * bought nothing. gone: was condemned, and the upstream shows nothing of it.
   */
  state: 'open' | 'adopted' | 'condemned' | 'failed' | 'gone';
  pod_id: string | null;
  error: string | null;
  created_at: Date;
  changed_at: Date;
  /** When the upstream itself ends the pod, unless that is renewed: the dead man's switch. */
  end_by: Date | null;
  /** When it was decided that its pod must end, or that there is none. */
  given_up_at: Date | null;
  /** Operators were told that its pod does not end. */
  slow_end_told_at: Date | null;
  /** By when a machine of the attempt must answer, from its beginning (decision 76, "Boot deadlines and fit"). */
  deadline_ms: number | null;
  /** When the SSH daemon of its machine was first seen to answer. */
  answered_at: Date | null;
  /** Why it was given up: the upstream did not deliver, or we gave it up. Null where nobody said so. */
  failed_by: 'upstream' | 'us' | null;
  launch_at: Date | null;
  asked_at: Date | null;
  not_before: Date | null;
  /** The same for a machine that is bought there: its rental ends before. */
  available_until: Date | null;
}

/** Where a machine answered, from the moment that it did until its billing begins. */
export interface AnsweredMachineRow {
  rental_no: number;
  host: string | null;
  port: number | null;
  username: string | null;
  host_key_fingerprint: string | null;
  answered_at: Date;
  ready_by: 'ssh' | 'port' | 'grace' | null;
}

export interface ApiKeyRow {
  id: ApiKeyId;
  user_id: UserId;
  name: string;
  /** The key itself is shown once and never kept. */
  token_hash: Buffer;
  /** Its last characters, by which its owner knows it in a list. */
  hint: string;
  scopes: ApiKeyScope[];
  /** From where it may be used; null: from anywhere. */
  allowed_cidrs: string[] | null;
  expires_at: Date;
  /** What its rentals may cost in all; null: no cap. Spent and reserved are written under its wallet's lock alone. */
  spend_cap_cents: number | null;
  spent_cents: number;
  reserved_cents: number;
  created_at: Date;
  last_used_at: Date | null;
  last_used_address: string | null;
  revoked_at: Date | null;
  /** Its database was restored, and may have forgotten that it was revoked: its owner signs in first. */
  suspended_at: Date | null;
  /** From when on it is of no use. */
  ended_at: Date;
  /**
   * Lets a key end only the machines that it opened (decision 133, "Keys that end their own"). Those of before end
   * all.
   */
  ends: 'all' | 'own';
}

export interface AuditEventRow {
  no: number;
  id: AuditEventId;
  user_id: UserId;
  kind:
    | 'signed_in'
    | 'signed_out'
    | 'proof_refreshed'
    | 'ssh_key_added'
    | 'ssh_key_removed'
    | 'rental_created'
    | 'rental_changed'
    | 'rental_stopped'
    | 'rental_ended'
    | 'checkout_begun'
    | 'card_saved'
    | 'card_removed'
    | 'auto_topup_changed'
    | 'billing_details_changed'
    | 'changed_by_operator'
    | 'charges_held'
    | 'notices_changed'
    | 'webhook_created'
    | 'webhook_changed'
    | 'webhook_removed'
    | 'webhook_switched_off'
    | 'budget_changed'
    | 'api_key_created'
    | 'api_key_changed'
    | 'api_key_revoked'
    | 'passkey_added'
    | 'passkey_removed'
    | 'passkey_refused'
    | 'account_exported';
  /** The key, rental, top-up, card or operation that it is about. */
  entity_id: string | null;
  /** What that entity's own row does not keep, such as settings that are overwritten. */
  details: Record<string, unknown> | null;
  /** From where; null where no request of the user's is known. */
  client_address: string | null;
  at: Date;
  /** Keys go by age; that they did something stays. */
  api_key_id: ApiKeyId | null;
}

/**
 * The settings of auto-topup, and when it may fire next. The metering statement reads it for each wallet it
 * charges; no row, and it costs nothing.
 */
export interface AutoTopupRow {
  wallet_id: number;
  user_id: UserId;
  enabled: boolean;
  threshold_cents: number | null;
  topup_amount_cents: number;
  daily_cap_cents: number | null;
  /** Why it is off; null when its owner wished so, or it is on. */
  disabled_why: 'charge_failed' | 'card_removed' | 'card_expired' | 'charges_held' | null;
  /**
   * The cooldown of decision 34, "Trigger of auto-topup": set when an attempt begins, and whenever there is nothing
   * to do but to wait.
   */
  next_attempt_at: Date | null;
  updated_at: Date;
}

/** The machines that were called bad, one for each purchase. */
export interface BadMachineRow {
  attempt_id: number;
  rental_id: RentalId;
  provider_code: string;
  /** The upstream's own name of the machine under it; null where it tells none, so that nobody knows it again. */
  machine: string | null;
  faults: string[];
  /** What became of its rental's money: billing never began, all was given back, or the bill stands. */
  outcome: 'not_billed' | 'refunded' | 'billed';
  /** Whether anybody but its renter says so. */
  confirmed: boolean;
  found_at: Date;
}

/**
 * Whom statements and receipts are made out to, and what a receipt says of a payment for good (decision 148,
 * "Receipts and buyers").
 */
export interface BillingDetailRow {
  user_id: UserId;
  name: string | null;
  address: string | null;
  tax_id: string | null;
  changed_at: Date;
}

/**
 * Decision 37, "Brakes and the watermark": the global brakes, and the watermark by which a restored database is
 * noticed.
 */
export interface BrakeRow {
  kind: 'creates' | 'charges' | 'metering' | 'restored' | 'webhooks';
  pulled_by: string;
  reason: string;
  pulled_at: Date;
}

/** What users were told about their budgets: once a month for each share. */
export interface BudgetAlertRow {
  user_id: UserId;
  /** In UTC, such as 2026-11. */
  month: string;
  percent: number;
  monthly_cents: number;
  spent_cents: number;
  told_at: Date;
}

export interface BudgetRow {
  user_id: UserId;
  /** What the rentals of one month in UTC may cost in all; null: no budget. */
  monthly_cents: number | null;
  /** Whether nothing is opened that does not fit; else its user is told only. */
  hard: boolean;
  changed_at: Date;
  /** Up to when the worker knows what was spent; null: it has not looked yet. */
  looked_at: Date | null;
}

/** Each saving of a card that was begun: its number makes the key of the processor's call. */
export interface CardSetupRow {
  no: number;
  user_id: UserId;
  setup_id: string | null;
  created_at: Date;
}

/** The hours (UTC) in which an upstream's offers were read. */
export interface CatalogHourRow {
  hour: Date;
  provider_code: string;
}

export interface ChargeMarkRow {
  /** The dispute's, or the early fraud warning's, at the processor. */
  id: string;
  kind: 'dispute' | 'early_fraud_warning';
  charge_id: string;
  /** Whose payment it was, and which card paid it; a card is known by its fingerprint, whoever saves it. */
  user_id: UserId | null;
  fingerprint: string | null;
  marked_at: Date;
  /** By an operator; who and why stands in operator_actions. */
  lifted_at: Date | null;
}

/**
 * The mailboxes and cards of closed accounts, each as a number that only the installation's key makes: nobody can
 * read them, and a later account of the same mailbox or card is recognized (decision 183, "What closing erases").
 */
export interface ClosedMarkRow {
  value: string;
  user_id: UserId;
  kind: 'mailbox' | 'card';
}

/**
 * What goes back of a payment to the card that paid it. The row is committed before the processor is asked: it
 * makes the key of the call, so that a refund whose answer was lost is found and not made twice.
 */
export interface ClosingRefundRow {
  id: number;
  user_id: UserId;
  payment_id: string;
  amount_cents: number;
  asked_at: Date;
  /** When the processor was called last; null until then. */
  called_at: Date | null;
  /** The processor's; null until it has answered. */
  refund_id: string | null;
  /** The card or the payment takes nothing back, in the processor's word: another payment is tried for the rest. */
  refused_code: string | null;
  /** The account had changed before it was carried out. */
  withdrawn_at: Date | null;
  /**
   * How often the processor refused a refund for now: each try after that has a key of its own, and the row stays
   * the same.
   */
  refused_tries: number;
}

/**
 * Up to where the processor's own list of events was read. It starts now: what an account did before this database
 * existed is not this database's business.
 */
export interface EventCursorRow {
  singleton: boolean;
  seen_until: Date;
}

/** The last number of each user. Only the sequencer writes it. */
export interface EventFeedRow {
  user_id: UserId;
  last_seq: number;
}

/** What transactions tell. Rows stay for a fraction of a second. */
export interface EventOutboxRow {
  no: number;
  id: EventId;
  user_id: UserId;
  type: EventType;
  entity_id: string;
  data: Readonly<Record<string, unknown>>;
  at: Date;
}

/**
 * "no" ascends in the order of commits, because only one sequencer works at a time: who has read up to a number
 * finds all that is new above it. "seq" is the number within the user's feed, from 1 on and without a gap.
 */
export interface EventRow {
  no: number;
  id: EventId;
  user_id: UserId;
  seq: number;
  type: EventType;
  entity_id: string;
  data: Readonly<Record<string, unknown>>;
  at: Date;
  sequenced_at: Date;
}

/**
 * Tries of codes that did not sign in, by the user whose address they named. Counters and no audit rows: strangers
 * make as many as they like.
 */
export interface FailedSignInsRow {
  user_id: UserId;
  hour: Date;
  failed: number;
}

/** What a machine cost until its rental ended, at the upstream's price; pod_leaks goes on from there. */
export interface FreeMachineRow {
  provider_code: string;
  rental_id: RentalId;
  user_id: UserId;
  settled_at: Date;
  kind: 'lost at once' | 'below a cent' | 'never ready' | 'stopped while provisioning';
  seconds: number;
  cents: number;
}

/**
 * Decision 6, "Idempotent retries". The row is committed before the work begins and names the entity that the work
 * makes.
 */
export interface IdempotencyKeyRow {
  user_id: UserId;
  endpoint: string;
  key: string;
  body_hash: Buffer;
  target_id: string;
  response_status: number | null;
  response_body: unknown;
  created_at: Date;
}

/**
 * Whose an account at an identity provider is: by issuer and subject (OpenID Connect Core 5.7), which stay, and
 * not by an address, which may be given to somebody else.
 */
export interface IdentityRow {
  issuer: string;
  subject: string;
  user_id: UserId;
  linked_at: Date;
}

/** The rentals that stop when they are idle (decision 167, "The idle guard"), by their renters' wish. */
export interface IdleGuardRow {
  rental_no: number;
  /** For how many minutes a machine must be idle, and what of its use does not count. */
  minutes: number;
  ignores: Ignorable[];
  /** Since when it is idle, and until when that was seen; null: it was in use, or nobody tells. */
  idle_since: Date | null;
  seen_at: Date | null;
  /** When it stops, as its renter was warned; null before. */
  stops_at: Date | null;
  /** Until then it does not stop for being idle. */
  keep_alive_until: Date | null;
}

/** Made once for each installation. They guard no money: with them one could count wallets, or ask for mails. */
export interface InstallationKeyRow {
  name: 'ledger_ids' | 'known_browsers' | 'unsubscribe_links';
  key: Buffer;
  created_at: Date;
}

/** What a transaction leaves for whoever must act: delivered at least once, kept until acknowledged. */
export interface IntentRow {
  id: number;
  kind: 'end_rental' | 'pod_lost' | 'auto_topup' | 'low_balance';
  wallet_id: number;
  rental_no: number | null;
  created_at: Date;
  delivered_at: Date | null;
  acknowledged_at: Date | null;
}

export interface InvoiceLineItemRow {
  id: LineItemId;
  invoice_id: InvoiceId;
  description: string;
  amount_cents: number;
  rental_no: number | null;
  period_start: Date | null;
  period_end: Date | null;
}

export interface InvoiceRow {
  id: InvoiceId;
  user_id: UserId;
  wallet_id: number;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  reason: 'topup_failed' | 'overage' | 'manual';
  amount_cents: number;
  currency: 'USD';
  rental_no: number | null;
  /** What it was made for, so that a retry makes no second one. */
  cause: string;
  processor_invoice_id: string | null;
  hosted_invoice_url: string | null;
  invoice_pdf_url: string | null;
  receipt_url: string | null;
  created_at: Date;
  finalized_at: Date | null;
  due_at: Date | null;
  paid_at: Date | null;
  voided_at: Date | null;
  /** Somebody wants it void. It is void once the processor's invoice is, which may turn out to be paid. */
  void_requested_at: Date | null;
  void_reason: string | null;
  /** An operator gives it up before its time. */
  write_off_requested_at: Date | null;
  /** The payment that settled it; null when it was paid out of band, or is not paid. */
  payment_id: string | null;
  /** Its workflow should look at it: at first, and whenever somebody changed what it goes by. */
  attention_at: Date | null;
  told_at: Date | null;
  /** Nothing more is expected but a late payment. */
  closed_at: Date | null;
}

/** What is no charge of a rental: these entries keep their rows for good. */
export interface KeptEntryRow {
  wallet_id: number;
  seq: number;
  type: 'processor_topup' | 'auto_topup' | 'rental_charge' | 'refund' | 'adjustment';
  amount_cents: number;
  balance_after_cents: number;
  rental_no: number;
  processor_charge_id: string;
  note: string;
  created_at: Date;
}

/**
 * The mails that are kept, without texts that carry a code, and without the address that switches mails off by
 * itself: the API may not read those. Nor are mails to operators (OperatorMailCause in
 * adapters/postgres/upkeep/outbox.ts) their reader's own, whoever has that address.
 */
export interface KeptMailRow {
  id: number;
  recipient: string;
  subject: string;
  created_at: Date;
  sent_at: Date | null;
  body: string | null;
}

/** What an entry that is not a tick was written for, once and for all: payment:pi_…, refund:rent_…. */
export interface LedgerCauseRow {
  cause: string;
  wallet_id: number;
  seq: number;
}

/**
 * No foreign keys to wallets and rentals: they are checked row by row, and metering writes by the hundred
 * thousand. The chain trigger below checks the wallet for all rows at once.
 */
export interface LedgerEntryRow {
  wallet_id: number;
  seq: number;
  type: 'processor_topup' | 'auto_topup' | 'rental_charge' | 'refund' | 'adjustment';
  amount_cents: number;
  balance_after_cents: number;
  rental_no: number | null;
  processor_charge_id: string | null;
  note: string | null;
  created_at: Date;
}

/**
 * The hash of an operator's note that was erased with its user: the proof of the ledger says the same without the
 * words.
 */
export interface LedgerErasedNoteRow {
  wallet_id: number;
  seq: number;
  hash: Buffer;
}

/**
 * The hash of each seal that was ever made, and the root that covers it. It stays when a seal goes, and the same
 * run of numbers is sealed again, as a published root holds what follows from it.
 */
export interface LedgerHasheRow {
  wallet_id: number;
  last_seq: number;
  first_seq: number;
  epoch: number;
  root: number;
  hash: Buffer;
}

/** What keeps a note from being guessed by its hash. */
export interface LedgerNoteSaltRow {
  wallet_id: number;
  seq: number;
  salt: Buffer;
}

/** One night's root. It is begun, then its tree is built, then it is signed. */
export interface LedgerRootRow {
  number: number;
  epoch: number;
  made_at: Date;
  /** When the day's walk began that sealed what it covers. */
  walk_began_at: Date | null;
  /** The hashes of empty places derive from it. */
  salt: Buffer;
  /** The 4,096 nodes of the tree's twelfth level, left to right. */
  nodes: Buffer | null;
  tree: Buffer | null;
  /** The signed line, and what the key before said of a new key. */
  line: string | null;
  endorsed: string | null;
  signature: string | null;
  signed_at: Date | null;
}

/**
 * The rows themselves, of which a sealed wallet has few: only what knows of seals reads them. The right to read
 * the table is taken from the service while anything is sealed, so a process of an earlier release fails and shows
 * no half ledger.
 */
export interface LedgerRowRow {
  wallet_id: number;
  seq: number;
  type: 'processor_topup' | 'auto_topup' | 'rental_charge' | 'refund' | 'adjustment';
  amount_cents: number;
  balance_after_cents: number;
  rental_no: number;
  processor_charge_id: string;
  note: string;
  created_at: Date;
}

/** Whether the ledger is sealed, and how far the walk over all wallets has come; one row. */
export interface LedgerSealingRow {
  id: boolean;
  is_on: boolean;
  changed_at: Date;
  /**
   * The wallets up to this one are done, in the walk that began then. The first walk of a day (UTC) seals each
   * wallet up to its newest entry.
   */
  walked_wallet: number;
  walk_began_at: Date | null;
  is_daily: boolean;
  /** When the last walk ended, and the last one of a day. */
  walked_at: Date | null;
  daily_at: Date | null;
  epoch: number;
}

/** One run of a wallet's numbers, without a gap from the seal before it on. */
export interface LedgerSealRow {
  wallet_id: number;
  first_seq: number;
  last_seq: number;
  /** The balance before the first entry, and after the last one. */
  opening_cents: number;
  closing_cents: number;
  /** When the first entry was written, in milliseconds since 1970. */
  first_ms: number;
  /**
   * Entry by entry: milliseconds since the one before it (a clock may be set back), the amount, and whose charge it
   * is: a place in rental_nos, or 0 for an entry that keeps its row. What int does not hold is kept wide.
   */
  gaps_ms: number[] | null;
  wide_gaps_ms: number[] | null;
  amounts_cents: number[] | null;
  wide_amounts_cents: number[] | null;
  places: number[];
  /**
   * Rental by rental, of the charges that are sealed: how many, what they sum up to, and between which instants they
   * were written.
   */
  rental_nos: number[];
  rental_entries: number[];
  rental_cents: number[];
  rental_earliest_ms: number[];
  rental_latest_ms: number[];
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
  /** In the provider's last catalog; whether that is fresh, the provider's row says (decision 13, "Live listings"). */
  offered: boolean;
  created_at: Date;
  /** How long the upstream says that it may take to boot; null when it does not say. */
  max_boot_ms: number | null;
  /** What it can be started from; null for all that its upstream can start. */
  template_ids: string[] | null;
  vcpus: number | null;
  memory_gb: number | null;
  disk_gb: number | null;
  network_mbps: number | null;
  cuda_version: string | null;
  driver_version: string | null;
  available_until: Date | null;
  /** The upstream's own name of the machine that the offer is on; null where it tells none. */
  host: string | null;
  /**
   * When an offer came on sale, or left: one that left long ago goes (decision 191, "Offers that left"). Those that
   * are there count from now on; the constant needs no rewriting of the table.
   */
  offer_changed_at: Date;
}

export interface LoginCodeRow {
  id: number;
  email: string;
  /** Null for a request that was answered and not mailed: the mailbox had its share. */
  code_hash: Buffer | null;
  client_address: string;
  tries: number;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
  /** What counts as one mailbox, whatever its tags; only counted by. Null for codes of the release before. */
  mailbox: string | null;
  /** Of the cookie of the browser that asked; null where none is known. */
  browser_hash: Buffer | null;
  /**
   * Who asked: anybody, a browser in which this address has signed in before, or an identity provider that vouches
   * for the address. Each has a budget of mails of its own.
   */
  asked_by: 'anybody' | 'known_browser' | 'identity';
  /** Wrong tries of other browsers than the one that asked, and of clients without cookies. */
  other_tries: number;
  /** The account elsewhere that is linked when the code is typed in the browser that asked. */
  issuer: string | null;
  subject: string | null;
}

/**
 * Which workflows were told to look and have not looked since, and how often each was told today: the server takes
 * a limited number of signals per run, and refuses all others from then on.
 */
export interface LookSignalRow {
  workflow_id: string;
  workflow_type: string;
  /** When it was last wanted, told or not. */
  wanted_at: Date;
  /** Since when a signal is unhandled; null: none is. */
  told_at: Date | null;
  /** How many it was sent on this day (UTC). */
  counted_on: Date;
  signals: number;
}

export interface LostMachineRow {
  rental_no: number;
  last_alive_at: Date;
  settled_at: Date;
}

/**
 * Roots that a restore lost (decision 140, "Proof of the ledger"), as the signer's file still has them. The list
 * of roots shows them too, so that each root leads back to the first one; no tree of theirs is left, so no proof
 * stands under them.
 */
export interface LostRootRow {
  number: number;
  line: string;
  endorsed: string | null;
  signature: string;
  read_back_at: Date;
}

/** What machines told: the newest hundred of each attempt. */
export interface MachineReportRow {
  attempt_id: number;
  /** Counts the attempt's reports from 1 on. */
  no: number;
  received_at: Date;
  body: string;
  verdict: 'ok' | 'not_told' | 'bad' | null;
}

/**
 * The tokens of an attempt's machine, one for each purpose. Only their hashes are here, and what a bundle's token
 * opens.
 */
export interface MachineTokenRow {
  token_sha256: Buffer;
  attempt_id: number;
  /** bundle: fetches what the machine runs. report: tells how the machine is. use (086): tells how much it is used. */
  purpose: 'bundle' | 'report' | 'use';
  /** Sealed by a key that is made from the token; null once it was acknowledged, and for reports. */
  sealed: Buffer | null;
  fetches: number;
  first_fetched_at: Date | null;
  acknowledged_at: Date | null;
  /** How many reports came by it. */
  reports: number;
  created_at: Date;
  /** A bundle that stays sealed here once it is acknowledged: its upstream tells when it starts the machine again. */
  kept: boolean;
  /** The start of the machine after which it may be fetched again; null: its first. */
  opened_for: Date | null;
  /** How many restarts opened it again since reopened_since. */
  reopened: number;
  /** When the day began in which reopened counts; null: no restart yet. */
  reopened_since: Date | null;
}

/** The newest report of each machine that tells its use. Each takes the place of the one before, on the same page. */
export interface MachineUseRow {
  attempt_id: number;
  /** By our clock. */
  received_at: Date;
  /** How long the machine ran, in seconds, as it counts: the next report has more. */
  uptime: number;
  body: string;
  /** When its first report came: no index knows what each report changes. */
  created_at: Date;
}

/** Decision 36, "The mail outbox". The cause is unique, so that a retry never mails twice. */
export interface MailOutboxRow {
  id: number;
  cause: string;
  recipient: string;
  subject: string;
  /** Wiped once sent when it carries a code. */
  body: string | null;
  wipe_after_sending: boolean;
  tries: number;
  next_try_at: Date;
  last_error: string | null;
  created_at: Date;
  sent_at: Date | null;
  /** Null for mails of 0.1, which are text alone. */
  html: string | null;
  /** Switches mails of its kind off (RFC 8058); null for those that are always sent. */
  unsubscribe_url: string | null;
}

/**
 * What metering writes of a rental that runs, apart from the rental's long row: an update copies the whole row. It
 * exists exactly while the rental runs. A reading is written once or twice: little of each page need stay free.
 */
export interface MeterReadingRow {
  rental_no: number;
  wallet_id: number;
  price_per_hour_cents: number;
  hold_cents: number;
  charged_cents: number;
  running_ms: number;
  limit_ms: number | null;
  /** Set while the rental waits for an auto-topup because the money ended. */
  starved_ms: number | null;
  /** Whether the meter has gone on with its wallet since it was read. */
  follows_wallet: boolean;
}

export interface MeterShardRow {
  shard: number;
  shards: number;
  ticks: number;
  last_tick_at: Date;
  /**
   * The instant of the shard's last look, and the wallets that it saw and could not lock: the next look takes those,
   * and what has come due since.
   */
  looked_ms: number;
  behind: number[];
}

/**
 * A meter as it stands. What was charged since the reading came from the hold first (decision 24, "Order of
 * funds").
 */
export interface MeterRow {
  rental_no: number;
  wallet_id: number;
  price_per_hour_cents: number;
  hold_cents: number;
  charged_cents: number;
  running_ms: number;
  limit_ms: number | null;
  starved_ms: number | null;
  due_ms: number;
}

/** What a user has switched off; what is about money or the account itself can't be. */
export interface NoticeSettingRow {
  user_id: UserId;
  kind:
    | 'rental_auto_stop'
    | 'rental_spend_limit'
    | 'rental_idle_near'
    | 'rental_idle'
    | 'rental_operator_stop'
    | 'rental_lost'
    | 'rental_failed'
    | 'statement'
    | 'webhook_switched_off';
  switched_off_at: Date;
}

export interface OAuthStateRow {
  /** The state goes through the provider and the browser's address; its hash alone is kept. */
  state_hash: Buffer;
  /**
   * Of the cookie of the browser that began: a callback in another browser is not answered (decision 57, "Failed
   * sign-in elsewhere").
   */
  browser_hash: Buffer;
  provider: 'google' | 'github' | 'oidc';
  /** RFC 7636 4.1. It must be sent as it is, and is worth nothing without the code and the client's secret. */
  code_verifier: string;
  nonce: string;
  return_path: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

/**
 * Signed by the processor, and not to be read as an event: kept for operators, answered 200. The same body that is
 * delivered again is the same row.
 */
export interface OddEventRow {
  id: number;
  body_hash: Buffer;
  /** Its beginning. */
  body: string;
  reason: string;
  deliveries: number;
  first_received_at: Date;
  last_received_at: Date;
}

/**
 * What an upstream had on sale in an hour, by family and country, and for all countries together ('*'). What was
 * not on sale at all in the hour has no row.
 */
export interface OfferHourRow {
  family: string;
  region_code: string;
  hour: Date;
  provider_code: string;
  lowest_price_per_hour_cents: number;
  /** How many offers there were when it was last read in this hour. */
  offers: number;
}

/** "no" tells which is older. */
export interface OpenStreamRow {
  no: number;
  id: string;
  host_id: string;
  user_id: UserId;
  token_hash: Buffer | null;
  opened_at: Date;
  /** Newer ones of its user have taken its place. The process that holds it ends it and removes the row. */
  crowded_out: boolean;
  /** A stream is of a session or of a key. */
  api_key_id: ApiKeyId | null;
  /**
   * The token of a session changes when its user shows anew who they are. Its streams were opened by the former one:
   * the process that holds them ends them.
   */
  outdated: boolean;
}

export interface OperatorActionRow {
  id: OperationId;
  kind: string;
  operator: string;
  reason: string;
  /** What was asked for, and what came of it. */
  request: unknown;
  result: unknown;
  done_at: Date;
  /** Whose login wrote what an operator did: beside the name that they gave, which nobody checks. */
  login: string | null;
}

/** Written by whoever meets it, in its own transaction; logged and mailed by the next housekeeping. */
export interface OperatorNoticeRow {
  id: number;
  cause: string;
  subject: string;
  body: string;
  noted_at: Date;
  told_at: Date | null;
  html: string | null;
}

export interface OperatorOrderItemRow {
  order_id: OperationId;
  rental_no: number;
  /** At most so much is given back. */
  amount_cents: number;
  /** What was given back: less where others gave it back first. Null until it is done. */
  refunded_cents: number | null;
  done_at: Date | null;
}

export interface OperatorOrderRow {
  /** Its workflow's id, and part of the cause of the ledger entry that it makes. */
  id: OperationId;
  kind:
    | 'refund'
    | 'refund_rentals'
    | 'adjust'
    | 'issue_invoice'
    | 'void_invoice'
    | 'write_off_invoice'
    | 'terminate_rental'
    | 'close_ports'
    | 'reconcile_restored';
  /** What is asked for, as domain/operations/operation.ts says it. */
  request: OrderedAction;
  amount_cents: number | null;
  reason: string;
  /** The name that whoever asks has given; nobody checks it. A login of their own says it better. */
  said_by: string | null;
  requested_by: string;
  requested_at: Date;
  /** approved, rejected: by an operator who did not request it. done, refused: by the worker, for good. */
  status: 'requested' | 'approved' | 'rejected' | 'done' | 'refused';
  approved_by: string | null;
  approved_at: Date | null;
  rejected_by: string | null;
  rejected_why: string | null;
  closed_at: Date | null;
  /** Why it was refused, or what came of it. */
  code: string | null;
  message: string | null;
  /** As it was written: people read it in this order. */
  result: OperationResult | null;
}

/** Money that came in and could not be credited: another currency, or nobody that it belongs to. */
export interface ParkedPaymentRow {
  payment_id: string;
  topup_id: string | null;
  user_id: string | null;
  amount_cents: number;
  currency: string;
  reason: string;
  parked_at: Date;
  resolved_at: Date | null;
  resolution: string | null;
  credited_by: OperationId | null;
}

/** What an authenticator is asked to sign, once. Each is good for the session, or the browser, that asked for it. */
export interface PasskeyChallengeRow {
  challenge_hash: Buffer;
  purpose: 'registration' | 'sign_in' | 'proof';
  session_id: SessionId | null;
  browser_hash: Buffer | null;
  expires_at: Date;
  used_at: Date | null;
}

/**
 * Passkeys (decision 178, "Sign-in by passkey"): the public half of what a user's device keeps, and may sign in
 * with.
 */
export interface PasskeyRow {
  id: PasskeyId;
  user_id: UserId;
  /** Made by the authenticator (WebAuthn 4: at most 1023 bytes), and one user's alone. */
  credential_id: Buffer;
  /** COSE_Key (RFC 9052 7). */
  public_key: Buffer;
  /** How often the authenticator has signed; some always say 0. One that goes back may be of a copy. */
  counter: number;
  transports: string[];
  name: string;
  /** Whether it may be in several devices, and whether it was at its last use. */
  backup_eligible: boolean;
  backed_up: boolean;
  created_at: Date;
  last_used_at: Date | null;
  /**
   * Since the database was restored: it may have forgotten that the passkey was removed. A sign-in by another way
   * ends it.
   */
  suspended_at: Date | null;
}

/**
 * What pods cost us that nobody pays for: from the end of the rental, or the giving up of the attempt, until the
 * upstream showed them gone.
 */
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

/**
 * The upstream's last word on each of our pods, written by the watcher of the provider; one that must end before
 * any list has shown it is noted by who ends it.
 */
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
  /** The last list that showed it alive; kept up to date only when it stops being so. */
  last_alive_at: Date | null;
  missing_lists: number;
  gone_at: Date | null;
  /** How the last probes of its SSH daemon went. Only a matter for people: the upstream's own word decides. */
  probed_at: Date | null;
  silent_probes: number;
  /** Another daemon answers at its address: the upstream gave the address to somebody else, or the renter changed it. */
  host_key_changed: boolean;
  /** Not in the lists any more, together with many others, while its daemon answers with its own key. */
  held_since: Date | null;
  /** When a list first showed it active. */
  active_at: Date | null;
  ports: PodPort[] | null;
  /** What a list tells of the hardware itself: ListedHardware in domain/machines/claims.ts; null: nothing. */
  hardware: unknown;
  /** When the upstream last started it; null where its list does not tell. */
  started_at: Date | null;
  /** What the list told first: no restart. */
  first_started_at: Date | null;
}

export interface ProcessorEventRow {
  id: string;
  kind: string;
  created_at: Date;
  received_at: Date;
  livemode: boolean;
  api_version: string | null;
  object: Record<string, unknown>;
  /** The workflow that acts on it; null for a kind that nobody acts on. */
  workflow_id: string | null;
  handled_at: Date | null;
  note: string | null;
  workflow_type: EventWorkflow | null;
}

/**
 * Codes that a session asks for, to show anew whose it is. Each is good for its own session alone. A code outlives
 * its session here, because its mail counts.
 */
export interface ProofCodeRow {
  id: number;
  user_id: UserId;
  session_id: SessionId;
  code_hash: Buffer;
  tries: number;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

/** What each provider offers of each family: counted when listings change, and not for everybody who looks. */
export interface ProviderFamilyRow {
  provider_code: string;
  family: string;
  from_price_per_hour_cents: number;
  listings: number;
}

/** What was skipped in the upstreams' answers, for operators: names that no table knows, words of no meaning to us. */
export interface ProviderOddityRow {
  provider_code: string;
  kind: string;
  subject: string;
  times: number;
  first_seen_at: Date;
  last_seen_at: Date;
}

/**
 * One row for each upstream that tells its quotas; it says how they stood in its last answer (decision 93, "Quotas
 * and upstream money").
 */
export interface ProviderQuotasRow {
  provider_code: string;
  /** Elements as QuotaWindow in adapters/providers/upstream/quotas.ts says; ends are counted from told_at. */
  windows: QuotaWindow[];
  told_at: Date;
  /** The reads that were let through so far are paid for until then. */
  next_read_at: Date;
}

export interface ProviderRow {
  code: string;
  /** The last catalog that was read whole, and the last list of our pods. */
  catalog_synced_at: Date | null;
  pods_listed_at: Date | null;
  last_error: string | null;
  last_error_at: Date | null;
  failures: number;
  create_failures: number;
  /** The circuit breaker: while an upstream is out, nothing of it is for sale. */
  out_until: Date | null;
  out_reason: 'failing' | 'failing_creates' | 'refused' | 'rate_limited' | 'no_funds' | null;
  last_success_at: Date | null;
  /** An operator's word that the pods which its lists do not show are gone indeed, until this time. */
  missing_accepted_until: Date | null;
  /** While an upstream is paused nothing new is rented there; what runs there runs on. No answer of it ends a pause. */
  paused_at: Date | null;
  paused_by: string | null;
  paused_reason: string | null;
  /** May be below zero. */
  balance_cents: number | null;
  burn_cents_per_hour: number | null;
  balance_read_at: Date | null;
  /** The templates that an upstream can start at all; null until a worker has told: any. */
  template_ids: string[] | null;
  software: SoftwareCapabilities | null;
  telemetry: TelemetryTold | null;
}

export interface QuoteRow {
  id: QuoteId;
  user_id: UserId;
  /** What was asked for: RentalRequest in domain/rentals/request.ts, without its user. */
  request: Omit<RentalRequest, 'userId' | 'apiKeyId'>;
  /** What was the cheapest then. Nothing dearer is bought by this quote. */
  listing_id: ListingId;
  price_per_hour_cents: number;
  created_at: Date;
  expires_at: Date;
  /** The one rental that was opened by it. */
  rental_id: RentalId | null;
  /** A key with a cap sees the quotes that it asked for. */
  api_key_id: ApiKeyId | null;
}

/**
 * What the processor's lists said during one run; both sides are then compared by one statement. Gone with the
 * run.
 */
export interface ReconcileDocumentRow {
  run_id: number;
  kind: 'charge' | 'refund' | 'dispute' | 'invoice';
  /** A charge goes by its payment, where it has one: the ledger's causes name payments. */
  id: string;
  /** The processor's word; 'missing' for what we know of and it does not. */
  status: string;
  payment_id: string | null;
  charge_id: string | null;
  our_id: string | null;
  customer_id: string | null;
  amount_cents: number;
  refunded_cents: number;
  currency: string | null;
  taken: boolean;
  returned: boolean;
  /** When it last changed; null for one that was asked for by its id because it is no news. */
  at: Date | null;
}

export interface ReconcileFindingRow {
  id: number;
  kind: FindingKind;
  /** Which comparison found it: it is resolved by the next run that could make that comparison and did not find it. */
  source: string;
  /** What it is about, once per kind while it stands: pi_…, re_…, in_…, rent_…, led_…, a pod. */
  subject: string;
  /** The ids by which an operator goes on. */
  subject_ids: Record<string, string | number | null>;
  /** What each side said when it was last seen. */
  evidence: Record<string, unknown>;
  state: 'open' | 'acknowledged' | 'resolved';
  first_run_id: number;
  last_run_id: number;
  first_seen_at: Date;
  last_seen_at: Date;
  /** Operators were told by mail. */
  told_at: Date | null;
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
  acknowledged_why: string | null;
  resolved_at: Date | null;
}

export interface ReconcileRunRow {
  id: number;
  scope: 'window' | 'full';
  started_at: Date;
  finished_at: Date | null;
}

/** The error bar, one row per source ('charges', 'pods:lab'): what is not compared is never counted as fine. */
export interface ReconcileSourceRow {
  source: string;
  /** Everything that happened before it was compared: the next run begins here, however long the last one is ago. */
  compared_until: Date | null;
  /** When it was last compared from its very beginning. */
  full_at: Date | null;
  first_tried_at: Date;
  /** Since when, and why, it can't be compared, or not all of it. */
  failing_since: Date | null;
  failing_why: string | null;
}

/**
 * Decision 30, "Reversed payments": what the processor took back of a payment, and where it was taken from. What
 * comes back is what was debited.
 */
export interface RefundOrDisputeRow {
  id: string;
  kind: 'refund' | 'dispute';
  payment_id: string;
  user_id: UserId;
  wallet_id: number;
  /** What the processor says it is about; what was taken may be less. */
  amount_cents: number;
  status: string;
  debited_cents: number;
  invoiced_cents: number;
  written_off_cents: number;
  invoice_id: InvoiceId | null;
  taken_at: Date | null;
  given_back_at: Date | null;
  created_at: Date;
  /** Nothing more is expected of it. */
  closed_at: Date | null;
}

/** The sums of 30 days, which the catalog tells. A family without any row of an hour has none. */
export interface ReliabilityRow {
  provider_code: string;
  family: string;
  created: number;
  not_created: number;
  /** Null when none came up. */
  ready_p50_seconds: number | null;
  ready_p90_seconds: number | null;
  ssh_p50_seconds: number | null;
  ssh_p90_seconds: number | null;
  losses: number;
  machine_ms: number;
  counted_at: Date;
}

/**
 * What happened at an upstream with the machines of a family in one hour (UTC), counted from the rows above and
 * counted again for some hours after it, because ends are dated back. An hour in which nothing happened has no
 * row.
 */
export interface ReliabilityHourRow {
  provider_code: string;
  family: string;
  hour: Date;
  /** Machines that were asked for: those that came up, and those that the upstream did not deliver. */
  created: number;
  not_created: number;
  /** Of those that came up, in whole seconds, rounded up: until they ran, and until SSH answered. */
  ready_seconds: number[];
  ssh_seconds: number[];
  losses: number;
  /** How long machines ran within the hour, all together. */
  machine_ms: number;
}

/** What a user asked to change, committed before the workflow is told, and what came of it. */
export interface RentalChangeRow {
  id: ChangeId;
  rental_no: number;
  user_id: UserId;
  /** The fields that were sent, and no others: name, labels, maxSpendCents, autoStopAt, autoStopAfterMs. */
  asked: AskedChange;
  /** Nothing is changed after it (decision 4, "Promise of a 503"). */
  answer_before: Date;
  asked_at: Date;
  answered_at: Date | null;
  /** The code, message and details of a refusal; null when it was done. */
  refused: { code: RefusalCode; message: string; details?: RefusalDetails } | null;
  /** From when on the new limits hold, and what they replaced; null when no limit was changed. */
  limits_at: Date | null;
  was_max_spend_cents: number | null;
  was_auto_stop_at: Date | null;
  new_max_spend_cents: number | null;
  new_auto_stop_at: Date | null;
  api_key_id: ApiKeyId | null;
}

/** By which statements are grouped; fixed once the rental is settled. */
export interface RentalLabelRow {
  rental_no: number;
  user_id: UserId;
  /** No rental has more than ten. */
  place: number;
  key: string;
  value: string;
}

/** What a user asked for, committed before the workflow starts that does it. Never changed. */
export interface RentalRequestRow {
  id: RentalId;
  user_id: UserId;
  family_id: string;
  gpu_count: number;
  template_id: string;
  region: string | null;
  name: string | null;
  ssh_key_ids: SshKeyId[];
  auto_stop_after_ms: number | null;
  max_spend_cents: number | null;
  max_price_per_hour_cents: number | null;
  /** Nothing is opened after it (decision 4, "Promise of a 503"). */
  answer_before: Date;
  requested_at: Date;
  /**
   * The quote by which the rental is opened: one machine for all requests that name it. Quotes go before requests
   * do.
   */
  quote_id: QuoteId | null;
  labels: Labels | null;
  api_key_id: ApiKeyId | null;
  /** Public keys of this rental alone. */
  ssh_public_keys: string[] | null;
  notes: string | null;
  software: SoftwareOutline | null;
  idle_guard: IdleGuard | null;
  telemetry: boolean;
}

/** The instants at which machines end that their users were warned of: each once, and anew when it is moved. */
export interface RentalWarningRow {
  rental_no: number;
  warning: 'auto_stop_near' | 'spend_limit_near' | 'upstream_end_near';
  at: Date;
  warned_at: Date;
}

export interface RentalRow {
  no: number;
  id: RentalId;
  wallet_id: number;
  user_id: UserId;
  status: 'provisioning' | 'running' | 'stopping' | 'stopped' | 'failed';
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
  /**
   * What is still held for the first hour; what was charged, given back, and could not be had. While the rental
   * runs, its meter holds the first two: read rentals_now.
   */
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
  /** The end of the billing; what the API calls stoppedAt. */
  ended_at: Date | null;
  settled_at: Date | null;
  terminated_at: Date | null;
  /** Nothing more is owed to it: settled, and its pod is gone. Until then it has a workflow. */
  closed_at: Date | null;
  stop_reason:
    | 'user'
    | 'auto_stop'
    | 'spend_limit'
    | 'balance_exhausted'
    | 'pod_lost'
    | 'operator'
    | 'idle'
    | null;
  error: string | null;
  /**
   * The wallet's newest entry when it was opened and when it was settled. All its entries lie between them: they are
   * read without an index of their own, which each tick would have to write.
   */
  opened_seq: number;
  settled_seq: number | null;
  /** Whole milliseconds for the metering statement. */
  running_ms: number | null;
  limit_ms: number | null;
  /** The key that opened it; null: a session did. */
  api_key_id: ApiKeyId | null;
  /** How many public keys of its own it was rented with. */
  own_ssh_keys: number;
  /** Notes that a renter writes for themselves (decision 138, "A renter’s own words"). */
  notes: string | null;
  software: SoftwareOutline | null;
  ready_by: 'ssh' | 'port' | 'grace' | null;
  /** Whether its renter asks for its use to be told. */
  telemetry: boolean;
}

/** The rentals with what their meters show now; new columns come at the end. */
export interface RentalsNowRow {
  no: number;
  id: RentalId;
  wallet_id: number;
  user_id: UserId;
  status: 'provisioning' | 'running' | 'stopping' | 'stopped' | 'failed';
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
  stop_reason:
    | 'user'
    | 'auto_stop'
    | 'spend_limit'
    | 'balance_exhausted'
    | 'pod_lost'
    | 'operator'
    | 'idle'
    | null;
  error: string | null;
  opened_seq: number;
  settled_seq: number | null;
  running_ms: number | null;
  limit_ms: number | null;
  hold_cents: number;
  charged_cents: number;
  api_key_id: ApiKeyId | null;
  own_ssh_keys: number;
  notes: string | null;
  software: SoftwareOutline | null;
  ready_by: 'ssh' | 'port' | 'grace' | null;
  telemetry: boolean;
}

/**
 * What a look at a restored database found (decision 67, "Restored databases"): a lost hour of a large fleet is
 * more than one answer of an activity may hold, so its rows stand here, and the run's id and counts go through
 * Temporal.
 */
export interface RestoreItemRow {
  run_id: string;
  kind: 'ended' | 'limit' | 'without_run' | 'lost' | 'pod' | 'payment';
  id: string;
  item: unknown;
  listed_at: Date;
  done_at: Date | null;
}

/**
 * A row stays when its card is removed: its detachment may still be owed to the processor, and an event that comes
 * late may not bring it back.
 */
export interface SavedCardRow {
  /** The payment method's id at the processor. */
  pm_id: string;
  user_id: UserId;
  brand: string;
  last4: string;
  exp_month: number;
  exp_year: number;
  /**
   * When its owner agreed, by the processor's clock. A later card replaces an earlier one, in whatever order the
   * events arrive.
   */
  set_up_at: Date;
  saved_at: Date;
  removed_at: Date | null;
  removed_why: 'user' | 'replaced' | 'detached' | null;
  detached_at: Date | null;
  /** The user was told that it has expired. */
  expiry_noticed_at: Date | null;
  /** What 0.1 saved has none: it is asked for before the card is charged next. */
  fingerprint: string | null;
}

export interface SessionRow {
  token_hash: Buffer;
  user_id: UserId;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  /** What may be shown. The default serves an API of the release before, which knows of no id. */
  id: SessionId;
  /** From what and from where it was last used; null where no request has told. */
  user_agent: string | null;
  client_address: string | null;
  /** When its user last showed who they are; null where an account elsewhere has not told when. */
  proved_at: Date | null;
}

/**
 * The secrets of own software, sealed for the worker (decision 154, "Sealed software"). The API can't read them
 * back.
 */
export interface SoftwareSecretRow {
  id: SoftwareId;
  sealed: Buffer;
  created_at: Date;
}

export interface SshKeyRow {
  id: SshKeyId;
  user_id: UserId;
  name: string;
  public_key: string;
  fingerprint: string;
  created_at: Date;
  api_key_id: ApiKeyId | null;
}

/**
 * Statements by mail (decision 171, "Statements by mail"): how far each month's were noted. A walk that ends
 * half-way goes on there.
 */
export interface StatementMonthRow {
  /** In UTC, such as 2026-10. */
  month: string;
  /** Wallets up to this one were looked at. */
  walked_wallet: number;
  /** Those of them that failed, and are tried again. */
  failed_wallets: number[];
  done_at: Date | null;
}

/**
 * Asked for by the API without waiting for any lock that metering holds (decision 15, "Stopping a rental"). The
 * first one wins.
 */
export interface StopRequestRow {
  rental_no: number;
  requested_at: Date;
  requested_by: 'user' | 'operator' | 'idle';
  reason: string | null;
  /** False once the rental is settled: the metering statement looks at open ones only. */
  open: boolean;
  requested_ms: number | null;
}

/** An API process that holds streams, and when it last said that it lives. */
export interface StreamHostRow {
  id: string;
  seen_at: Date;
}

/**
 * Items of the loops whose last try failed; one that succeeds has no row. Whichever loop it is, the next try waits
 * until its time, and one that used up its tries is set aside: operators are told, and it is tried once an hour.
 */
export interface StuckItemRow {
  /** What is done with it (domain/operations/stuck.ts), and which item it is: a workflow's id, a row's, a machine's. */
  duty: string;
  item: string;
  attempts: number;
  last_error: string;
  first_failed_at: Date;
  last_failed_at: Date;
  next_attempt_at: Date;
  set_aside_at: Date | null;
}

/** What upstreams tell of the use of machines (decision 166, "Use of machines"): one row for each rental and hour. */
export interface TelemetryHourRow {
  rental_no: number;
  hour: Date;
  /** Who told it. */
  source: 'upstream' | 'reporter';
  /**
   * Five bytes for each of its 60 minutes, each a whole per cent, and 255 for what was not told: all GPUs, the
   * busiest of them, their memory, the processors, the memory.
   */
  minutes: Buffer;
}

export interface TopupRequestRow {
  id: TopupId;
  user_id: UserId;
  amount_cents: number;
  answer_before: Date;
  requested_at: Date;
  api_key_id: ApiKeyId | null;
  /**
   * The charge under way that answers a request (decision 32, "Checkout and credit"); null where none does. Its
   * opening may run again when that charge is over, and is told the same then.
   */
  joined_topup_id: TopupId | null;
}

export interface TopupRow {
  id: TopupId;
  user_id: UserId;
  wallet_id: number;
  amount_cents: number;
  status: 'creating' | 'requires_payment' | 'processing' | 'succeeded' | 'expired' | 'failed';
  session_id: string | null;
  checkout_url: string | null;
  session_expires_at: Date | null;
  payment_id: string | null;
  charge_id: string | null;
  receipt_url: string | null;
  /** What was really received, which is what the wallet was credited with. */
  credited_cents: number | null;
  credited_at: Date | null;
  error: string | null;
  created_at: Date;
  /** The workflow is over: credited, or expired with nothing paid. */
  closed_at: Date | null;
  source: 'checkout' | 'saved_card' | 'auto_topup';
  /** The saved card that is charged, or was. */
  pm_id: string | null;
  /** Set before the charge leaves: from then on its outcome is whatever the processor says. */
  charge_sent_at: Date | null;
  decline_code: string | null;
  page_asked_at: Date | null;
  /** As it was when the payment was credited: the buyer's details, and the card that paid. */
  billed_to: BillingDetails | null;
  card_brand: string | null;
  card_last4: string | null;
  /**
   * The seller as the settings named them when the payment was credited, as billed_to keeps the buyer (decision 148,
   * "Receipts and buyers"). Null: it was credited before this step.
   */
  sold_by: Seller | null;
}

/** Machines that a restored database does not know. They are not ended before a human has decided. */
export interface UnknownPodRow {
  provider_code: string;
  pod_id: string;
  tag: string;
  listed_at: Date;
  released_at: Date | null;
  released_by: string | null;
  released_why: string | null;
}

export interface UserNoticeRow {
  id: number;
  user_id: UserId;
  kind:
    | 'rental_auto_stop'
    | 'rental_spend_limit'
    | 'rental_idle_near'
    | 'rental_idle'
    | 'rental_balance_exhausted'
    | 'rental_operator_stop'
    | 'rental_lost'
    | 'rental_failed'
    | 'auto_topup_off'
    | 'ssh_key_added'
    | 'card_saved'
    | 'api_key_created'
    | 'api_key_widened'
    | 'budget_reached'
    | 'setup_acted'
    | 'passkey_added'
    | 'passkey_refused'
    | 'statement'
    | 'webhook_switched_off';
  /** domain/causes.ts */
  cause: string;
  /** As domain/notices/notices.ts says it. */
  facts: Record<string, unknown>;
  noted_at: Date;
  /** Null until the mail that tells it is in the outbox, or its user did not want one. */
  told_at: Date | null;
  is_mailed: boolean | null;
}

export interface UserRow {
  id: UserId;
  email: string;
  processor_customer_id: string | null;
  blocked_at: Date | null;
  blocked_reason: string | null;
  created_at: Date;
  /** What auto-topup may charge in a day, as the installation's setting was when the account was made; null: no cap. */
  auto_topup_daily_cap_cents: number | null;
}

/** What names a wallet in its proof: chance, and nothing that anybody knows. It is a leaf from this root on. */
export interface WalletProofIdRow {
  wallet_id: number;
  proof_id: string;
  first_root: number;
  /** Where its leaf stands in the tree. */
  place: string;
}

export interface WalletRow {
  id: number;
  user_id: UserId;
  available_cents: number;
  reserved_cents: number;
  /** The sequence number of the newest ledger entry; 0 before the first. */
  seq: number;
  /** Since when the money lasts for less than the warning time; null while it lasts longer. */
  low_since: Date | null;
  metering_blocked_at: Date | null;
  metering_blocked_reason: string | null;
  created_at: Date;
  /** Up to which instant the wallet's running rentals have paid, in milliseconds since 1970. */
  metered_ms: number;
}

export interface WatermarkRow {
  singleton: boolean;
  value: number;
  raised_at: Date;
  /** 'new' until the watermark is first raised; null once the database was found to be behind. */
  confirmed_as: string | null;
  lineage: string | null;
  doubted_at: Date | null;
}

/** Each try. The answer's body is not kept. */
export interface WebhookDeliveryRow {
  no: number;
  id: DeliveryId;
  webhook_id: WebhookId;
  /** Null for a challenge, which is no event. */
  event_id: EventId | null;
  seq: number | null;
  type: string;
  attempt: number;
  outcome: 'delivered' | 'failed' | 'given_up';
  http_status: number | null;
  fault: string | null;
  duration_ms: number;
  at: Date;
}

/** The last event for which endpoints were looked up. */
export interface WebhookFeedRow {
  singleton: boolean;
  last_no: number;
}

/** Events that hold up no later ones any more. */
export interface WebhookRetryRow {
  webhook_id: WebhookId;
  seq: number;
  tries: number;
  first_tried_at: Date;
  next_try_at: Date;
}

/** Sealed by the API, which can't open them; the newest has no end yet. */
export interface WebhookSecretRow {
  webhook_id: WebhookId;
  no: number;
  sealed: Buffer;
  made_at: Date;
  expires_at: Date | null;
}

export interface WebhookRow {
  id: WebhookId;
  user_id: UserId;
  url: string;
  /** The types of events that it gets; none: all but those that must be named. */
  types: EventType[];
  description: string;
  /** pending: it has not answered its challenge yet. */
  state: 'pending' | 'enabled' | 'switched_off' | 'removed';
  switched_off_why: 'gone' | 'no_success' | 'challenge_unanswered' | null;
  created_at: Date;
  enabled_at: Date | null;
  switched_off_at: Date | null;
  removed_at: Date | null;
  /** Raised by each change that what is under way must not overwrite. */
  round: number;
  /** The last event of the user's feed that is done with: delivered, not wanted, or in the retry line. */
  cursor_seq: number;
  /** Tries of the next event, or of the challenge. */
  tries: number;
  tried_since: Date | null;
  /** Tries in a row that failed, of whatever event. */
  failures: number;
  failing_since: Date | null;
  last_success_at: Date | null;
  /** Before these, neither the next event is tried, nor one of the retry line. */
  line_at: Date | null;
  retry_at: Date | null;
  /** When its workflow has something to do; null: nothing. When it was told so, or looks by its own timer. */
  due_at: Date | null;
  told_at: Date | null;
  api_key_id: ApiKeyId | null;
}

/** The processes that saw commits acknowledged. One that ends in order takes its row along. */
export interface WitnessRow {
  id: string;
  part: 'api' | 'worker';
  /** The line that it last spoke in. */
  lineage: string;
  heard_at: Date;
  /** It saw a commit acknowledged that is not here. */
  misses: boolean;
}

/** The values of an insert or update: each column, or an expression that the database evaluates. */
type Written<Row> = { [Column in keyof Row]?: Row[Column] | Knex.Raw };
type Table<Row> = Knex.CompositeTableType<Row, Written<Row>, Written<Row>>;

declare module 'knex/types/tables.js' {
  interface Tables {
    account_closings: Table<AccountClosingRow>;
    account_ties: Table<AccountTieRow>;
    allocation_attempts: Table<AllocationAttemptRow>;
    answered_machines: Table<AnsweredMachineRow>;
    api_keys: Table<ApiKeyRow>;
    audit_events: Table<AuditEventRow>;
    auto_topups: Table<AutoTopupRow>;
    bad_machines: Table<BadMachineRow>;
    billing_details: Table<BillingDetailRow>;
    brakes: Table<BrakeRow>;
    budget_alerts: Table<BudgetAlertRow>;
    budgets: Table<BudgetRow>;
    card_setups: Table<CardSetupRow>;
    catalog_hours: Table<CatalogHourRow>;
    charge_marks: Table<ChargeMarkRow>;
    closed_marks: Table<ClosedMarkRow>;
    closing_refunds: Table<ClosingRefundRow>;
    event_cursor: Table<EventCursorRow>;
    event_feeds: Table<EventFeedRow>;
    event_outbox: Table<EventOutboxRow>;
    events: Table<EventRow>;
    failed_sign_ins: Table<FailedSignInsRow>;
    free_machines: Table<FreeMachineRow>;
    idempotency_keys: Table<IdempotencyKeyRow>;
    identities: Table<IdentityRow>;
    idle_guards: Table<IdleGuardRow>;
    installation_keys: Table<InstallationKeyRow>;
    intents: Table<IntentRow>;
    invoice_line_items: Table<InvoiceLineItemRow>;
    invoices: Table<InvoiceRow>;
    kept_entries: Table<KeptEntryRow>;
    kept_mails: Table<KeptMailRow>;
    ledger_causes: Table<LedgerCauseRow>;
    ledger_entries: Table<LedgerEntryRow>;
    ledger_erased_notes: Table<LedgerErasedNoteRow>;
    ledger_hashes: Table<LedgerHasheRow>;
    ledger_note_salts: Table<LedgerNoteSaltRow>;
    ledger_roots: Table<LedgerRootRow>;
    ledger_rows: Table<LedgerRowRow>;
    ledger_sealing: Table<LedgerSealingRow>;
    ledger_seals: Table<LedgerSealRow>;
    listings: Table<ListingRow>;
    login_codes: Table<LoginCodeRow>;
    look_signals: Table<LookSignalRow>;
    lost_machines: Table<LostMachineRow>;
    lost_roots: Table<LostRootRow>;
    machine_reports: Table<MachineReportRow>;
    machine_tokens: Table<MachineTokenRow>;
    machine_uses: Table<MachineUseRow>;
    mail_outbox: Table<MailOutboxRow>;
    meter_readings: Table<MeterReadingRow>;
    meter_shards: Table<MeterShardRow>;
    meters: Table<MeterRow>;
    notice_settings: Table<NoticeSettingRow>;
    oauth_states: Table<OAuthStateRow>;
    odd_events: Table<OddEventRow>;
    offer_hours: Table<OfferHourRow>;
    open_streams: Table<OpenStreamRow>;
    operator_actions: Table<OperatorActionRow>;
    operator_notices: Table<OperatorNoticeRow>;
    operator_order_items: Table<OperatorOrderItemRow>;
    operator_orders: Table<OperatorOrderRow>;
    parked_payments: Table<ParkedPaymentRow>;
    passkey_challenges: Table<PasskeyChallengeRow>;
    passkeys: Table<PasskeyRow>;
    pod_leaks: Table<PodLeakRow>;
    pods: Table<PodRow>;
    processor_events: Table<ProcessorEventRow>;
    proof_codes: Table<ProofCodeRow>;
    provider_families: Table<ProviderFamilyRow>;
    provider_oddities: Table<ProviderOddityRow>;
    provider_quotas: Table<ProviderQuotasRow>;
    providers: Table<ProviderRow>;
    quotes: Table<QuoteRow>;
    reconcile_documents: Table<ReconcileDocumentRow>;
    reconcile_findings: Table<ReconcileFindingRow>;
    reconcile_runs: Table<ReconcileRunRow>;
    reconcile_sources: Table<ReconcileSourceRow>;
    refunds_and_disputes: Table<RefundOrDisputeRow>;
    reliability: Table<ReliabilityRow>;
    reliability_hours: Table<ReliabilityHourRow>;
    rental_changes: Table<RentalChangeRow>;
    rental_labels: Table<RentalLabelRow>;
    rental_requests: Table<RentalRequestRow>;
    rental_warnings: Table<RentalWarningRow>;
    rentals: Table<RentalRow>;
    rentals_now: Table<RentalsNowRow>;
    restore_items: Table<RestoreItemRow>;
    saved_cards: Table<SavedCardRow>;
    sessions: Table<SessionRow>;
    software_secrets: Table<SoftwareSecretRow>;
    ssh_keys: Table<SshKeyRow>;
    statement_months: Table<StatementMonthRow>;
    stop_requests: Table<StopRequestRow>;
    stream_hosts: Table<StreamHostRow>;
    stuck_items: Table<StuckItemRow>;
    telemetry_hours: Table<TelemetryHourRow>;
    topup_requests: Table<TopupRequestRow>;
    topups: Table<TopupRow>;
    unknown_pods: Table<UnknownPodRow>;
    user_notices: Table<UserNoticeRow>;
    users: Table<UserRow>;
    wallet_proof_ids: Table<WalletProofIdRow>;
    wallets: Table<WalletRow>;
    watermark: Table<WatermarkRow>;
    webhook_deliveries: Table<WebhookDeliveryRow>;
    webhook_feed: Table<WebhookFeedRow>;
    webhook_retries: Table<WebhookRetryRow>;
    webhook_secrets: Table<WebhookSecretRow>;
    webhooks: Table<WebhookRow>;
    witnesses: Table<WitnessRow>;
  }
}
