import { meterAfter, type Event, type LiveBalance, type StreamItem } from '@gpu-rental/client';
import { timed, type TimedMeter } from './interpolate.js';

/** How fresh what is shown is: told at once, told again soon, or asked for now and then. */
export type Connection = 'live' | 'reconnecting' | 'polling';

/** A balance with the instant, by this computer's clock, at which it came. */
export interface TimedBalance extends LiveBalance {
  readonly receivedAtMs: number;
}

/** What the stream has said, and how it is. */
export interface LiveState {
  readonly connection: Connection;
  /** By this computer's clock: since when it is not live. */
  readonly lostAtMs: number | undefined;
  /** The newest event that was told; undefined before the first word. */
  readonly lastSeq: number | undefined;
  readonly balance: TimedBalance | undefined;
  readonly meters: Readonly<Record<string, TimedMeter>>;
}

const nothing: LiveState = {
  connection: 'reconnecting',
  lostAtMs: undefined,
  lastSeq: undefined,
  balance: undefined,
  meters: {},
};

type EventListener = (event: Event) => void;

/** Keeps what the stream says of one user, for all that show it. */
class LiveStore {
  #state = nothing;
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<EventListener>();

  readonly read = (): LiveState => this.#state;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  change(part: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...part };
    for (const watcher of this.#watchers) watcher();
  }

  /** Forgets a user. */
  clear(): void {
    this.change(nothing);
  }

  onEvent(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes what the stream said. @param receivedAtMs when it came, by this computer's clock */
  take(item: StreamItem, receivedAtMs: number): void {
    if (item.kind === 'balance') this.change({ balance: { ...item.balance, receivedAtMs } });
    else if (item.kind === 'meter') this.#takeMeter(item.meter, receivedAtMs);
    else if (item.kind === 'event') this.#takeEvent(item.event);
    else if (item.kind === 'connected') this.change({ lastSeq: item.afterSeq });
    else if (item.kind === 'seen') this.change({ lastSeq: item.lastSeq });
    else if (item.kind === 'resync') this.#takeResync(item.lastSeq);
  }

  #takeMeter(meter: Parameters<typeof timed>[0], receivedAtMs: number): void {
    const { meters } = this.#state;
    const { rentalId } = meter;
    this.change({ meters: { ...meters, [rentalId]: timed(meter, receivedAtMs, meters[rentalId]) } });
  }

  /** What ended meanwhile, nothing tells: what runs is read anew. */
  #takeResync(lastSeq: number | undefined): void {
    this.change({ meters: {}, ...(lastSeq !== undefined && { lastSeq }) });
  }

  #takeEvent(event: Event): void {
    const { meters } = this.#state;
    const meter = meters[event.entityId];
    const after = meter && meterAfter(event, meter);
    const isOver = after !== undefined && after !== meter;
    this.change({ lastSeq: event.seq, ...(isOver && { meters: { ...meters, [event.entityId]: after } }) });
    for (const listener of this.#listeners) listener(event);
  }
}

export const liveStore = new LiveStore();
