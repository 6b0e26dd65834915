import { ApiError, ConnectionError, errorOfAnswer } from './errors.js';
import type {
  Event,
  EventType,
  FeedRange,
  LiveBalance,
  LiveMeter,
  StreamClosed,
  StreamReady,
  StreamSeen,
} from './schema.js';
import { SseParser, type SseMessage } from './sse.js';
import { sleep } from './time.js';
import type { Transport } from './transport.js';

/** What a stream tells, in the order in which it comes. */
export type StreamItem =
  /** It has (again) begun: events after `afterSeq` follow. */
  | ({ readonly kind: 'connected' } & StreamReady)
  | { readonly kind: 'event'; readonly event: Event }
  /** With `types`: events up to this number were left out. */
  | ({ readonly kind: 'seen' } & StreamSeen)
  /** States, not events: at most one a second, and only when something changed. */
  | { readonly kind: 'balance'; readonly balance: LiveBalance }
  | { readonly kind: 'meter'; readonly meter: LiveMeter }
  /** Events between are not to be had: read rentals and balance anew. The stream goes on by itself. */
  | ({ readonly kind: 'resync' } & Partial<FeedRange>)
  /** The service ends the connection, and says why. */
  | ({ readonly kind: 'closed' } & StreamClosed)
  /** The connection is gone; the next one is tried after the delay, from the last event on. */
  | { readonly kind: 'reconnecting'; readonly delayMs: number; readonly error: Error | undefined };

/** Where a stream begins, and what it leaves out. */
export interface StreamOptions {
  /** The `seq` of the last event that you know; default: what happens from now on. */
  readonly after?: number | undefined;
  /** Only events of these types. Balance and meters come all the same. */
  readonly types?: readonly EventType[] | undefined;
  /** After how much silence a connection counts as dead, in milliseconds; default: 45 s, three signs of life. */
  readonly silenceMs?: number | undefined;
  /** Ends the stream; it throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The service gives a sign of life each 15 s. */
const SILENCE_MS = 45_000;
const FIRST_RETRY_MS = 2_000;
const RETRY_MAX_MS = 60_000;

/**
 * Follows what happens to the account, over lost connections, until the signal or the end of the loop ends it.
 * @throws ApiError what stays refused: the session or key has ended, or the request is not right
 */
export async function* followEvents(
  transport: Transport,
  options: StreamOptions = {},
): AsyncGenerator<StreamItem, never, undefined> {
  const place: Place = { lastId: options.after?.toString(), retryMs: FIRST_RETRY_MS, failures: 0 };
  for (;;) {
    let error: Error | undefined;
    try {
      yield* connection(transport, options, place);
    } catch (cause) {
      options.signal?.throwIfAborted();
      if (isFinal(cause)) throw cause;
      error = cause instanceof Error ? cause : new Error(String(cause));
    }
    place.failures += 1;
    const delayMs = pauseBefore(place, error);
    yield { kind: 'reconnecting', delayMs, error };
    await sleep(delayMs, options.signal);
  }
}

/** What outlives a connection. */
interface Place {
  lastId: string | undefined;
  retryMs: number;
  /** Connections in a row that told nothing. */
  failures: number;
}

function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 429;
}

/** Never sooner than the service asked, and later with each failure. */
function pauseBefore({ retryMs, failures }: Place, error: Error | undefined): number {
  const asked = error instanceof ApiError || error instanceof ConnectionError ? error.retryAfterSeconds : 0;
  const growing = Math.min(RETRY_MAX_MS, retryMs * 2 ** Math.min(failures - 1, 10));
  return Math.max((asked ?? 0) * 1_000, growing) * (1 + Math.random() / 2);
}

