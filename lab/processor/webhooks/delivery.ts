import { createHmac } from 'node:crypto';
import type { Faults } from '../faults.js';
import { writeJson } from '../http/page-url.js';
import type { Store } from '../store.js';
import type { Delivery } from '../tables.js';

/**
 * The pauses between attempts. The processor retries for three days with growing pauses (docs.stripe.com/webhooks);
 * here the same shape takes about two minutes.
 */
export const defaultRetryDelaysMs: readonly number[] = [
  200, 500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000,
];

const attemptLimitMs = 10_000;
const inFlightLimit = 32;
/** How long a reordered event waits for a later one to overtake it. */
const overtakeLimitMs = 2000;

/** Makes the `Stripe-Signature` header of a body (docs.stripe.com/webhooks/signature, scheme v1). */
export function signature(body: string, secret: string, timestampS: number): string {
  const v1 = createHmac('sha256', secret).update(`${timestampS}.${body}`).digest('hex');
  return `t=${timestampS},v1=${v1}`;
}

export interface DeliveryOptions {
  readonly store: Store;
  readonly faults: Faults;
  readonly baseUrl: () => string;
  readonly now: () => number;
  readonly retryDelaysMs: readonly number[];
}

/** Sends events to the endpoints, again and again until one answers 2xx or the retries are used up. */
export class Deliveries {
  readonly #options: DeliveryOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #closing = new AbortController();
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<Promise<void>>();
  #held: Delivery[] = [];

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Resumes the deliveries that an earlier process left unfinished. */
  resume(): void {
    const { store } = this.#options;
    for (const delivery of store.list('deliveries')) if (delivery.state === 'pending') this.#start(delivery);
  }

  /** Sends new deliveries, unless a fault is ordered for their event. */
  send(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.#dispatch(delivery);
  }

  /** Stops sending; pending deliveries stay so in the store. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#waiting.length = 0;
    await Promise.allSettled(this.#running);
  }

  #dispatch(delivery: Delivery): void {
    const { store, faults } = this.#options;
    const event = store.find('events', delivery.eventId);
    const fault = event === undefined ? undefined : faults.takeEvent(event.type);
    const overtaken = this.#held;
    this.#held = [];
    if (fault?.kind === 'event_drop') {
      this.#save({ ...delivery, state: 'failed', lastError: 'dropped by an ordered fault' });
    } else if (fault?.kind === 'event_delay') {
      this.#later(fault.delayMs, () => this.#start(delivery));
    } else if (fault?.kind === 'event_reorder') {
      this.#held.push(delivery);
      this.#later(overtakeLimitMs, () => this.#release(delivery));
    } else {
      this.#start(delivery, fault?.kind === 'event_duplicate' ? 2 : 1, () => {
        for (const late of overtaken) this.#start(late);
      });
      return;
    }
    this.#held.unshift(...overtaken);
  }

  #release(delivery: Delivery): void {
    if (!this.#held.includes(delivery)) return;
    this.#held = this.#held.filter((held) => held !== delivery);
    this.#start(delivery);
  }

  /** Runs one attempt as soon as there is room; `copies` are sent one after the other. */
  #start(delivery: Delivery, copies = 1, afterwards: () => void = () => undefined): void {
    const run = (): void => {
      if (this.#closing.signal.aborted) return;
      const work = this.#attempts(delivery, copies).then(() => {
        this.#running.delete(work);
        this.#waiting.shift()?.();
        if (!this.#closing.signal.aborted) afterwards();
      });
      this.#running.add(work);
    };
    if (this.#running.size < inFlightLimit) run();
    else this.#waiting.push(run);
  }

  async #attempts(delivery: Delivery, copies: number): Promise<void> {
    let after = await this.#attempt(delivery);
    for (let copy = 1; copy < copies; copy += 1) after = await this.#attempt(after);
    if (this.#closing.signal.aborted) return;
    if (after.state !== 'pending') return;
    const pauseMs = this.#options.retryDelaysMs[after.attempts - 1];
    if (pauseMs === undefined) this.#save({ ...after, state: 'failed' });
    else this.#later(pauseMs, () => this.#start(after));
  }

  async #attempt(delivery: Delivery): Promise<Delivery> {
    const { store, baseUrl, now } = this.#options;
    const event = store.find('events', delivery.eventId);
    const endpoint = store.find('webhook_endpoints', delivery.endpointId);
    if (event === undefined || endpoint === undefined) {
      return this.#save({ ...delivery, state: 'failed', lastError: 'the endpoint was removed' });
    }
    const body = writeJson(event, baseUrl());
    const outcome = await this.#post(endpoint.url, body, signature(body, endpoint.secret ?? '', now()));
    // An attempt that our own closing cut off says nothing about the endpoint.
    if (this.#closing.signal.aborted && outcome.status === null) return delivery;
    const delivered = outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
    return this.#save({
      ...delivery,
      attempts: delivery.attempts + 1,
      state: delivered || delivery.state === 'delivered' ? 'delivered' : 'pending',
      lastStatus: outcome.status,
      lastError: outcome.error,
    });
  }

  async #post(
    url: string,
    body: string,
    header: string,
  ): Promise<{ status: number | null; error: string | null }> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        redirect: 'manual',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'stripe-signature': header,
          'user-agent': 'lab-processor/1.0',
        },
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(attemptLimitMs)]),
      });
      await response.arrayBuffer();
      return { status: response.status, error: null };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return { status: null, error: String(cause) };
    }
  }

  #save(delivery: Delivery): Delivery {
    const { store } = this.#options;
    const before = store.find('deliveries', delivery.id);
    store.transact(() => {
      store.put('deliveries', delivery);
      const event = store.find('events', delivery.eventId);
      if (event !== undefined && delivery.state === 'delivered' && before?.state !== 'delivered') {
        store.put('events', { ...event, pending_webhooks: event.pending_webhooks - 1 });
      }
    });
    return delivery;
  }

  #later(pauseMs: number, work: () => void): void {
    if (this.#closing.signal.aborted) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, pauseMs);
    this.#timers.add(timer);
  }
}
