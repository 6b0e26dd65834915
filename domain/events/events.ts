/** The type of an event says all of it. */
type Nothing = Readonly<Record<string, never>>;

/**
 * What an event tells, by its type (decision 99, "One feed of events"): ids, and what changed. Amounts are whole cents,
 * instants are ISO 8601 in UTC. No event holds a secret, nor a name or a text that a user wrote.
 */
export interface EventData {
  /** A rental was opened: its hold is taken and its machine is bought. */
  'rental.created': {
    readonly familyId: string;
    readonly gpuCount: number;
    readonly pricePerHourCents: number;
    readonly holdCents: number;
  };
  /** Its upstream lists the machine. */
  'rental.machine_found': { readonly providerCode: string };
  /** The machine's SSH daemon answers. */
  'rental.ssh_answered': { readonly host: string; readonly port: number };
  /** The machine can be entered, and is billed from now on. */
  'rental.running': { readonly runningAt: string };
  /** Something endangers the machine, and nothing has ended yet. */
  'rental.warned': { readonly warning: string };
  /** Its user changed it. */
  'rental.changed': { readonly changed: readonly string[] };
  /** It is over, and is being settled. */
  'rental.stopping': { readonly reason: string; readonly endedAt: string };
  /** It is settled. */
  'rental.stopped': {
    readonly reason: string;
    readonly chargedCents: number;
    readonly refundedCents: number;
  };
  /** Its machine never became usable. */
  'rental.failed': { readonly reason: string };
  'topup.succeeded': { readonly amountCents: number };
  'topup.failed': { readonly amountCents: number; readonly reason: string | null };
  'topup.expired': { readonly amountCents: number };
  /** Money came into the wallet, by the ledger entry with this number. */
  'wallet.credited': {
    readonly amountCents: number;
    readonly balanceCents: number;
    readonly ledgerSeq: number;
    readonly entryType: string;
  };
  'wallet.low': { readonly balanceCents: number; readonly runwaySeconds: number | null };
  'wallet.exhausted': { readonly balanceCents: number };
  'auto_topup.succeeded': { readonly topupId: string; readonly amountCents: number };
  'auto_topup.switched_off': { readonly reason: string };
  'card.saved': { readonly brand: string; readonly last4: string };
  'card.removed': { readonly reason: string };
  'invoice.opened': { readonly amountCents: number };
  'invoice.paid': { readonly amountCents: number };
  'invoice.voided': { readonly amountCents: number };
  'invoice.uncollectible': { readonly amountCents: number };
  'ssh_key.added': Nothing;
  'ssh_key.removed': Nothing;
  'api_key.created': Nothing;
  'api_key.revoked': Nothing;
  'webhook.created': Nothing;
  'webhook.changed': { readonly changed: readonly string[] };
  'webhook.switched_off': { readonly reason: string };
  'webhook.removed': Nothing;
  /** Asked for by the endpoint's user, and sent to that endpoint alone. */
  'webhook.ping': Nothing;
  'session.started': { readonly by: string };
  'session.ended': Nothing;
  /**
   * The database was restored from a backup: events may be lost, and the numbers before this one do not lead up to it.
   * A client reads its state anew.
   */
  'feed.resync': Nothing;
}

export type EventType = keyof EventData;

const all: Readonly<Record<EventType, true>> = {
  'rental.created': true,
  'rental.machine_found': true,
  'rental.ssh_answered': true,
  'rental.running': true,
  'rental.warned': true,
  'rental.changed': true,
  'rental.stopping': true,
  'rental.stopped': true,
  'rental.failed': true,
  'topup.succeeded': true,
  'topup.failed': true,
  'topup.expired': true,
  'wallet.credited': true,
  'wallet.low': true,
  'wallet.exhausted': true,
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
  'api_key.created': true,
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
