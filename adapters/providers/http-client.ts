import { ProviderError } from './provider.js';
import type { RequestBudget } from './request-budget.js';

/** The most that an answer may hold: a provider's whole catalog is well under it. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

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
}

export interface HttpClient {
  /**
   * One request, and its repetition only where it is repeatable.
   * @throws HttpFailure when no whole answer came within the limit
   * @throws ProviderError rate_limited when the budget is used up: nothing was sent
   */
  request(request: HttpRequest): Promise<HttpAnswer>;
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
}): HttpClient {
  const base = options.url.replace(/\/+$/, '');
  const send = async (request: HttpRequest, limitMs: number): Promise<HttpAnswer> => {
    const { method, path, body } = request;
    await refuseOverBudget(request, options.budget);
    try {
      const response = await fetch(base + path, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(limitMs),
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: parse(await readText(response)) };
    } catch (error) {
      throw failureOf(error, `${method} ${path}`, limitMs);
    }
  };
  return {
    async request(request) {
      const limitMs = limitOf(request, options.timeoutMs);
      const endMs = performance.now() + limitMs;
      try {
        return await send(request, limitMs);
      } catch (error) {
        const leftMs = Math.floor(endMs - performance.now());
        const mayRepeat = request.repeatable ?? request.method === 'GET';
        if (!mayRepeat || leftMs <= 0 || !(error instanceof HttpFailure) || !error.sent) throw error;
        return send(request, leftMs);
      }
    },
  };
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
  { method, path }: HttpRequest,
  budget: RequestBudget | undefined,
): Promise<void> {
  const retryAfterMs = (await budget?.take(method === 'GET' ? 'reading' : 'acting')) ?? 0;
  if (retryAfterMs === 0) return;
  throw new ProviderError('rate_limited', `${method} ${path}: the request budget is used up`, {
    retryAfterMs,
  });
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
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

function failureOf(error: unknown, what: string, limitMs: number): HttpFailure {
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
