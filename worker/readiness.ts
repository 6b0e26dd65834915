import type { Poll, Poller } from '../adapters/temporal/pollers.js';
import { taskQueues } from '../domain/task-queues.js';

/** The polls of createWorkers: every queue for activities, and one of them for workflows. */
export const polls: readonly Poll[] = [
  { queue: taskQueues.rentals, kind: 'workflow' },
  ...Object.values(taskQueues).map((queue) => ({ queue, kind: 'activity' as const })),
];

/** A poll without a task lasts a minute, then the next one begins. */
const SILENT_LIMIT_MS = 90_000;

export interface Readiness {
  /** Called once the workers run. */
  begin(workers: readonly { getState(): string }[]): void;
  /** The faults, in words; none: this process polls every queue. Never rejects. */
  findFaults(): Promise<string[]>;
}

/**
 * Tells whether this process polls (decision 91, "Health of a worker"). The answer rests on what the Temporal server
 * has heard from it, not on its own view.
 * @param options.identity of this process's polls; no other process, and no earlier one, has it
 * @param options.listPollers asks the server
 * @param options.now a clock that never jumps, in milliseconds
 */
export function createReadiness(options: {
  readonly identity: string;
  readonly listPollers: (poll: Poll) => Promise<readonly Poller[]>;
  readonly now?: () => number;
}): Readiness {
  const { identity, listPollers, now = () => performance.now() } = options;
  const state: { workers: readonly { getState(): string }[] } = { workers: [] };
  /** By queue and kind: the last poll that was heard, and since when on our clock. */
  const heard = new Map<string, { readonly lastAskedAt: string; readonly sinceMs: number }>();

  async function findSilence(poll: Poll): Promise<string | undefined> {
    const own = (await listPollers(poll)).find((poller) => poller.identity === identity);
    const what = `queue ${poll.queue}, ${poll.kind} tasks`;
    if (own === undefined) return `${what}: the Temporal server has not heard from this process`;
    const key = `${poll.kind}:${poll.queue}`;
    const before = heard.get(key);
    if (before?.lastAskedAt !== own.lastAskedAt) {
      heard.set(key, { lastAskedAt: own.lastAskedAt, sinceMs: now() });
      return undefined;
    }
    if (now() - before.sinceMs <= SILENT_LIMIT_MS) return undefined;
    return `${what}: the Temporal server has heard nothing for ${Math.round((now() - before.sinceMs) / 1000)} s`;
  }

  return {
    begin(workers) {
      state.workers = workers;
    },
    async findFaults() {
      if (state.workers.length === 0) return ['the workers have not started yet'];
      const states = state.workers.map((worker) => worker.getState()).filter((name) => name !== 'RUNNING');
      if (states.length > 0) return [`not all workers run: ${states.join(', ')}`];
      try {
        const silences = await Promise.all(polls.map(findSilence));
        return silences.filter((silence) => silence !== undefined);
      } catch (error) {
        return [`Temporal can not be asked: ${error instanceof Error ? error.message : String(error)}`];
      }
    },
  };
}
