import type { LedgerEntryType } from '../ledger/ledger.js';
import type { TopupSource } from '../payments/topup.js';
import type { StopReason } from '../rentals/rental.js';
import type { InvoiceReason } from '../payments/invoices.js';

/** The type of an event says all of it. */
type Nothing = Readonly<Record<string, never>>;

/**
 * What an event tells, by its type (decision 99, "One feed of events"): ids, and what changed. Amounts are whole cents,
 * instants are ISO 8601 in UTC. No event holds a secret, nor a name or a text that a user wrote.
 */
export interface EventData {
  /** It was opened: its hold is taken, and its machine is being got. */
  'rental.created': {
    readonly familyId: string;
    readonly gpuCount: number;
    readonly region: string;
    readonly pricePerHourCents: number;
    readonly holdCents: number;
  };
  /** A machine was bought for it, and is known at its upstream. */
  'rental.machine_found': { readonly providerCode: string };
  /** The SSH daemon of its machine answers. */
  'rental.ssh_answered': {
    readonly host: string;
    readonly port: number;
    readonly username: string;
    readonly hostKeyFingerprint: string | null;
  };
  /** It runs, and is billed from this instant on. Its limits end it at these instants; null: it has no such limit. */
  'rental.running': {
    readonly runningAt: string;
    readonly autoStopAt: string | null;
    readonly spendLimitAt: string | null;
  };
  /** Something endangers its machine, and nothing has ended yet; `at`: when it will end by it, where that is known. */
  'rental.warned': { readonly warning: RentalWarning; readonly at: string | null };
  /**
   * Its machine fetched the start script, for this time since it was rented or started again; more than once may be
   * somebody else.
   */
  'rental.script_fetched': { readonly fetch: number; readonly afterRestart: boolean };
  /** Its idle guard does not stop it before this instant. */
  'rental.kept_alive': { readonly until: string; readonly by: KeptAliveBy };
  /** An operator closed these public ports of it, by name, and stopped it for that. */
  'rental.ports_closed': { readonly ports: readonly string[] };
  /**
   * Its user changed it: which fields, and its limits by now and before; null: it has no such limit, or does not run yet.
   * Events of release 0.2 do not tell those before.
   */
  'rental.changed': {
    readonly changeId: string;
    readonly changed: readonly string[];
    readonly maxSpendCents: number | null;
    readonly autoStopAt: string | null;
    readonly spendLimitAt: string | null;
    readonly maxSpendCentsBefore?: number | null;
    readonly autoStopAtBefore?: string | null;
  };
  /** Its billing has ended at this instant. What it cost is settled next. */
  'rental.stopping': { readonly reason: StopReason; readonly stoppedAt: string };
  /** It is settled: what was charged for it in all, and what was left of its hold and is available again. */
  'rental.stopped': {
    readonly reason: StopReason;
    readonly stoppedAt: string;
    readonly chargedCents: number;
    readonly refundedCents: number;
  };
  /** Its machine never became usable, or was lost at once. Nothing is charged: what was, was given back. */
  'rental.failed': {
    readonly code: RentalFailure;
    readonly message: string;
    readonly refundedCents: number;
  };
  /** It was paid. What came in may differ from what was asked for; `source`: how it was paid. */
  'topup.succeeded': {
    readonly amountCents: number;
    readonly creditedCents: number;
    readonly source: TopupSource;
  };
  /** Nothing was paid; `declineCode`: the bank's word, where it gave one. */
  'topup.failed': {
    readonly amountCents: number;
    readonly source: TopupSource;
    readonly declineCode: string | null;
    readonly message: string | null;
  };
  /**
   * Money of a payment left without its user's wish here: it was refunded, or their bank took it back (`dispute`). The
   * amount of it, and how much was taken from the wallet, and asked for by an invoice.
   */
  'topup.reversed': {
    readonly kind: 'refund' | 'dispute';
    readonly paymentId: string;
    readonly amountCents: number;
    readonly debitedCents: number;
    readonly invoicedCents: number;
  };
  /** The refund failed, or the bank gave the money back: this much came back into the wallet. */
  'topup.reinstated': {
    readonly kind: 'refund' | 'dispute';
    readonly paymentId: string;
    readonly returnedCents: number;
  };
  /** Nobody paid on its page in time. */
  'topup.expired': { readonly amountCents: number };
  /** Money came into the wallet by one ledger entry: its number, its type, and the balance after it. */
  'wallet.credited': {
    readonly amountCents: number;
    readonly balanceCents: number;
    readonly ledgerSeq: number;
    readonly entryType: LedgerEntryType;
  };
  /** What is left lasts for less than an hour at the present cost. */
  'wallet.low': {
    readonly balanceCents: number;
    readonly burnPerHourCents: number;
    readonly runwaySeconds: number;
  };
  /** The money was over, and these rentals ended by it. */
  'wallet.exhausted': { readonly rentalIds: readonly string[] };
  /** This share of the month's budget is spent, in percent. The month is in UTC, such as 2026-11. */
  'budget.reached': {
    readonly percent: number;
    readonly month: string;
    readonly spentCents: number;
    readonly monthlyCents: number;
  };
  /** An automatic top-up was paid; its own `topup.succeeded` is told as well. */
  'auto_topup.succeeded': { readonly creditedCents: number };
  /** Nothing is charged automatically any more, until it is switched on. */
  'auto_topup.switched_off': { readonly reason: AutoTopupOffReason };
  'card.saved': { readonly brand: string; readonly last4: string };
  /** `detached`: at the payment processor. `replaced`: by a card that was saved later. */
  'card.removed': { readonly reason: CardRemovedReason };
  /** It can be paid now. */
  'invoice.opened': InvoiceData & { readonly dueAt: string };
  'invoice.paid': InvoiceData & { readonly paidAt: string };
  'invoice.voided': InvoiceData;
  /** It was given up. It can still be paid. */
  'invoice.uncollectible': InvoiceData;
  'ssh_key.added': { readonly fingerprint: string };
  'ssh_key.removed': { readonly fingerprint: string };
  'passkey.added': Nothing;
  'passkey.removed': Nothing;
  'api_key.created': Nothing;
  /** Its owner changed these fields of it. */
  'api_key.changed': { readonly changed: readonly string[] };
  'api_key.revoked': Nothing;
  'webhook.created': Nothing;
  'webhook.changed': { readonly changed: readonly string[] };
  'webhook.switched_off': { readonly reason: WhyOff };
  'webhook.removed': Nothing;
  /** Asked for by the endpoint's user, and sent to that endpoint alone. */
  'webhook.ping': Nothing;
  /** Somebody signed in; `by`: the way in which they showed who they are. */
  'session.started': { readonly by: string };
  'session.ended': { readonly by: SessionEndedBy };
  /**
   * The database was restored from a backup: events may be lost, and the numbers before this one do not lead up to it.
   * A client reads its state anew.
   */
  'feed.resync': Nothing;
}

