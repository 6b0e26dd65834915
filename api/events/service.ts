import { randomInt, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Database } from '../../adapters/postgres/database.js';
import {
  readEventPage,
  readEventsBeyond,
  readNewestNo,
  type EventPage,
} from '../../adapters/postgres/events/event-reads.js';
import { readLiveStates } from '../../adapters/postgres/events/live-states.js';
import { streamLimits } from '../../domain/events/stream-limits.js';
import type { UserId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { endedMeanwhile } from '../accounts/sign-in-refusals.js';
import { EventHub } from './hub.js';
import { StreamRegistry } from './registry.js';
import { EventStream, type EndReason, type StreamRequest } from './stream.js';

/** A stream that a client asks for. */
export type StreamStart = Omit<StreamRequest, 'id'> & {
  /** The client knows everything up to this number; undefined: it wants what comes from now on. */
  readonly after: number | undefined;
};

/** What the streams of a process show to operators. */
export interface StreamFigures {
  readonly open: number;
  /** How long ago the last look for new events succeeded, in milliseconds; 0 while nobody is connected. */
  readonly lagMs: number;
}

/** The streams of one API process. */
export interface EventStreams {
  /**
   * Opens a stream on a response, and returns once its first message has left; the rest goes on by itself.
   * @param begin sets the response's status and headers, right before the first message
   * @throws Refusal unauthorized, when the session or key has ended meanwhile
   * @throws Refusal temporarily_unavailable, when the process is about to end
   */
  open(start: StreamStart, response: ServerResponse, begin: () => void): Promise<void>;
  figures(): StreamFigures;
  /** Takes no more streams, and ends those that are open, each with a time to come back after. */
  close(): Promise<void>;
}

/** Makes the streams of a process. It reads the database only while somebody is connected. */
export function createEventStreams(deps: {
  /** For what each stream asks: its place, and the pages of its catching up. */
  readonly db: Database;
  /** For what is asked for all of them: its few connections wait for no request. Default: `db`. */
  readonly hubDb?: Database;
  readonly log: Logger;
  /** Is told of each stream that has ended. */
  readonly observeEnd?: (reason: EndReason) => void;
}): EventStreams {
  return new Streams(deps);
}

type Deps = Parameters<typeof createEventStreams>[0];

class Streams implements EventStreams {
  readonly #db: Database;
  readonly #hubDb: Database;
  readonly #log: Logger;
  readonly #hub: EventHub;
  readonly #registry: StreamRegistry;
  readonly #pages = pLimit(streamLimits.pagesAtOnce);
  /** Up to which global number the hub was told; undefined while nobody is connected. */
  #lastNo: number | undefined;
  #starting: Promise<void> | undefined;
  #run: AbortController | undefined;
  #loops: readonly Promise<void>[] = [];
  #lookedAtMs = 0;
  #isClosing = false;

  constructor({ db, hubDb = db, log, observeEnd }: Deps) {
    this.#db = db;
    this.#hubDb = hubDb;
    this.#log = log;
    this.#registry = new StreamRegistry({ db, watchDb: hubDb, hostId: randomUUID() });
    this.#hub = new EventHub((userId, after, limit) => this.#readPage(userId, after, limit), {
      end: (stream, reason) => {
        this.#registry.ended(stream);
        observeEnd?.(reason);
      },
      failure: (error) => log.warn({ err: error }, 'a page of events could not be read; it is tried again'),
    });
  }

  async open({ after, ...request }: StreamStart, response: ServerResponse, begin: () => void): Promise<void> {
    if (this.#isClosing) throw aboutToEnd();
    const stream = new EventStream({ ...request, id: randomUUID() }, response, randomInt);
    response.once('close', () => {
      stream.left();
      this.#hub.leave(stream, stream.endedBy ?? 'client_left');
    });
    if (!(await this.#registry.open(stream))) {
      throw endedMeanwhile();
    }
    if (this.#isOver(stream)) {
      this.#registry.ended(stream);
      throw aboutToEnd();
    }
    // From here on it hears of what is new; then the page tells what was there before.
    this.#hub.join(stream);
    try {
      await this.#follow();
      const page = await this.#readPage(request.userId, after ?? Number.MAX_SAFE_INTEGER);
      if (this.#isOver(stream)) throw aboutToEnd();
      begin();
      stream.begin(after, page);
      void this.#hub.catchUp(stream, stream.cursor === after ? page : undefined);
    } catch (error) {
      this.#hub.leave(stream, stream.endedBy ?? 'client_left');
      throw error;
    }
  }

  /** Whether its client has left, or the process ends, while it is being opened. */
  #isOver(stream: EventStream): boolean {
    return this.#isClosing || stream.endedBy !== undefined;
  }

  figures(): StreamFigures {
    const isFollowing = this.#lastNo !== undefined;
    return {
      open: this.#hub.size,
      lagMs: isFollowing ? Math.max(0, performance.now() - this.#lookedAtMs) : 0,
    };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const stream of this.#hub.streams()) this.#hub.close(stream, 'server_stopping');
    this.#stopLooking(this.#run);
    await Promise.all(this.#loops);
    await this.#registry.stop().catch((error: unknown) => {
      this.#log.warn({ err: error }, 'streams that have ended count as open for some seconds more');
    });
  }

  #readPage(userId: UserId, after: number, limit: number = streamLimits.pageSize): Promise<EventPage> {
    return this.#pages(() => readEventPage(this.#db, userId, { after, limit }));
  }

  /** Begins to look for events, unless it does already. */
  async #follow(): Promise<void> {
    if (this.#lastNo !== undefined) return;
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    await this.#starting;
  }

  async #start(): Promise<void> {
    this.#lastNo = await readNewestNo(this.#hubDb);
    this.#lookedAtMs = performance.now();
    const run = new AbortController();
    this.#run = run;
    const { lookEveryMs, stateEveryMs, watchEveryMs } = streamLimits;
    this.#loops = [
      this.#loop(run, 'new events', lookEveryMs, () => this.#look()),
      this.#loop(run, 'balances', stateEveryMs, () => this.#tellStates()),
      this.#loop(run, 'ended sessions', watchEveryMs, () => this.#watch()),
      this.#loop(run, 'comments', COMMENT_TICK_MS, () => {
        this.#hub.comment();
      }),
    ];
  }

  /** Does something again and again, until nobody is connected. What fails is done again, ever more rarely. */
  async #loop(
    run: AbortController,
    what: string,
    everyMs: number,
    work: () => Promise<void> | void,
  ): Promise<void> {
    let failures = 0;
    while (!run.signal.aborted) {
      if (this.#hub.size === 0) {
        this.#stopLooking(run);
        return;
      }
      try {
        await work();
        if (failures > 0) this.#log.info({ what, failures }, 'streams go on');
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) this.#log.warn({ err: error, what }, 'streams wait; nothing is lost');
      }
      const waitMs = Math.max(everyMs, Math.min(streamLimits.lookAgainMaxMs, everyMs * failures));
      await sleep(waitMs, undefined, { signal: run.signal, ref: false }).catch(() => undefined);
    }
  }

  #stopLooking(run: AbortController | undefined): void {
    run?.abort();
    if (this.#run === run) this.#lastNo = undefined;
  }

  /** Tells the hub what is new, whole batches at once. */
  async #look(): Promise<void> {
    for (;;) {
      const last = this.#lastNo;
      if (last === undefined) return;
      const events = await readEventsBeyond(this.#hubDb, last, streamLimits.lookBatch);
      // Nobody was connected meanwhile, and others look again now.
      if (this.#lastNo !== last) return;
      this.#lookedAtMs = performance.now();
      this.#lastNo = events.at(-1)?.no ?? last;
      this.#hub.tell(events);
      if (events.length < streamLimits.lookBatch) return;
    }
  }

  async #tellStates(): Promise<void> {
    await this.#startOverWhenSetBack();
    const states = await readLiveStates(this.#hubDb, this.#hub.userIds(), this.#hub.metered());
    this.#hub.tellStates(states);
  }

  /** A database that was set back to an earlier state gives the same numbers again. */
  async #startOverWhenSetBack(): Promise<void> {
    const last = this.#lastNo;
    if (last === undefined) return;
    const newest = await readNewestNo(this.#hubDb);
    if (newest >= last || this.#lastNo !== last) return;
    this.#log.warn({ last, newest }, 'the feed of events was set back; streams read it anew');
    this.#lastNo = newest;
    this.#hub.startOver();
  }

  async #watch(): Promise<void> {
    await this.#registry.look((stream, reason) => this.#hub.close(stream, reason));
  }
}

const COMMENT_TICK_MS = 1_000;

function aboutToEnd(): Refusal {
  return new Refusal('temporarily_unavailable', 'This server is shutting down. Connect again.');
}
