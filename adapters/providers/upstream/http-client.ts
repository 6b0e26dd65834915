import { setTimeout as sleep } from 'node:timers/promises';
import { called, type Call } from '../../tracing/calls.js';
import { ProviderError } from '../provider.js';
import type { Pace, RequestBudget, RequestUse } from './request-budget.js';
import { MINUTE } from '../../../domain/durations.js';

/**
 * The limit of a whole list that makes progress which nobody hears: 50,000 machines are some 100 MB (decision 75, "Long
 * upstream lists").
 */
const LIST_LIMIT_MS = MINUTE;
/** The limit of a list whose progress somebody hears: one that trickles for so long is none. */
const HEARD_LIST_LIMIT_MS = 30 * MINUTE;

/** Waiting for its turns leaves a request this share of its limit for the answer. */
const ANSWER_SHARE = 0.2;

/** No answer came. `sent` is false only when the request provably never left this machine. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  constructor(
    readonly sent: boolean,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** The connection broke after the request left: no limit of ours ended it, and the answer was not malformed. */
  get broke(): boolean {
    const name = this.cause instanceof Error ? this.cause.name : '';
    return this.sent && name !== 'TimeoutError' && name !== 'MalformedListError';
  }
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Appended to the client's base address; begins with a slash. */
  readonly path: string;
  readonly body?: unknown;
  /** Less than the client's limit, for a caller that can't wait that long. */
  readonly timeoutMs?: number;
  /**
   * The answer may take a minute, or far longer where `onPart` is given, as long as each part of it comes within the
   * client's limit of the one before.
   */
  readonly isList?: boolean;
  /** Is told of each part of a list that has come. What it throws ends the request. */
  readonly onPart?: (() => void) | undefined;
  /** The instant, on the clock of performance.now(), beyond which the caller can't wait whatever the limits say. */
  readonly untilMs?: number | undefined;
  /**
   * The request is sent once more, within the same limit, when the connection breaks: an upstream may close a
   * kept-alive connection at the moment of its use. Only for requests that may happen twice; a GET always may.
   */
  readonly repeatable?: boolean;
  /** The kind of request in the budget; by default a GET reads and all else acts. */
  readonly use?: RequestUse;
  /** The paces of the upstream that the request keeps: it waits for its turn in each, within its limit. */
  readonly paces?: readonly Pace[];
  /** It may wait so long for its turns, and has its limit after that. */
  readonly turnsMs?: number;
}

/**
 * Reads one answer to its end.
 * @param tellProgress to be called for each part of it that has come
 */
export type ReadAnswer<T> = (response: Response, tellProgress: () => void) => Promise<T>;

export interface HttpClientOptions {
  /** The API's address; a request's path is appended to it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The limit of each call, from its start to the last byte of its answer (decision 20, "Wallet lock while buying").
   */
  readonly timeoutMs: number;
  readonly budget?: RequestBudget | undefined;
  /** Gets the headers of each answer to a GET before the caller does. It must not fail. */
  readonly onRead?: ((headers: Headers) => Promise<void>) | undefined;
}

export interface HttpClient {
  /**
   * Sends one request, and repeats it only where it is repeatable.
   * @param read reads the answer
   * @throws HttpFailure when no whole answer came within the limit, or `read` failed
   * @throws ProviderError rate_limited, out of turn, when the budget is used up: nothing was sent
   */
  send<T>(request: HttpRequest, read: ReadAnswer<T>): Promise<T>;
}

/**
 * Makes a JSON client with a limit on the time until the whole answer is read. Redirects are answers and are not
 * followed: they would carry the key elsewhere and repeat a purchase.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const base = options.url.replace(/\/+$/, '');
  const fetchAnswer = async ({ method, path, body }: HttpRequest, signal: AbortSignal): Promise<Response> =>
    called(callOf(base, method), async (note) => {
      const response = await fetch(base + path, {
        method,
        redirect: 'manual',
        signal,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      note({ 'http.response.status_code': response.status });
      return response;
    });
  const exchange = async <T>(request: HttpRequest, limitMs: number, read: ReadAnswer<T>) => {
    const endMs = performance.now() + limitMs;
    const turnsMs = request.turnsMs ?? limitMs * (1 - ANSWER_SHARE);
    await awaitTurns(request, performance.now() + turnsMs, options.budget);
    await refuseOverBudget(request, options.budget);
    const ownMs = request.turnsMs === undefined ? endMs - performance.now() : limitMs;
    const leftMs = Math.max(1, Math.floor(ownMs));
    const stallMs = request.isList ? Math.min(leftMs, options.timeoutMs) : leftMs;
    const watch = watchProgress(stallMs, leftMs);
    const stop: { error?: unknown } = {};
    const tellProgress = (): void => {
      watch.tell();
      try {
        request.onPart?.();
      } catch (error) {
        stop.error = error;
        throw error;
      }
    };
    try {
      const response = await fetchAnswer(request, watch.signal);
      return { headers: response.headers, answer: await read(response, tellProgress) };
    } catch (error) {
      // Whoever hears of the parts has enough of them: the upstream did not fail.
      throw error === stop.error ? error : failureOf(error, request, limitMs);
    } finally {
      watch.end();
    }
  };
  return {
    async send(request, read) {
      const isRead = request.method === 'GET';
      const listMs = request.onPart === undefined ? LIST_LIMIT_MS : HEARD_LIST_LIMIT_MS;
      const limitMs = limitOf(request, request.isList ? listMs : options.timeoutMs);
      const { headers, answer } = await twice(limitMs, request.repeatable ?? isRead, (leftMs) =>
        exchange(request, leftMs, read),
      );
      if (isRead) await options.onRead?.(headers);
      return answer;
    },
  };
}

/** Sends a request, and once more within the same limit when the connection broke and the request may be repeated. */
async function twice<T>(
  limitMs: number,
  mayRepeat: boolean,
  ask: (limitMs: number) => Promise<T>,
): Promise<T> {
  const endMs = performance.now() + limitMs;
  try {
    return await ask(limitMs);
  } catch (error) {
    const leftMs = Math.floor(endMs - performance.now());
    if (!mayRepeat || leftMs <= 0 || !(error instanceof HttpFailure) || !error.broke) throw error;
    return ask(leftMs);
  }
}

