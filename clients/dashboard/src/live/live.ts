import type { StreamItem } from '@gpu-rental/client';
import type { QueryClient } from '@tanstack/react-query';
import { api } from '../data/client.js';
import { TabChannel, type SharedState, type TabMessage } from './channel.js';
import { Election } from './election.js';
import { holdStream } from './hold-stream.js';
import { readAllAnew, readAnewAfter } from './invalidate.js';
import { Poller } from './poller.js';
import { heardServiceTime } from './service-clock.js';
import { liveStore } from './store.js';

interface LiveOptions {
  readonly userId: string;
  readonly queryClient: QueryClient;
  /** Somebody asks to sign out, in this tab or another one, or could not. */
  readonly onSigningOut: (isSigningOut: boolean) => void;
  readonly onSignedOut: () => void;
  /** The service says that nobody is signed in. */
  readonly onRefused: () => void;
  readonly onOtherUser: () => void;
}

/**
 * Keeps one user's tabs at what the service says: one of them holds the stream and tells the others, and without a
 * stream each tab that is looked at asks now and then.
 */
export class Live {
  readonly #options: LiveOptions;
  readonly #channel = new TabChannel();
  readonly #poller: Poller;
  readonly #election: Election;
  /** Events before the stream began may have come after the page read what it shows. */
  #mayHaveMissed = false;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#poller = new Poller(() => readAllAnew(options.queryClient));
    this.#channel.hear((message) => this.#hear(message));
    this.#tell({ kind: 'hello' });
    this.#election = new Election({
      lead: (signal) => this.#lead(signal),
      ask: () => this.#tell({ kind: 'hello' }),
    });
  }

  stop(): void {
    this.#election.stop();
    this.#poller.stop();
    this.#channel.close();
    liveStore.clear();
  }

  #tell(news: Parameters<TabChannel['tell']>[1]): void {
    this.#channel.tell(this.#options.userId, news);
  }

  #hear(message: TabMessage): void {
    if (message.userId !== this.#options.userId) {
      if (message.kind === 'signed-in') this.#options.onOtherUser();
      return;
    }
    if (message.kind === 'signing-out') this.#options.onSigningOut(true);
    else if (message.kind === 'signed-in') this.#options.onSigningOut(false);
    else if (message.kind === 'signed-out') this.#options.onSignedOut();
    else if (message.kind === 'hello') this.#answer();
    else this.#follow(message);
  }

  #follow(message: TabMessage): void {
    this.#election.heard();
    if (this.#election.isLeader) return;
    if (message.kind === 'item') this.#take(message.item, message.receivedAtMs);
    else if (message.kind === 'connection') this.#connected(message.isLive);
    else if (message.kind === 'state') this.#join(message.state);
  }

  /** Goes on from where the leader is; what was told before this tab listened is read anew. */
  #join({ isLive, ...known }: SharedState): void {
    const { lastSeq } = liveStore.read();
    liveStore.change(known);
    this.#connected(isLive);
    if (lastSeq !== undefined && lastSeq !== known.lastSeq) readAllAnew(this.#options.queryClient);
  }

  #answer(): void {
    if (!this.#election.isLeader) return;
    const { lastSeq, balance, meters, connection } = liveStore.read();
    this.#tell({ kind: 'state', state: { lastSeq, balance, meters, isLive: connection === 'live' } });
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { userId, onRefused, onOtherUser } = this.#options;
    this.#mayHaveMissed = liveStore.read().lastSeq === undefined;
    const say = (item: StreamItem): void => {
      const receivedAtMs = Date.now();
      if (item.kind === 'balance') heardServiceTime(item.balance.readAt, receivedAtMs);
      const isLive = item.kind !== 'reconnecting' && item.kind !== 'closed';
      if (isLive !== (liveStore.read().connection === 'live')) {
        this.#connected(isLive);
        this.#tell({ kind: 'connection', isLive });
      }
      this.#take(item, receivedAtMs);
      if (item.kind !== 'reconnecting') this.#tell({ kind: 'item', item, receivedAtMs });
      if (item.kind === 'balance' && this.#mayHaveMissed) void this.#look(item.balance.readAt);
    };
    await holdStream(
      { userId, lastSeq: () => liveStore.read().lastSeq, say, onRefused, onOtherUser },
      signal,
    );
  }

  #connected(isLive: boolean): void {
    if (isLive) this.#poller.rest();
    else this.#poller.begin();
  }

  #take(item: StreamItem, receivedAtMs: number): void {
    const { queryClient } = this.#options;
    liveStore.take(item, receivedAtMs);
    if (item.kind === 'event') readAnewAfter(queryClient, item.event);
    else if (item.kind === 'resync') readAllAnew(queryClient);
  }

  /** Between what the page read and the stream's begin something may have happened: the newest event tells. */
  async #look(readAt: string): Promise<void> {
    this.#mayHaveMissed = false;
    const { lastSeq } = liveStore.read();
    if (lastSeq === undefined || lastSeq === 0) return;
    try {
      const { events } = await api.events.list({ after: lastSeq - 1, pageSize: 1 }).firstPage();
      const [newest] = events;
      const openMs = performance.now() + COMMIT_MS;
      if (newest && Date.parse(readAt) - Date.parse(newest.createdAt) > openMs) return;
    } catch {
      // Whether something was missed is not known then.
    }
    readAllAnew(this.#options.queryClient);
  }
}

/** An event's instant may be so much older than its telling. */
const COMMIT_MS = 10_000;
