import type Stripe from 'stripe';
import { FaultOrderError } from '../faults.js';
import { FormError } from './form.js';

/** The processor's `error` object (docs.stripe.com/api/errors). */
export interface ErrorBody {
  readonly type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
  readonly message: string;
  readonly code?: string | undefined;
  readonly decline_code?: string | undefined;
  readonly param?: string | undefined;
  readonly charge?: string | undefined;
  readonly payment_intent?: Stripe.PaymentIntent | undefined;
  readonly payment_method?: Stripe.PaymentMethod | undefined;
  readonly setup_intent?: Stripe.SetupIntent | undefined;
}

/**
 * A failure that the processor answers. Status 402 is a declined payment, whose effects (a failed charge, events) stay:
 * a handler that catches it inside the transaction commits them. Any other failure takes back the effects of its
 * request.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
  ) {
    super(body.message);
  }

  get isDecline(): boolean {
    return this.status === 402;
  }

  /**
   * True: the request was well formed, but the object was absent or in the wrong state. Such an answer is kept under
   * the idempotency key like any other (docs.stripe.com/api/idempotent_requests). A failed validation names its
   * parameter, and is not kept.
   */
  get isAboutState(): boolean {
    const { type, param } = this.body;
    return (
      type === 'invalid_request_error' &&
      (this.status === 404 || (this.status === 400 && param === undefined))
    );
  }
}

/** A request that is wrong by itself: 400 by default. */
export function invalidRequest(
  message: string,
  details: Omit<ErrorBody, 'type' | 'message'> & { status?: number } = {},
): ApiError {
  const { status = 400, ...rest } = details;
  return new ApiError(status, { type: 'invalid_request_error', message, ...rest });
}

/** An object that does not exist: 404 when the path names it, 400 when a parameter does. */
export function noSuch(kind: string, id: string, param = 'id'): ApiError {
  return invalidRequest(`No such ${kind}: '${id}'`, {
    code: 'resource_missing',
    param,
    status: param === 'id' ? 404 : 400,
  });
}

/** The answer to a path that the processor, or this lab, does not know. */
export function unknownUrl(method: string, path: string): ApiError {
  return invalidRequest(
    `The lab's processor does not know ${method} ${path}. Check the path and the method.`,
    {
      status: 404,
      code: 'url_invalid',
    },
  );
}

/** Answers every failure as the processor does: the SDK takes an answer without `error` for a success. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof FormError || error instanceof FaultOrderError || error instanceof SyntaxError) {
    return invalidRequest(error.message);
  }
  const status = (error as { status?: unknown }).status;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return invalidRequest(error instanceof Error ? error.message : 'The request could not be read.', {
      status,
    });
  }
  console.error('lab processor: an unexpected failure', error);
  return new ApiError(500, { type: 'api_error', message: 'The lab’s processor failed; its log says why.' });
}
