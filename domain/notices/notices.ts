import type { ApiKeyScope } from '../accounts/api-keys.js';
import type { AuditKind } from '../accounts/audit.js';
import type { WhyOff } from '../events/events.js';
import type { ApiKeyId, PasskeyId, RentalId, SshKeyId, WebhookId } from '../ids.js';
import type { StopReason } from '../rentals/rental.js';
import type { ToldKind } from './kinds.js';

/** A machine that ended without its user's request. */
export interface EndedMachine {
  readonly rentalId: RentalId;
  /** The user's own name for it. */
  readonly name: string | null;
  readonly gpuCount: number;
  readonly model: string;
  /** What it cost in all, after what was given back. */
  readonly chargedCents: number;
  /** What the rental itself says of it, in a sentence. */
  readonly error: string | null;
}

/** A machine that is idle and stops soon. */
export interface IdleMachine extends Pick<EndedMachine, 'rentalId' | 'name' | 'gpuCount' | 'model'> {
  /** For how long it is to be idle. */
  readonly minutes: number;
  /** ISO instant. */
  readonly stopsAt: string;
}

/** A month of a wallet. Amounts in cents, signed: opening, paid in, machines and other make closing. */
export interface StatementFacts {
  /** In UTC, such as 2026-10. */
  readonly month: string;
  readonly openingCents: number;
  readonly paidInCents: number;
  /** Charges of rentals less what was given back for them. */
  readonly machinesCents: number;
  /** Refunds of payments, disputes, credits. */
  readonly otherCents: number;
  readonly closingCents: number;
  /** Of the first signed root that covers the month (docs/proof.md), 64 hexadecimal digits; null: there was none. */
  readonly rootHash: string | null;
}

/** What a key with the scope `setup` does (decision 149, "Keys that set up"). */
export type SetupAct = Extract<
  AuditKind,
  | 'webhook_created'
  | 'webhook_changed'
  | 'webhook_removed'
  | 'ssh_key_added'
  | 'ssh_key_removed'
  | 'budget_changed'
>;

/** A passkey, and what its user calls it. */
export interface PasskeyFacts {
  readonly passkeyId: PasskeyId;
  readonly name: string;
}

/** What each kind of notice tells. It is kept as it was when it happened: a key may be removed before its mail goes. */
export interface NoticeFacts extends Record<ToldKind, object> {
  rental_auto_stop: EndedMachine;
  rental_spend_limit: EndedMachine;
  rental_idle_near: IdleMachine;
  rental_idle: EndedMachine;
  rental_balance_exhausted: EndedMachine;
  rental_operator_stop: EndedMachine;
  rental_lost: EndedMachine;
  rental_failed: EndedMachine;
  /** Why it is off, besides what has a mail of its own: a charge that failed, or a payment that was denied. */
  auto_topup_off: { readonly why: 'card_gone' | 'card_expired' | 'charges_held' };
  /** Amounts in cents; the month in UTC, such as 2026-11. */
  budget_reached: {
    readonly month: string;
    readonly percent: number;
    readonly spentCents: number;
    readonly monthlyCents: number;
    readonly hard: boolean;
  };
  statement: StatementFacts;
  webhook_switched_off: { readonly webhookId: WebhookId; readonly url: string; readonly why: WhyOff };
  ssh_key_added: { readonly keyId: SshKeyId; readonly name: string; readonly fingerprint: string };
  passkey_added: PasskeyFacts;
  passkey_refused: PasskeyFacts;
  api_key_created: {
    readonly keyId: ApiKeyId;
    readonly name: string;
    readonly scopes: readonly ApiKeyScope[];
    /** Its last characters. */
    readonly hint: string;
  };
  /** As it is since then: the cap in cents, null for none; the addresses, null for any. */
  api_key_widened: {
    readonly keyId: ApiKeyId;
    readonly name: string;
    readonly hint: string;
    readonly spendCapCents: number | null;
    readonly allowedCidrs: readonly string[] | null;
  };
  setup_acted: {
    readonly keyId: ApiKeyId;
    readonly keyName: string;
    readonly act: SetupAct;
    /** The thing in its owner's words: the name of an SSH key, the address of a webhook, an amount. */
    readonly what: string;
  };
  card_saved: { readonly brand: string; readonly last4: string };
}

/** The notice of a rental that ended while it ran; undefined when its user stopped it. */
export function endNoticeOf(reason: StopReason): keyof typeof endKinds | undefined {
  return kindOfReason[reason];
}

const kindOfReason = {
  user: undefined,
  auto_stop: 'rental_auto_stop',
  spend_limit: 'rental_spend_limit',
  balance_exhausted: 'rental_balance_exhausted',
  pod_lost: 'rental_lost',
  operator: 'rental_operator_stop',
  idle: 'rental_idle',
} as const satisfies Readonly<Record<StopReason, ToldKind | undefined>>;

/** The kinds that tell of machines, each with the reason for which others of its user may just be ending too. */
export const endKinds = {
  rental_auto_stop: 'auto_stop',
  rental_spend_limit: 'spend_limit',
  rental_balance_exhausted: 'balance_exhausted',
  rental_operator_stop: 'operator',
  rental_idle: 'idle',
  rental_lost: 'pod_lost',
  rental_failed: null,
} as const satisfies Readonly<Partial<Record<ToldKind, StopReason | null>>>;

export type EndKind = keyof typeof endKinds;
