import { fieldsOf, numberField, textField, textsField, type Fields } from './fields.js';
import type { HttpAnswer } from './http-answer.js';
import type { HttpFailure } from './http-client.js';
import { ProviderError, type ProviderErrorKind } from '../provider.js';

/** The possible effect of a failed call at the upstream: only a create may have bought something. */
export type CallEffect = 'buys' | 'buys_nothing';

/** The most characters of an upstream's own words in an error for operators. */
const MAX_WORDS = 300;

/** The wait before the next call of an upstream that limits the rate and does not say for how long. */
const DEFAULT_RETRY_AFTER_MS = 5_000;

/**
 * Sorts an answer that is no success, by its status and never by its words (design, rule 3). 400 counts as "this offer
 * can't be had": the upstream documents no code for a lack of capacity, and the caller tries a bounded number of
 * offers, so that a mistake of ours ends as well.
 */
export function errorOfAnswer(what: string, effect: CallEffect, answer: HttpAnswer): ProviderError {
  const fields = fieldsOf(answer.body);
  const code = codeOf(fields);
  const noFunds = isWithoutFunds(answer.status, code);
  const podId = effect === 'buys' ? madeBy(fields) : null;
  const ofStatus = noFunds ? 'refused' : kindOfStatus(answer.status, effect);
  // An error that names a machine has made it, whatever else it says.
  const kind = podId === null ? ofStatus : 'unknown';
  const retryAfterMs = kind === 'rate_limited' ? retryAfterOf(answer.headers) : undefined;
  return new ProviderError(kind, `${what}: HTTP ${answer.status}${wordsOf(answer.body)}`, {
    status: answer.status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(podId !== null && { podId }),
    ...(code !== null && { code }),
    ...(noFunds && { noFunds }),
  });
}

function isWithoutFunds(status: number, code: string | null): boolean {
  return status === 402 || (code !== null && NO_FUNDS_CODES.has(code));
}

/** The codes by which an upstream says that our account has no money left. */
const NO_FUNDS_CODES: ReadonlySet<string> = new Set(['INSUFFICIENT_FUNDS', 'insufficient_credit']);

/** Returns the code of a failure: `error_code`, `error.code`, or an `error` that is one word. */
function codeOf(fields: Fields): string | null {
  const error = textField(fields, 'error') ?? '';
  return (
    textField(fields, 'error_code') ??
    textField(fieldsOf(fields['error']), 'code') ??
    (/^[a-z_]{1,64}$/.test(error) ? error : null)
  );
}

/** Returns the id of a machine that an answer names, be it an error. */
function madeBy(fields: Fields): string | null {
  const contract = numberField(fields, 'new_contract');
  return textField(fields, 'id') ?? (contract === null ? null : String(contract));
}

/** Sorts a call that got no answer. One that provably never left has bought nothing. */
export function errorOfFailure(what: string, effect: CallEffect, failure: HttpFailure): ProviderError {
  const kind = effect === 'buys' && !failure.sent ? 'refused' : 'unknown';
  return new ProviderError(kind, `${what}: ${failure.message}`, {}, { cause: failure });
}

/**
 * Sorts the failure of a step before the create. Nothing was bought, whatever happened to that step: an unknown outcome
 * becomes a refusal and nobody has to look for a pod.
 */
export function beforeBuying(error: ProviderError): ProviderError {
  if (error.kind === 'rate_limited' || error.kind === 'refused') return error;
  return new ProviderError('refused', error.message, error.details, { cause: error });
}

/** The same for whatever a step before the create has thrown. */
export function throwBeforeBuying(error: unknown): never {
  throw error instanceof ProviderError ? beforeBuying(error) : error;
}

/** A create too soon is refused for a while; the rest of the upstream goes on. */
export function outOfTurn(error: ProviderError, retryAfterMs: number): ProviderError {
  const details = { ...error.details, retryAfterMs, outOfTurn: true };
  return new ProviderError('rate_limited', error.message, details, { cause: error });
}

function kindOfStatus(status: number, effect: CallEffect): ProviderErrorKind {
  if (status === 429) return 'rate_limited';
  // A success whose body can't be read, a server's fault, or a wait that the server gave up: it may have happened.
  if (status < 300 || status >= 500 || status === 408) return 'unknown';
  if (effect === 'buys' && [400, 404, 409, 410].includes(status)) return 'no_capacity';
  // A conflict passes ("still provisioning"), so the end of a pod is asked for again.
  if (effect === 'buys_nothing' && [409, 423, 425].includes(status)) return 'unknown';
  return 'refused';
}

/** Returns the upstream's own wait, from either of two headers, or a few seconds by default. */
function retryAfterOf(headers: Headers): number {
  return findRetryAfterMs(headers) ?? findWindowsEndMs(headers) ?? DEFAULT_RETRY_AFTER_MS;
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function findRetryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}

/**
 * Reads `RateLimit` (draft-ietf-httpapi-ratelimit-headers): for each window the requests that remain (r) and the
 * seconds to its end (t). Returns the latest end of the windows that are used up.
 */
function findWindowsEndMs(headers: Headers): number | undefined {
  const ends = (headers.get('ratelimit') ?? '')
    .split(',')
    .filter((window) => /;\s*r=0(?:;|\s*$)/.test(window))
    .map((window) => Number(/;\s*t=(\d+)/.exec(window)?.[1] ?? NaN))
    .filter((seconds) => !Number.isNaN(seconds));
  return ends.length === 0 ? undefined : Math.max(...ends) * 1000;
}

const WORDS = ['error', 'message', 'msg', 'detail'];

/** Returns the upstream's own words, for operators: of `error` or around it, or `detail` and `errors` (RFC 9457). */
function wordsOf(body: unknown): string {
  const outer = fieldsOf(body);
  const fields = { ...outer, ...fieldsOf(outer['error']) };
  const words = WORDS.flatMap((name) => textField(fields, name) ?? []).join(': ') || null;
  const all = [...(words === null ? [] : [words]), ...textsField(fields, 'errors')];
  return all.length === 0 ? '' : ` (${all.join('; ').slice(0, MAX_WORDS)})`;
}
