import autocannon from 'autocannon';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { BenchStack } from './stack.js';

/** How often the API's process looks at its event loop, in milliseconds: it takes that much for no delay. */
const RESOLUTION_MS = 10;

/**
 * Reads how long the API's event loop was blocked at the longest since the last look, in milliseconds, from the metric
 * that operators see (nodejs_eventloop_lag_max_seconds). Each look begins anew.
 */
export async function longestBlockMs({ stack }: BenchStack): Promise<number> {
  // A connection of its own: one that is kept may be closed by the other side just as it is used again.
  const answer = await fetch(`http://127.0.0.1:${stack.settings.ports.apiMetrics}/metrics`, {
    headers: { connection: 'close' },
  });
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await answer.text()) ?? [];
  if (seconds === undefined) throw new Error('the API tells no delay of its event loop');
  return Math.max(0, Number(seconds) * 1_000 - RESOLUTION_MS);
}

/** A process that does nothing: what its event loop waits for is the machine's doing alone. */
export interface Idler {
  /** How long it was kept from running at the longest since the last look, in milliseconds. */
  longestMs(): Promise<number>;
  close(): void;
}

export function startIdler(): Idler {
  const code = `const loop = require('node:perf_hooks').monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} });
    loop.enable();
    process.on('message', () => { process.send(loop.max / 1e6); loop.reset(); });
    process.on('disconnect', () => process.exit());`;
  const child = spawn(process.execPath, ['--eval', code], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return {
    async longestMs() {
      child.send('look');
      const [ms] = (await once(child, 'message')) as [number];
      return Math.max(0, ms - RESOLUTION_MS);
    },
    close: () => child.disconnect(),
  };
}

interface Hostile {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

const bodyBytes = 16 * 1_024;
const fill = (before: string, each: string, after: string): string =>
  before + each.repeat(Math.floor((bodyBytes - before.length - after.length) / each.length)) + after;

/** What costs the most to read, to refuse or to write: the largest bodies of each shape, and the longest answers. */
const hostile: Readonly<Record<string, Hostile>> = {
  'a body of nothing but brackets': {
    method: 'POST',
    path: '/v1/rentals',
    body: '['.repeat(bodyBytes / 2) + ']'.repeat(bodyBytes / 2),
  },
  'a body of many fields': {
    method: 'POST',
    path: '/v1/rentals',
    body: `{${Array.from({ length: 1_400 }, (_, nth) => `"f${nth}":[]`).join(',')}}`,
  },
  'a body with a list of many items': {
    method: 'POST',
    path: '/v1/rentals',
    body: fill('{"sshKeyIds":[', '"key_x",', '"key_x"]}'),
  },
  'a huge id': { method: 'GET', path: `/v1/rentals/${'A'.repeat(8_000)}` },
  'a long filter': { method: 'GET', path: `/v1/catalog/listings?model=${'%F0%9F%98%80'.repeat(600)}` },
  'the longest page of listings': { method: 'GET', path: '/v1/catalog/listings?pageSize=200' },
  'the longest page of the ledger': { method: 'GET', path: '/v1/billing/ledger?pageSize=200' },
  'the description of the API': { method: 'GET', path: '/v1/openapi.json' },
};

/**
 * Sends each kind of hostile request for a while, over many connections at once.
 * @returns how long the API's event loop was blocked at the longest, by kind
 */
export async function attack(
  bench: BenchStack,
  cookie: string,
  secondsEach: number,
): Promise<Record<string, number>> {
  const longest: Record<string, number> = {};
  for (const [name, { method, path, body }] of Object.entries(hostile)) {
    await longestBlockMs(bench);
    await autocannon({
      url: bench.stack.urls.api + path,
      method,
      connections: 32,
      duration: secondsEach,
      headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
    });
    longest[name] = Math.round(await longestBlockMs(bench));
  }
  return longest;
}
