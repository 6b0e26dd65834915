import type { ApiError as ErrorBody } from './schema.js';

/** What the API may refuse a request for. */
export type ErrorCode = ErrorBody['error'];

/** What the details of a code hold; undefined where a refusal of it has none. */
export type DetailsOf<Code extends ErrorCode> =
  Extract<ErrorBody, { error: Code }> extends infer Body
    ? Body extends { details: infer Details }
      ? Details
      : Body extends { details?: infer Details }
        ? Details | undefined
        : undefined
    : never;

/**
 * An answer of the API that is not a success. `isApiError(error, 'rate_limited')` narrows `details` to those of the
 * code. A newer service may answer codes that this release does not know: compare, and keep a way for all others.
 */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** What to program against; the message is for people. */
  readonly code: Code;
  readonly details: DetailsOf<Code>;
  /** Names the request to support. */
  readonly requestId: string;
  /** Where to get help, an email address or a page; undefined where the service named none. */
  readonly support: string | undefined;
  /** Whole seconds after which the same request may succeed; undefined where the service did not say. */
  readonly retryAfterSeconds: number | undefined;

  constructor(answer: {
    status: number;
    code: Code;
    message: string;
    details: DetailsOf<Code>;
    requestId: string;
    support?: string | undefined;
    retryAfterSeconds: number | undefined;
  }) {
    super(answer.message);
    this.status = answer.status;
    this.code = answer.code;
    this.details = answer.details;
    this.requestId = answer.requestId;
    this.support = answer.support;
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}

/** Each code with its details: a `switch` over `error.code` narrows `error.details`. */
export type AnyApiError = { [Code in ErrorCode]: ApiError<Code> }[ErrorCode];

/** Tells whether something thrown is an answer of the API, and one with this code where a code is given. */
export function isApiError(error: unknown): error is AnyApiError;
export function isApiError<Code extends ErrorCode>(error: unknown, code: Code): error is ApiError<Code>;
export function isApiError(error: unknown, code?: ErrorCode): boolean {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/**
 * No answer of the API: the network failed, nobody answered in time, or something between answered in its place.
 * Whether the request was done is not known, unless `neverSent` says that it can't have been.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** True when no connection came about, so that nothing can have been done. */
  readonly neverSent: boolean;
  /** True when the time was over. */
  readonly timedOut: boolean;
  /** The HTTP status of what answered in the API's place; undefined when nothing did. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    about: {
      cause?: unknown;
      neverSent?: boolean;
      timedOut?: boolean;
      status?: number;
      retryAfterSeconds?: number | undefined;
    } = {},
  ) {
    super(message, { cause: about.cause });
    this.neverSent = about.neverSent ?? false;
    this.timedOut = about.timedOut ?? false;
    this.status = about.status;
    this.retryAfterSeconds = about.retryAfterSeconds;
  }
}

/** Makes an error of an answer that is not a success. */
export function errorOfAnswer(response: Response, body: unknown): ApiError | ConnectionError {
  const retryAfterSeconds = secondsOf(response.headers.get('Retry-After'));
  const { status } = response;
  if (!isErrorBody(body)) {
    const message = `HTTP ${status} without an API error: is something else answering at ${originOf(response)}?`;
    return new ConnectionError(message, { status, retryAfterSeconds });
  }
  const { error: code, message, requestId, support } = body;
  const details = 'details' in body ? body.details : undefined;
  return new ApiError({ status, code, message, details, requestId, support, retryAfterSeconds });
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { error, message } = body as Record<string, unknown>;
  return typeof error === 'string' && typeof message === 'string';
}

/** The seconds of a Retry-After, which may also be a date. */
function secondsOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function originOf({ url }: Response): string {
  return URL.canParse(url) ? new URL(url).origin : 'this address';
}
