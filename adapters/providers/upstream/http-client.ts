import { createJsonListReader } from './json-list.js';
import { ProviderError } from '../provider.js';
import type { RequestBudget, RequestUse } from './request-budget.js';

/** The most that an answer may hold that is read whole: all but lists. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** A list may take so long in all, as long as it makes progress: 50,000 machines are some 100 MB (decision 75). */
const LIST_LIMIT_MS = 60_000;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined when the body is none. */
  readonly body: unknown;
}

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

  /** The connection broke after the request left: no limit of ours ended it, and what came was no nonsense. */
  get broke(): boolean {
    const name = this.cause instanceof Error ? this.cause.name : '';
    return this.sent && name !== 'TimeoutError' && name !== 'MalformedListError';
  }
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Appended to the client's base address; begins with a slash. */
  readonly path: string;
  readonly body?: unknown;
  /** Less than the client's limit, where the caller can't wait so long. */
  readonly timeoutMs?: number;
  /** The instant, on the clock of performance.now(), beyond which the caller can't wait whatever the limits say. */
  readonly untilMs?: number | undefined;
  /**
   * Sent once more, within the same limit, when the connection breaks: an upstream may close a kept-alive connection
   * in the moment of its use. Only for what may happen twice; a GET always may.
   */
  readonly repeatable?: boolean;
  /** What of the budget it takes; unless told, a GET reads and all else acts. */
  readonly use?: RequestUse;
}

/** A list that is read while it arrives, whatever its length. */
export interface ListRequest<T> {
  readonly path: string;
  /** The field of the answer that holds the list. */
  readonly name: string;
  /** What is kept of an element; the rest of it is dropped at once. */
  readonly read: (element: unknown) => readonly T[];
  /** The rest of the list is not read once this has been found. */
  readonly isWanted?: (item: T) => boolean;
  readonly untilMs?: number | undefined;
}

export interface ListAnswer<T> extends HttpAnswer {
  /** undefined when the answer has no such list, or is no success: that is not the same as an empty one. */
  readonly items: T[] | undefined;
}

export interface HttpClient {
  /**
   * One request, and its repetition only where it is repeatable.
   * @throws HttpFailure when no whole answer came within the limit
   * @throws ProviderError rate_limited when the budget is used up: nothing was sent
   */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /**
   * Reads a list; repeated once when the connection breaks. Each part of it must come within the client's limit of the
   * one before, and all of it within a minute.
   * @throws HttpFailure and ProviderError as `request` does, and HttpFailure for a list that breaks off
   */
  list<T>(request: ListRequest<T>): Promise<ListAnswer<T>>;
}

/**
 * A JSON client with a limit on everything: the time until the whole answer is read, and the answer's size.
 * Redirects are answers and not followed, for they would carry the key elsewhere and repeat a purchase.
 * @param options.timeoutMs for each call, from its start to the last byte of its answer (decision 20)
 */
export function createHttpClient(options: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly budget?: RequestBudget | undefined;
  /** Hears the headers of each answer to a GET before the caller does. It must not fail. */
  readonly onRead?: ((headers: Headers) => Promise<void>) | undefined;
}): HttpClient {
  const base = options.url.replace(/\/+$/, '');
  const fetchAnswer = async (request: HttpRequest, signal: AbortSignal): Promise<Response> => {
    const { method, path, body } = request;
    return fetch(base + path, {
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
  };
  const send = async (request: HttpRequest, limitMs: number): Promise<HttpAnswer> => {
    await refuseOverBudget(request, options.budget);
    try {
      return await readWhole(await fetchAnswer(request, AbortSignal.timeout(limitMs)));
    } catch (error) {
      throw failureOf(error, request, limitMs);
    }
  };
  const sendList = async <T>(request: ListRequest<T>, limitMs: number): Promise<ListAnswer<T>> => {
    const asked = { method: 'GET', path: request.path } as const;
    await refuseOverBudget(asked, options.budget);
    const watch = watchProgress(Math.min(limitMs, options.timeoutMs), limitMs);
    try {
      const response = await fetchAnswer(asked, watch.signal);
      if (!response.ok) return { ...(await readWhole(response)), items: undefined };
      const items = await readItems(response, request, watch.tell);
      return { status: response.status, headers: response.headers, body: undefined, items };
    } catch (error) {
      throw failureOf(error, asked, limitMs);
    } finally {
      watch.end();
    }
  };
  return {
    async request(request) {
      const isRead = request.method === 'GET';
      const answer = await twice(
        limitOf(request, options.timeoutMs),
        request.repeatable ?? isRead,
        (limitMs) => send(request, limitMs),
      );
      if (isRead) await options.onRead?.(answer.headers);
      return answer;
    },
    async list(request) {
      const answer = await twice(limitOf({ method: 'GET', ...request }, LIST_LIMIT_MS), true, (limitMs) =>
        sendList(request, limitMs),
      );
      await options.onRead?.(answer.headers);
      return answer;
    },
  };
}

/** Asks, and once more within the same limit when the connection broke and the request may be repeated. */
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

/** Aborts what makes no progress for `stallMs`, or is not over after `limitMs`. */
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

async function readWhole(response: Response): Promise<HttpAnswer> {
  return { status: response.status, headers: response.headers, body: parse(await readText(response)) };
}

async function readItems<T>(
  response: Response,
  { name, read, isWanted }: ListRequest<T>,
  tellProgress: () => void,
): Promise<T[] | undefined> {
  const items: T[] = [];
  const found = { isWanted: false };
  const reader = createJsonListReader(name, (element) => {
    for (const item of read(element)) {
      items.push(item);
      found.isWanted ||= isWanted?.(item) === true;
    }
  });
  for await (const chunk of chunksOf(response)) {
    tellProgress();
    reader.write(chunk);
    // Leaving the loop closes the connection.
    if (found.isWanted) return items;
  }
  return reader.end() ? items : undefined;
}

function chunksOf(response: Response): AsyncIterable<Uint8Array> {
  return (response.body ?? []) as AsyncIterable<Uint8Array>;
}

/**
 * How long a request may take, whole milliseconds.
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

/** A request that the upstream would refuse is not sent: it might shut us out for longer. */
async function refuseOverBudget(
  { method, path, use = method === 'GET' ? 'reading' : 'acting' }: HttpRequest,
  budget: RequestBudget | undefined,
): Promise<void> {
  const retryAfterMs = (await budget?.take(use)) ?? 0;
  if (retryAfterMs === 0) return;
  throw new ProviderError('rate_limited', `${method} ${path}: the request budget is used up`, {
    retryAfterMs,
  });
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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
 * True when the failure came from looking up the name or from connecting. The error's code alone does not tell:
 * a connection that was made may end with the same one.
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
