import assert from 'node:assert/strict';
import { once } from 'node:events';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { Person } from './support/person.js';

describe('gpu, when the service hangs', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 600_000, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(20);
  });
  after(() => mock.stop());

  /** Holds what matches back until it is let go, or its request is ended. */
  function holding(which: RegExp): { fetch: typeof fetch; letGo: () => void } {
    const go = new AbortController();
    return {
      letGo: () => go.abort(),
      async fetch(input, init) {
        const request = new Request(input, init);
        if (which.test(`${request.method} ${new URL(request.url).pathname}`)) {
          await Promise.race([go.signal, request.signal].map((signal) => once(signal, 'abort')));
          request.signal.throwIfAborted();
        }
        return fetch(request);
      },
    };
  }

  const late = /has not answered for 1 s\. Still waiting\./g;

  it('says once, at a terminal, that an answer is late, and goes on', async () => {
    const { fetch, letGo } = holding(/ /);
    const seen = { all: '' };
    const ran = ann.type('ls', { fetch, lateMs: 1, columns: 80, onOutput: (all) => (seen.all = all) });
    await until('it is said', () => seen.all.includes('Still waiting.'));
    letGo();
    const { code, out, err } = await ran;
    assert.equal(code, 0, err);
    assert.ok(err.startsWith(`${new URL(mock.url).host} has not answered`), err);
    assert.equal(err.match(late)?.length, 1, 'once, for all requests');
    assert.match(out, /^No machines running\./);
  });

  it('says nothing of it where nobody looks', async () => {
    for (const line of ['balance', 'balance --json']) {
      const state = { asked: false };
      const slow: typeof fetch = async (input, init) => {
        state.asked = true;
        // The timer of what is said is due before this one, which was set later.
        await new Promise((resolve) => setTimeout(resolve, 20));
        return fetch(input, init);
      };
      const { code, err } = await ann.type(line, { fetch: slow, lateMs: 1 });
      assert.deepEqual([code, err, state.asked], [0, '', true]);
    }
  });

  it('gives up after --timeout, and says so', async () => {
    const { code, err } = await ann.type('balance --timeout 1', holding(/ /));
    assert.equal(code, exitCodes.network);
    assert.equal(
      err.replace(/\s+/g, ' '),
      `${mock.url} did not answer within 1 s (--timeout). Try again, or allow more time: --timeout 40 `,
    );
    for (const wrong of ['0', '121', 'long']) {
      assert.equal((await ann.type(`balance --timeout ${wrong}`)).code, exitCodes.usage);
    }
  });

  it('names what may have been rented when the answer takes longer than --timeout', async () => {
    const { fetch } = holding(/^POST \/v1\/rentals$/);
    const line = 'rent rtx-4090 --yes --json --timeout 1';
    const { code, err } = await ann.type(line, { fetch, gapMs: 300_000 });
    assert.equal(code, exitCodes.committed, err);
    const { message, details } = JSON.parse(err) as { message: string; details: Record<string, unknown> };
    assert.match(message, /\(--timeout\)\.\nThe service did not confirm whether it rented the machine\./);
    assert.equal(details['outcome'], 'unknown');
    assert.equal(details['cause'], 'network');
  });
});