async function* connection(
  transport: Transport,
  { types, signal, silenceMs = SILENCE_MS }: StreamOptions,
  place: Place,
): AsyncGenerator<StreamItem, void, undefined> {
  const silence = new Silence(silenceMs, signal);
  try {
    const response = await transport.fetch(requestOf(transport, types, place.lastId, silence.signal));
    if (!response.ok) throw errorOfAnswer(response, await bodyOf(response));
    for await (const { event, data, lastId } of messagesOf(response, place, silence)) {
      place.failures = 0;
      // One that the caller leaves out is no reason to connect again.
      for (const told of transport.takeIn([JSON.parse(data) as unknown])) yield* itemsOf(event, told);
      place.lastId = lastId ?? place.lastId;
    }
  } catch (error) {
    throw silence.reason ?? error;
  } finally {
    // Lets go of the connection, also where the caller's loop has ended.
    silence.end();
  }
}

function requestOf(
  { baseUrl }: Transport,
  types: readonly EventType[] | undefined,
  lastId: string | undefined,
  signal: AbortSignal,
): Request {
  const query = types === undefined ? '' : `?types=${types.map(encodeURIComponent).join(',')}`;
  return new Request(`${baseUrl}/v1/events/stream${query}`, {
    headers: { Accept: 'text/event-stream', ...(lastId !== undefined && { 'Last-Event-ID': lastId }) },
    credentials: 'include',
    redirect: 'manual',
    signal,
  });
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

async function* messagesOf(
  response: Response,
  place: Place,
  silence: Silence,
): AsyncGenerator<SseMessage, void, undefined> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader || response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true) {
    throw new ConnectionError('The answer is not an event stream: is a proxy answering instead?', {
      status: response.status,
    });
  }
  // Node lets go of a request's signal once the request was collected: the reader is told by itself.
  const stop = (): void => void reader.cancel(silence.signal.reason).catch(() => undefined);
  silence.signal.addEventListener('abort', stop, { once: true });
  for (;;) {
    silence.begin();
    const { done, value } = await reader.read();
    silence.signal.throwIfAborted();
    if (done) return;
    const messages = parser.feed(decoder.decode(value, { stream: true }));
    place.retryMs = parser.retryMs ?? place.retryMs;
    silence.pause();
    yield* messages;
  }
}

function* itemsOf(name: string, data: unknown): Generator<StreamItem, void, undefined> {
  if (name === 'ready') yield { kind: 'connected', ...(data as StreamReady) };
  else if (name === 'seen') yield { kind: 'seen', ...(data as StreamSeen) };
  else if (name === 'balance') yield { kind: 'balance', balance: data as LiveBalance };
  else if (name === 'meter') yield { kind: 'meter', meter: data as LiveMeter };
  else if (name === 'resync') yield { kind: 'resync', ...(data as FeedRange) };
  else if (name === 'closed') yield { kind: 'closed', ...(data as StreamClosed) };
  else if (isEvent(data)) {
    yield { kind: 'event', event: data };
    if (name === 'feed.resync') yield { kind: 'resync', lastSeq: data.seq };
  }
}

/** Messages of newer services that are no events are left out. */
function isEvent(data: unknown): data is Event {
  return typeof data === 'object' && data !== null && 'seq' in data && 'type' in data;
}

/** Ends a connection that says nothing for long, and one whose caller ends it. */
class Silence {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Why the connection was ended here; undefined when it was not. */
  reason: unknown;

  readonly #limitMs: number;

  constructor(limitMs: number, outer: AbortSignal | undefined) {
    outer?.throwIfAborted();
    this.#limitMs = limitMs;
    this.#outer = outer;
    outer?.addEventListener('abort', this.#stop, { once: true });
    this.begin();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    this.pause();
    this.#timer = setTimeout(() => {
      this.reason = new ConnectionError(`The stream was silent for ${this.#limitMs / 1_000} s.`, {
        timedOut: true,
      });
      this.#controller.abort(this.reason);
    }, this.#limitMs);
  }

  /** The caller works on what came; the service is not silent meanwhile. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.pause();
    this.#outer?.removeEventListener('abort', this.#stop);
    this.#controller.abort();
  }
}
