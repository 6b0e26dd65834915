import Stripe from 'stripe';
import { ProcessorError, type ProcessorErrorKind } from './processor.js';

/**
 * Sorts an error of the SDK by what is known of the outcome (reference: payments, "SDK facts"). Only a card error is a
 * decline. An uncertain outcome is `unknown`, and the call is repeated with the same key.
 */
export function processorErrorOf(error: unknown): ProcessorError {
  if (error instanceof ProcessorError) return error;
  if (!(error instanceof Stripe.errors.StripeError)) {
    return new ProcessorError(
      'unknown',
      'The payment processor could not be asked. Try again.',
      {},
      { cause: error },
    );
  }
  const kind = kindOf(error);
  return new ProcessorError(
    kind,
    messages[kind],
    {
      ...(error.code === undefined ? codeOfType(error) : { code: error.code }),
      ...(error.decline_code === undefined || error.decline_code === ''
        ? {}
        : { declineCode: error.decline_code }),
      ...(error.statusCode === undefined ? {} : { status: error.statusCode }),
      ...(error.payment_intent === undefined ? {} : { paymentId: error.payment_intent.id }),
    },
    { cause: error },
  );
}

const messages: Record<ProcessorErrorKind, string> = {
  declined: 'The bank declined the card. Use another card.',
  refused:
    'The payment processor refused the request; its cause says why. Repeating it unchanged will not help.',
  unknown: 'It is not known whether the payment processor did it. Repeat the request with the same key.',
};

function kindOf(error: Stripe.errors.StripeError): ProcessorErrorKind {
  if (error instanceof Stripe.errors.StripeCardError) return 'declined';
  if (error instanceof Stripe.errors.StripeIdempotencyError) {
    // Another body came with this key: the key's own request was done or not, this request was not.
    return error.code === 'idempotency_key_in_use' ? 'unknown' : 'refused';
  }
  const refused =
    error instanceof Stripe.errors.StripeInvalidRequestError ||
    error instanceof Stripe.errors.StripeAuthenticationError ||
    error instanceof Stripe.errors.StripePermissionError;
  return refused ? 'refused' : 'unknown';
}

/** An idempotency mismatch has no code of its own, so its type stands for it. */
function codeOfType(error: Stripe.errors.StripeError): { code?: string } {
  return error instanceof Stripe.errors.StripeIdempotencyError ? { code: 'idempotency_error' } : {};
}
