import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { KernelQueues } from '../../adapters/kernel-queues.js';
import { requestLimits } from '../../domain/requests/limits.js';

/** How fast a client must take an answer. */
export interface PaceLimits {
  /** It takes at least this many bytes … */
  readonly bytes: number;
  /** … in each stretch of this length, in milliseconds. Only time in which we wait for it counts. */
  readonly withinMs: number;
}

export const defaultPace: PaceLimits = {
  bytes: requestLimits.takenBytes,
  withinMs: requestLimits.takenWithinMs,
};

/** The pace at which one client takes what is sent to it. */
export class Pace {
  readonly #limits: PaceLimits;
  #mark: number | undefined;
  #waitedMs = 0;

  constructor(paceLimits: PaceLimits) {
    this.#limits = paceLimits;
  }

  /**
   * Notes what a look has found.
   * @param look.elapsedMs since the look before
   * @param look.takenBytes what the client has taken in all
   * @param look.isWaiting whether something waits for the client
   * @returns false when the client is too slow
   */
  note(look: { elapsedMs: number; takenBytes: number; isWaiting: boolean }): boolean {
    const isFirst = this.#mark === undefined;
    const moved = look.takenBytes - (this.#mark ?? 0);
    // It takes less than nothing where an earlier look could not see what the kernel holds.
    if (isFirst || !look.isWaiting || moved >= this.#limits.bytes || moved < 0) {
      this.#mark = look.takenBytes;
      this.#waitedMs = 0;
      return true;
    }
    this.#waitedMs += look.elapsedMs;
    return this.#waitedMs < this.#limits.withinMs;
  }
}

/** A stretch holds this many looks. */
const LOOKS = 6;

/**
 * Cuts the connections of clients that do not take their answers, whoever they are: an unread answer holds memory, and
 * a file its place (decision 129, "Unread answers").
 * @param answers those under way; it is read at each look
 */
export class PaceWatch {
  readonly #answers: Iterable<ServerResponse>;
  readonly #limits: PaceLimits;
  readonly #paces = new WeakMap<Socket, Pace>();
  readonly #timer: NodeJS.Timeout;
  #lookedAtMs = performance.now();
  #isLooking = false;

  constructor(answers: Iterable<ServerResponse>, paceLimits: PaceLimits) {
    this.#answers = answers;
    this.#limits = paceLimits;
    this.#timer = setInterval(() => void this.#look(), paceLimits.withinMs / LOOKS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const sockets = [...this.#answers].flatMap(({ socket }) => socket ?? []);
      // What the kernel has taken from us lies there until the client takes it: megabytes, on a fast way.
      const queues = sockets.some(isWaiting) ? await KernelQueues.read() : undefined;
      // A process that stood still has waited for nobody.
      const elapsedMs = Math.min(performance.now() - this.#lookedAtMs, (2 * this.#limits.withinMs) / LOOKS);
      this.#lookedAtMs = performance.now();
      for (const socket of sockets) {
        const takenBytes = leftOf(socket) - (queues?.of(socket) ?? 0);
        const pace = this.#paces.get(socket) ?? new Pace(this.#limits);
        this.#paces.set(socket, pace);
        if (!pace.note({ elapsedMs, takenBytes, isWaiting: isWaiting(socket) })) socket.destroy();
      }
    } finally {
      this.#isLooking = false;
    }
  }
}

function isWaiting(socket: Socket): boolean {
  return socket.writableLength > 0;
}

/**
 * The bytes that have left the process. The socket itself counts a piece when all of it has left; its handle, which
 * Node's own time limit asks as well, knows how far a large one has come.
 */
function leftOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { bytesWritten?: number; writeQueueSize?: number } };
  if (handle?.bytesWritten === undefined || handle.writeQueueSize === undefined) {
    return socket.bytesWritten - socket.writableLength;
  }
  return handle.bytesWritten - handle.writeQueueSize;
}
