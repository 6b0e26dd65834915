import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import type { Failure, Payment, ProcessorError } from '../../adapters/processor/processor.js';
import type { ActivityDeps } from '../deps.js';

/** The processor's answer to a charge of the saved card. */
export type Charged =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'declined'; readonly declineCode: string; readonly paymentId: string | null }
  /** @property goneCardId the card's id if it is refused because the processor has the card no longer */
  | { readonly kind: 'refused'; readonly error: ProcessorError; readonly goneCardId: string | null }
  /** The charge was looked up, and never came to be. */
  | { readonly kind: 'none' };

/** The result of a charge of the saved card, whoever asked for it. */
export type ChargeResult =
  | { readonly kind: 'paid'; readonly payment: Payment }
  /** The bank has not decided yet. */
  | { readonly kind: 'processing'; readonly paymentId: string }
  /** The bank wants the card's owner to approve; the payment, if there is one, still waits for them. */
  | { readonly kind: 'approval_needed'; readonly paymentId: string | null }
  | { readonly kind: 'declined'; readonly declineCode: string; readonly paymentId: string | null }
  | { readonly kind: 'canceled' }
  /** Nothing was charged: the processor has the card no longer. */
  | { readonly kind: 'card_gone'; readonly cardId: string }
  /** Nothing was charged: the service itself is not allowed to charge, or asked wrongly. */
  | { readonly kind: 'refused'; readonly error: ProcessorError }
  /** Nothing was charged: the request never reached the processor. */
  | { readonly kind: 'never_left' };

/** Says what follows from each result that a charge may have, for one kind of charge. */
export type ChargePolicy<Outcome> = {
  readonly [Kind in ChargeResult['kind']]: (
    deps: ActivityDeps,
    topup: TopupRow,
    result: Extract<ChargeResult, { kind: Kind }>,
  ) => Promise<Outcome>;
};

const APPROVAL_NEEDED = 'authentication_required';

/** Tells the result of a charge. It decides nothing: that is left to the policy of whoever asked for the charge. */
export function classifyCharge(charged: Charged): ChargeResult {
  switch (charged.kind) {
    case 'payment':
      return classifyPayment(charged.payment);
    case 'declined':
      return classifyDecline(charged.declineCode, charged.paymentId);
    case 'refused':
      return charged.goneCardId === null
        ? { kind: 'refused', error: charged.error }
        : { kind: 'card_gone', cardId: charged.goneCardId };
    case 'none':
      return { kind: 'never_left' };
  }
}

function classifyPayment(payment: Payment): ChargeResult {
  const { status, paymentId } = payment;
  switch (status) {
    case 'succeeded':
      return { kind: 'paid', payment };
    case 'processing':
      return { kind: 'processing', paymentId };
    case 'requires_action':
      return { kind: 'approval_needed', paymentId };
    case 'failed':
      return classifyDecline(declineCodeOf(payment.failure), paymentId);
    case 'canceled':
      return { kind: 'canceled' };
  }
}

function classifyDecline(declineCode: string, paymentId: string | null): ChargeResult {
  return declineCode === APPROVAL_NEEDED
    ? { kind: 'approval_needed', paymentId }
    : { kind: 'declined', declineCode, paymentId };
}

/** Returns why a charge failed, in the bank's words. */
export function declineCodeOf(failure: Partial<Failure> | null): string {
  // The bank's wish comes as either of the two (docs.stripe.com/declines/codes).
  if (failure?.code === APPROVAL_NEEDED) return failure.code;
  return failure?.declineCode ?? failure?.code ?? 'generic_decline';
}
