import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from './figures.js';
import type { Account } from './user.js';

export interface Probe {
  /** Resolves when all that were sent are answered, or given up. */
  stop(): Promise<void>;
}

const everyMs = 100;

/**
 * Renames a rental of one user after the other, ten a second, without waiting for answers and without repeating any, so that
 * the first change that is served again is seen when it is. What is acknowledged is kept, to be found again in the end.
 */
export function probeChanges(accounts: readonly Account[], figures: Figures): Probe {
  const state = { stopped: false };
  const sent: Promise<void>[] = [];
  const probing = (async () => {
    for (let turn = 0; !state.stopped; turn += 1) {
      const account = accounts[turn % accounts.length];
      if (account !== undefined) sent.push(rename(account, `probe-${turn}-${randomUUID()}`, figures));
      await sleep(everyMs);
    }
  })();
  return {
    async stop() {
      state.stopped = true;
      await probing;
      await Promise.all(sent);
    },
  };
}

async function rename({ client, rentals, names }: Account, name: string, figures: Figures): Promise<void> {
  const id = rentals.at(-1);
  if (id === undefined) return;
  const sentAt = performance.now();
  const headers = { 'Idempotency-Key': randomUUID() };
  const answer = await client.send('PATCH', `/v1/rentals/${id}`, { name }, headers);
  if (answer?.status !== 200) return;
  figures.changed(performance.now() - sentAt);
  names.push(name);
}
