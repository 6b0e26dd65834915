import createClient, { type Client } from 'openapi-fetch';
import { Cookies } from './cookies.js';
import { ConnectionError, errorOfAnswer, type ApiError } from './errors.js';
import { heard } from './long-answers.js';
import { mostOpen } from './outcomes.js';
import { mayRepeat, type Repeats } from './retries.js';
import type { paths } from './schema.js';
import { growingPause, sleep, within } from './time.js';

/** How requests leave and come back. */
export interface TransportOptions {
  /** Where the API is: `https://api.example.com`, with a path where it is below one. */
  readonly baseUrl: string;
  /** An API key. Without one the session's cookie counts, which a browser keeps by itself. */
  readonly apiKey?: string | undefined;
  /** A session of before, as `GpuRental.session` told it. */
  readonly session?: { readonly cookie: string } | undefined;
  /** Sends a request; default: the platform's own. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Names the program to the service; Node only. */
  readonly userAgent?: string | undefined;
  /** Is told before a request is sent again. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Takes the body of each answer as it came in, those of failures and the items of a stream too but not those of `request`, and gives what is handed on in its place. */
  readonly onAnswer?: (<T>(answer: T) => T) | undefined;
  /** How often a request is sent again at most; default: 3. */
  readonly retries?: number | undefined;
  /** The pause before the first repetition, in milliseconds; later ones double. Default: 500. */
  readonly pauseMs?: number | undefined;
  /**
   * How long one answer may take, in milliseconds, and a file between two pieces of it; default: 40 s, longer than the
   * service needs to say what it knows.
   */
  readonly answerWithinMs?: number | undefined;
  /** How long a call may take with all its retries, in milliseconds, whatever it asks for itself; default: no limit. */
  readonly callWithinMs?: number | undefined;
}

/** A request that failed, and that is sent again. */
export interface Retry {
  /** 1 before the first repetition. */
  readonly number: number;
  readonly delayMs: number;
  readonly error: ApiError | ConnectionError;
}

/** What each call takes. */
export interface CallOptions {
  /** Ends the call, its retries and its waits; it throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take with all its retries, in milliseconds; default: 2 minutes, and no limit for a file. */
  readonly timeoutMs?: number | undefined;
}

/** What openapi-fetch gives for one request. */
interface Sent<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** Sends one request whose answer is a file of any length. */
export type SendForFile = Send<ReadableStream<Uint8Array> | null>;

/** Sends one request. */
export type Send<T> = (api: Client<paths>, init: { readonly signal: AbortSignal }) => Promise<Sent<T>>;

/** How long a call may take with all its retries. */
export const CALL_WITHIN_MS = 120_000;
const ANSWER_WITHIN_MS = 40_000;
/** Of a timer, which takes a longer time for none. */
const LONGEST_MS = 2 ** 31 - 1;
const FIRST_PAUSE_MS = 500;
const PAUSE_MAX_MS = 8_000;
/** A longer Retry-After is the caller's to decide on. */
const RETRY_AFTER_MAX_SECONDS = 30;

/** Errors of a connection that never came about. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/** Sends requests: who asks, deadlines, and which failures are answered by sending again. */
export class Transport {
  readonly baseUrl: string;
  readonly #options: TransportOptions;
  readonly #cookies: Cookies;
  readonly #api: Client<paths>;