/** What endangers a machine. Each is told once for each time that it begins, or for each instant that is near. */
export const warningsOfEvents = [
  'ssh_unreachable',
  'host_key_changed',
  'auto_stop_near',
  'spend_limit_near',
  'upstream_end_near',
  'idle_stop_near',
] as const;
export type RentalWarning = (typeof warningsOfEvents)[number];

/** Who kept an idle rental alive; `machine`: the command on its machine did. */
export const keptAliveBy = ['renter', 'machine'] as const;
export type KeptAliveBy = (typeof keptAliveBy)[number];

/** Why a rental failed, as `failure.code` says. */
export const rentalFailures = ['not_provisioned', 'lost_at_start'] as const;
export type RentalFailure = (typeof rentalFailures)[number];

/** Why auto-topup went off; `user`: by their own setting. */
export const autoTopupOffReasons = [
  'user',
  'charge_failed',
  'card_removed',
  'card_expired',
  'charges_held',
] as const;
export type AutoTopupOffReason = (typeof autoTopupOffReasons)[number];

export const cardRemovedReasons = ['user', 'replaced', 'detached'] as const;
export type CardRemovedReason = (typeof cardRemovedReasons)[number];

/**
 * Why an endpoint was switched off: it answered 410; nothing was delivered for three days; it never answered its
 * challenge.
 */
export const whysOff = ['gone', 'no_success', 'challenge_unanswered'] as const;
export type WhyOff = (typeof whysOff)[number];

export const sessionEnds = ['sign_out', 'new_sign_in', 'other_session', 'operator', 'restored'] as const;
export type SessionEndedBy = (typeof sessionEnds)[number];

interface InvoiceData {
  readonly amountCents: number;
  readonly reason: InvoiceReason;
}

export type EventType = keyof EventData;

const all: Readonly<Record<EventType, true>> = {
  'rental.created': true,
  'rental.machine_found': true,
  'rental.ssh_answered': true,
  'rental.running': true,
  'rental.warned': true,
  'rental.script_fetched': true,
  'rental.kept_alive': true,
  'rental.ports_closed': true,
  'rental.changed': true,
  'rental.stopping': true,
  'rental.stopped': true,
  'rental.failed': true,
  'topup.succeeded': true,
  'topup.failed': true,
  'topup.expired': true,
  'topup.reversed': true,
  'topup.reinstated': true,
  'wallet.credited': true,
  'wallet.low': true,
  'wallet.exhausted': true,
  'budget.reached': true,
  'auto_topup.succeeded': true,
  'auto_topup.switched_off': true,
  'card.saved': true,
  'card.removed': true,
  'invoice.opened': true,
  'invoice.paid': true,
  'invoice.voided': true,
  'invoice.uncollectible': true,
  'ssh_key.added': true,
  'ssh_key.removed': true,
  'passkey.added': true,
  'passkey.removed': true,
  'api_key.created': true,
  'api_key.changed': true,
  'api_key.revoked': true,
  'webhook.created': true,
  'webhook.changed': true,
  'webhook.switched_off': true,
  'webhook.removed': true,
  'webhook.ping': true,
  'session.started': true,
  'session.ended': true,
  'feed.resync': true,
};

/** All types, in the order in which documents list them. */
export const eventTypes = Object.keys(all) as readonly EventType[];

/** The types that a reader gets who asks for some: `feed.resync` as well, which tells that events of any type are missing. */
export function withGaps<Type extends string>(asked: readonly Type[]): (Type | 'feed.resync')[] {
  return [...new Set([...asked, 'feed.resync' as const])];
}
