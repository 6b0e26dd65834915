import type { ApiError, ConnectionError } from '../errors.js';
import { isPassing } from '../retries.js';
import type { Rental } from '../schema.js';
import type { StreamItem } from '../stream.js';
import { sleep } from '../time.js';
import { CALL_WITHIN_MS, type CallOptions } from '../transport.js';

/** How a machine is waited for. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Is told at the first look, and whenever the rental's `phase` has changed. */
  readonly onPhase?: ((rental: Rental) => void) | undefined;
  /** How long to wait, in milliseconds; default: an hour. The rental goes on all the same. */
  readonly timeoutMs?: number | undefined;
  /** For how long the service may be away meanwhile, in milliseconds; default: 5 minutes. */
  readonly gapMs?: number | undefined;
  /** Is told of each look that failed, when another one follows. */
  readonly onGap?: ((error: ApiError | ConnectionError) => void) | undefined;
}

/** A rental that did not come up: it has ended, or the time to wait for it is over. */
export class RentalNotReadyError extends Error {
  override readonly name = 'RentalNotReadyError';
  /** As it was seen last. */
  readonly rental: Rental;
  /** True when the wait is over and the rental is not: it may still come up. */
  readonly timedOut: boolean;

  constructor(message: string, rental: Rental, timedOut: boolean) {
    super(message);
    this.rental = rental;
    this.timedOut = timedOut;
  }
}

const WAIT_MS = 3_600_000;
const GAP_MS = 300_000;
/** From one look to the next: where the stream tells of most changes, and where there is none. */
const FOLLOWED_MS = 5_000;
const POLL_MS = 2_000;

/** What a wait asks the service. */
export interface Looks {
  /** @param options what a look has of the wait: its signal, and the time that is left */
  read(options: CallOptions): Promise<Rental>;
  follow(signal: AbortSignal): AsyncIterable<StreamItem>;
}

/**
 * Waits until a rental's machine can be entered. The stream tells when to look; where there is no stream, it looks every
 * two seconds.
 * @throws RentalNotReadyError when it ended before, or the time is over
 * @throws ApiError what stays refused, or ConnectionError when the service was away for too long
 */
export async function waitUntilReady(looks: Looks, id: string, options: WaitOptions): Promise<Rental> {
  const { signal, onPhase, timeoutMs = WAIT_MS } = options;
  const endsAt = Date.now() + timeoutMs;
  const gaps = new Gaps(options, endsAt);
  const nudge = new Nudge(looks, id, signal);
  let phase: Rental['phase'] | undefined;
  try {
    for (;;) {
      const leftMs = Math.min(CALL_WITHIN_MS, Math.max(1, endsAt - Date.now()));
      const rental = await gaps.over(() => looks.read({ signal, timeoutMs: leftMs }));
      if (rental === undefined) {
        await nudge.wait(Math.min(POLL_MS, endsAt - Date.now()));
        continue;
      }
      if (rental.phase !== phase) onPhase?.(rental);
      phase = rental.phase;
      if (rental.status === 'running') return rental;
      if (rental.status !== 'provisioning') throw ended(rental);
      if (Date.now() >= endsAt) throw late(rental, timeoutMs);
      await nudge.wait(endsAt - Date.now());
    }
  } finally {
    nudge.end();
  }
}

/** Looks that fail for a while end no wait: the machine goes on meanwhile. */
class Gaps {
  #seenAt = Date.now();
  #seen: Rental | undefined;

  constructor(
    private readonly options: WaitOptions,
    private readonly endsAt: number,
  ) {}

  /** @returns undefined for a look that failed */
  async over(look: () => Promise<Rental>): Promise<Rental | undefined> {
    const { signal, gapMs = GAP_MS, timeoutMs = WAIT_MS, onGap } = this.options;
    try {
      const rental = await look();
      this.#seenAt = Date.now();
      this.#seen = rental;
      return rental;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error) || Date.now() >= this.#seenAt + gapMs) throw error;
      // Where the time is over as well, it is told how the rental was seen last.
      if (Date.now() >= this.endsAt) throw this.#seen ? late(this.#seen, timeoutMs) : error;
      onGap?.(error);
      return undefined;
    }
  }
}

function late(rental: Rental, timeoutMs: number): RentalNotReadyError {
  const message = `Rental ${rental.id} is not ready after ${Math.round(timeoutMs / 1_000)} s. It is still starting: check again, or stop it.`;
  return new RentalNotReadyError(message, rental, true);
}

function ended(rental: Rental): RentalNotReadyError {
  const why = rental.failure?.message ?? rental.error ?? rental.stopReason ?? rental.status;
  return new RentalNotReadyError(`Rental ${rental.id} did not start: ${why}`, rental, false);
}

/** Follows the stream beside the wait, and ends its pauses early. */
class Nudge {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.#controller.abort(this.#outer?.reason);
  #isFollowed = false;
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor(looks: Looks, id: string, outer: AbortSignal | undefined) {
    this.#outer = outer;
    outer?.addEventListener('abort', this.#stop, { once: true });
    void this.#follow(looks.follow(this.#controller.signal), id);
  }

  async #follow(stream: AsyncIterable<StreamItem>, id: string): Promise<void> {
    try {
      for await (const item of stream) {
        if (item.kind === 'reconnecting') this.#isFollowed = false;
        else this.#isFollowed = true;
        const isNews = item.kind === 'event' ? item.event.entityId === id : item.kind === 'connected';
        if (isNews) this.#tell();
      }
    } catch {
      // The looks go on without it, and tell what is wrong if they fail too.
      this.#isFollowed = false;
    }
  }

  #tell(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  /** Waits for news of the rental, or a while. */
  async wait(leftMs: number): Promise<void> {
    this.#outer?.throwIfAborted();
    const pauseMs = Math.max(1, Math.min(leftMs, this.#isFollowed ? FOLLOWED_MS : POLL_MS));
    const over = new AbortController();
    const news = new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#hasNews) resolve();
    });
    const pause = sleep(pauseMs, over.signal).catch(() => undefined);
    const aborted = new Promise<void>((resolve) => {
      this.#controller.signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
    });
    await Promise.race([news, pause, aborted]);
    over.abort();
    this.#hasNews = false;
    this.#outer?.throwIfAborted();
  }

  end(): void {
    this.#outer?.removeEventListener('abort', this.#stop);
    this.#controller.abort();
  }
}
