import { DAY, HOUR, SECOND } from '../durations.js';
import type { UserId } from '../ids.js';
import { Refusal } from '../refusal.js';
import type { BalanceParts } from './balance-parts.js';

/** How far the closing of an account has come (decision 182, "Closing an account"). */
export const closingStates = ['stopping', 'settling', 'returning', 'erasing', 'kept', 'closed'] as const;
export type ClosingState = (typeof closingStates)[number];

/** What a closing waits for. */
export const closingWaits = [
  'rentals',
  'topups',
  'invoices',
  'disputes',
  'parked_payments',
  'refunds',
  'refused_refunds',
  'processor',
  'installation_key',
  'late_events',
] as const;
export type ClosingWait = (typeof closingWaits)[number];

/** Decision 182, "Closing an account". Durations are milliseconds. */
export const closingLimits = {
  /** For how long debts and disputes are waited for. */
  waitMs: 35 * DAY,
  /** For how long what comes late about the person is looked for. */
  quietMs: 3 * DAY,
  /** How often a payment's card may send back what it was given. */
  refundTries: 2,
  /** For how long a call whose answer was lost may still make its refund. */
  lateAnswerMs: HOUR,
  /** For how long the last mails to the person are waited for, each from when it was written. */
  mailMs: DAY,
  /** How soon it is looked again whether they were sent, at first. */
  mailLookMs: SECOND,
  /** How soon one that could not be erased because another one was asks for its turn again. */
  turnMs: 30 * SECOND,
} as const;

/** The id of the workflow that closes an account: one each. */
export function closingWorkflowId(userId: UserId): string {
  return `closing:${userId}`;
}

/** The user of a closing workflow's id. */
export function userOfClosing(workflowId: string): string {
  return workflowId.slice('closing:'.length);
}

/** The domain of the addresses that closed accounts have: nobody can get mail there (RFC 2606). */
export const closedDomain = 'closed.invalid';

/** SQL: the address that the user `t` gets as the account is closed. */
export const closedAddressSql = `lower(t.id) || '@${closedDomain}'`;

/** Whether an address is that of a closed account. */
export function isClosedAddress(email: string): boolean {
  return email.endsWith(`@${closedDomain}`);
}

/** The refusal of what would keep an account from being closed. */
export function accountClosing(): Refusal {
  return new Refusal(
    'account_closing',
    'This account is being closed, so nothing new can begin. GET /v1/account/closing shows how far it is.',
  );
}

/** A payment that an account may get money back of, in cents. */
export interface ReturnablePayment {
  readonly paymentId: string;
  /** What it brought, less what went back of it, or may still. */
  readonly leftCents: number;
  /** The processor's account does not know it: operators decide about its share. */
  readonly isUnknown?: boolean;
}

/** The processor's word for a payment that its account does not know. */
export const unknownPayment = 'resource_missing';
/** Ours for one that operators have decided about: nothing more goes back of it. */
export const decidedPayment = 'decided';

/** What goes back of one payment. */
export interface PaymentReturn {
  readonly paymentId: string;
  readonly amountCents: number;
  /** It stays: operators decide about it. */
  readonly isUnknown?: boolean;
}

/**
 * Divides money that was paid in over the payments that brought it, newest first, and never gives more of one than it
 * has left. The share of one that the processor's account does not know stays, and no other one gives it.
 * @param paidInCents what of the balance was paid in
 */
export function returnsOf(paidInCents: number, newestFirst: readonly ReturnablePayment[]): PaymentReturn[] {
  let restCents = paidInCents;
  const returns: PaymentReturn[] = [];
  for (const { paymentId, leftCents, isUnknown } of newestFirst) {
    const amountCents = Math.min(restCents, leftCents);
    if (amountCents <= 0) continue;
    returns.push({ paymentId, amountCents, ...(isUnknown && { isUnknown }) });
    restCents -= amountCents;
  }
  return returns;
}

/** What closing an account would do with its money, in cents. */
export interface ClosingPlan {
  readonly returns: readonly PaymentReturn[];
  readonly lapsesCents: number;
}

/**
 * Plans what would go where if an account were closed now: what is owed takes given money first, and machines may still use
 * what they hold.
 * @param owedCents all debts that nothing has settled, also those that were given up
 */
export function planClosing(
  { paidCents, givenCents }: BalanceParts,
  { owedCents, availableCents }: { readonly owedCents: number; readonly availableCents: number },
  newestFirst: readonly ReturnablePayment[],
): ClosingPlan {
  const restCents = paidCents - Math.max(0, owedCents - givenCents);
  return {
    returns: returnsOf(Math.min(restCents, availableCents), newestFirst).filter((one) => !one.isUnknown),
    lapsesCents: Math.max(0, givenCents - owedCents),
  };
}