/** Aborts a request that makes no progress for `stallMs`, or is not over after `limitMs`. */
function watchProgress(
  stallMs: number,
  limitMs: number,
): { signal: AbortSignal; tell: () => void; end: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new DOMException('no progress', 'TimeoutError'));
  const stall = setTimeout(abort, stallMs);
  const limit = setTimeout(abort, limitMs);
  return {
    signal: controller.signal,
    tell: () => void stall.refresh(),
    end() {
      clearTimeout(stall);
      clearTimeout(limit);
    },
  };
}

/**
 * Returns how long a request may take, in whole milliseconds.
 * @throws HttpFailure when its caller's time is over: it is not sent
 */
function limitOf(
  { method, path, timeoutMs = Infinity, untilMs = Infinity }: HttpRequest,
  ofClientMs: number,
): number {
  const limitMs = Math.floor(Math.min(timeoutMs, ofClientMs, untilMs - performance.now()));
  if (limitMs > 0) return limitMs;
  throw new HttpFailure(false, `${method} ${path}: there was no time left to ask`);
}

/**
 * Waits for a turn in each pace of a request.
 * @throws ProviderError rate_limited, out of turn, when none comes in time: nothing was sent
 */
async function awaitTurns(
  { method, path, paces = [] }: HttpRequest,
  endMs: number,
  budget: RequestBudget | undefined,
): Promise<void> {
  for (const pace of paces) {
    const mostWaitMs = pace.failsOutOfTurn === true ? 0 : Math.max(0, endMs - performance.now());
    const turn = await budget?.takeTurn(pace, mostWaitMs);
    if (turn?.isTaken === false) {
      throw new ProviderError('rate_limited', `${method} ${path}: it is not its turn (${pace.name})`, {
        retryAfterMs: turn.waitMs,
        outOfTurn: true,
      });
    }
    if (turn !== undefined && turn.waitMs > 0) await sleep(turn.waitMs);
  }
}

/** Does not send a request that the upstream would refuse: it might shut us out for longer. */
async function refuseOverBudget(
  { method, path, use = method === 'GET' ? 'reading' : 'acting' }: HttpRequest,
  budget: RequestBudget | undefined,
): Promise<void> {
  const retryAfterMs = (await budget?.take(use)) ?? 0;
  if (retryAfterMs === 0) return;
  throw new ProviderError('rate_limited', `${method} ${path}: the request budget is used up`, {
    // The upstream did not refuse it, and stays for sale.
    ...{ retryAfterMs, outOfTurn: true },
    ...(use === 'acting' && { overBudget: true }),
  });
}

function failureOf(error: unknown, { method, path }: HttpRequest, limitMs: number): HttpFailure {
  const what = `${method} ${path}`;
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new HttpFailure(true, `${what}: no answer within ${limitMs} ms`, { cause: error });
  }
  const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const reason = cause instanceof Error ? cause.message || codeOf(cause) : String(cause);
  return new HttpFailure(!neverLeft(cause), `${what}: ${reason}`, { cause: error });
}

/**
 * Tells whether the failure came from looking up the name or from connecting. The error's code alone does not tell: an
 * open connection may end with the same one.
 */
function neverLeft(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(neverLeft);
  if (!(cause instanceof Error)) return false;
  const { syscall } = cause as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo' || codeOf(cause) === 'UND_ERR_CONNECT_TIMEOUT';
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.name;
}

/** The upstream and the verb: paths hold ids of machines, and headers the key. */
function callOf(base: string, method: string): Call {
  const attributes = { 'http.request.method': method, 'server.address': new URL(base).hostname };
  return { callee: 'upstream', name: method, attributes };
}