  /** @throws TypeError when the address or the key can't be right */
  constructor(options: TransportOptions) {
    this.#options = { ...options, apiKey: cleanKey(options.apiKey) };
    this.baseUrl = cleanUrl(options.baseUrl);
    this.#cookies = new Cookies(options.session?.cookie);
    this.#api = createClient<paths>({
      baseUrl: this.baseUrl,
      fetch: (request) => this.fetch(request),
      credentials: 'include',
      redirect: 'manual',
      // A list in a query is one text.
      querySerializer: { array: { style: 'form', explode: false } },
    });
  }

  /** The session's cookies, to go on with later; undefined in browsers, which show none, and without a session. */
  get session(): { readonly cookie: string } | undefined {
    const { header } = this.#cookies;
    return header === undefined ? undefined : { cookie: header };
  }

  /**
   * Calls the API, and calls again where that can do no harm.
   * @throws ApiError what the API refused
   * @throws ConnectionError when there was no answer of it
   */
  async call<T>(repeats: Repeats, options: CallOptions | undefined, send: Send<T>): Promise<T> {
    return this.takeIn(await this.untold(repeats, options, send));
  }

  /**
   * Reads a file of any length whole: each piece of it must come within the limit of an answer.
   * @throws ConnectionError also for one that breaks off
   */
  async file(options: CallOptions | undefined, send: SendForFile): Promise<ArrayBuffer> {
    const read: Send<ArrayBuffer> = async (api, { signal }) => {
      const { data, ...sent } = await within(this.#answerWithin, signal, (begun) =>
        send(api, { signal: begun }),
      );
      if (!sent.response.ok) return sent;
      return { ...sent, data: await new Response(this.#heard(data, Infinity, signal)).arrayBuffer() };
    };
    return this.untold('read', options, read, Infinity, LONGEST_MS);
  }

  /**
   * Hands a file on in pieces, as `file` reads it; one that breaks off is not asked for again.
   * @param repeats how the request for it is repeated
   */
  async pieces(
    repeats: Repeats,
    options: CallOptions | undefined,
    send: SendForFile,
  ): Promise<ReadableStream<Uint8Array>> {
    const endsAt = Date.now() + this.callWithin(options, Infinity);
    return this.#heard(await this.untold(repeats, options, send), endsAt, options?.signal);
  }

  #heard(
    body: ReadableStream<Uint8Array> | null | undefined,
    endsAt: number,
    signal: AbortSignal | undefined,
  ): ReadableStream<Uint8Array> {
    const limits = { silenceMs: this.#answerWithin, endsAt, signal };
    return heard(body, limits, (error) => this.#unreachable(error));
  }

  /** Calls as `call` does; `onAnswer` is told of refusals alone. */
  async untold<T>(
    repeats: Repeats,
    options: CallOptions | undefined,
    send: Send<T>,
    callMs = CALL_WITHIN_MS,
    answerMs = this.#answerWithin,
  ): Promise<T> {
    const signal = options?.signal;
    const endsAt = Date.now() + this.callWithin(options, callMs);
    let told: ApiError | ConnectionError | undefined;
    for (let number = 1; ; number += 1) {
      const outcome = await this.#attempt(Math.min(endsAt - Date.now(), answerMs), signal, send);
      if (!('failure' in outcome)) return outcome.data;
      const error = outcome.failure;
      const delayMs = this.#pauseBefore(number, repeats, error);
      told = repeats === 'read' ? error : mostOpen(told, error);
      if (delayMs === undefined || Date.now() + delayMs >= endsAt) throw told;
      this.#options.onRetry?.({ number, delayMs, error });
      await sleep(delayMs, signal);
    }
  }

  /** Hands an answer on as the caller's `onAnswer` gives it. */
  takeIn<T>(answer: T): T {
    return this.#options.onAnswer?.(answer) ?? answer;
  }

  get #answerWithin(): number {
    return this.#options.answerWithinMs ?? ANSWER_WITHIN_MS;
  }

  /** How long a call may take with all its retries, in milliseconds. */
  callWithin(options: CallOptions | undefined, usuallyMs = CALL_WITHIN_MS): number {
    return Math.min(options?.timeoutMs ?? usuallyMs, this.#options.callWithinMs ?? Infinity);
  }

  async #attempt<T>(
    limitMs: number,
    signal: AbortSignal | undefined,
    send: Send<T>,
  ): Promise<{ data: T } | { failure: ApiError | ConnectionError }> {
    let sent: Sent<T>;
    try {
      sent = await within(Math.max(1, limitMs), signal, (within) => send(this.#api, { signal: within }));
    } catch (error) {
      signal?.throwIfAborted();
      return { failure: error instanceof ConnectionError ? error : this.#unreachable(error) };
    }
    const { data, error, response } = sent;
    if (response.ok) return { data: data as T };
    return { failure: errorOfAnswer(response, this.takeIn(error)) };
  }

  /** How long to wait before sending again; undefined when the failure stands. */
  #pauseBefore(number: number, repeats: Repeats, error: ApiError | ConnectionError): number | undefined {
    if (number > (this.#options.retries ?? 3) || !mayRepeat(repeats, error)) return undefined;
    const { retryAfterSeconds = 0 } = error;
    if (retryAfterSeconds > RETRY_AFTER_MAX_SECONDS) return undefined;
    return (
      retryAfterSeconds * 1_000 + growingPause(number, this.#options.pauseMs ?? FIRST_PAUSE_MS, PAUSE_MAX_MS)
    );
  }

  /**
   * Sends one request as who this client is, and takes the cookies of the answer.
   * @throws ConnectionError when there is none
   */
  async fetch(request: Request): Promise<Response> {
    this.#identify(request.headers);
    const response = await this.#send(request);
    // An answer of another place would be none of the API's, and it is not told who asks.
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel();
      throw new ConnectionError(`${this.baseUrl} redirects to another address: use that one as baseUrl.`, {
        status: response.status,
      });
    }
    this.#cookies.take(response.headers);
    return response;
  }

  #identify(headers: Headers): void {
    const { apiKey, userAgent } = this.#options;
    if (apiKey !== undefined) headers.set('Authorization', `Bearer ${apiKey}`);
    else if (this.#cookies.header !== undefined) headers.set('Cookie', this.#cookies.header);
    // Pages of other origins may not name themselves.
    if (userAgent !== undefined && !isBrowser()) headers.set('User-Agent', userAgent);
  }

  async #send(request: Request): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#options;
    try {
      return await fetch(request);
    } catch (error) {
      throw request.signal.aborted ? error : this.#unreachable(error);
    }
  }

  #unreachable(cause: unknown): ConnectionError {
    const code = codeOf(cause);
    const neverSent = NEVER_SENT.test(code ?? '');
    const why = code ?? (cause instanceof Error ? cause.message : String(cause));
    return new ConnectionError(`No answer from ${this.baseUrl}: ${why}`, { cause, neverSent });
  }
}

/** Finds the system's code of an error, in the error or in what caused it. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}

function isBrowser(): boolean {
  return 'document' in globalThis || 'importScripts' in globalThis;
}

function cleanUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined && [url.username, url.password, url.search, url.hash].every((part) => part === '');
  // A path stays: what else is at that host is not asked, and gets no key.
  if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return url.href.replace(/\/+$/, '');
  throw new TypeError(`baseUrl must be an http or https address, as https://api.example.com, not “${text}”`);
}

/** A key that no header could carry is refused here: the platform's own error would show it. */
function cleanKey(key: string | undefined): string | undefined {
  const trimmed = key?.trim();
  if (trimmed === undefined || /^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new TypeError('apiKey is not a key: it is gpur_ and 36 letters and digits');
}
