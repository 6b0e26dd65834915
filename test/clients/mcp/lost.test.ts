import assert from 'node:assert/strict';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from '../cli/support/person.js';
import { PipedServer } from './support/piped.js';

const wish = { familyId: 'rtx-4090', gpuCount: 1, maxSpendCents: 100 };

type Way = 'open' | 'loses answers' | 'gone' | 'too often' | 'silent later' | 'silent';

describe('the server for agents, where answers are lost', () => {
  let mock: MockServer;
  let ann: Person;
  let server: PipedServer;
  let way: Way;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 600_000, endMs: 20 } });
  });
  beforeEach(async () => {
    ann = await Person.at(mock);
    await ann.pay(100);
    way = 'open';
    server = await PipedServer.start(ann.apiKey!, mock.url, between);
  });
  afterEach(() => server.leave());
  after(() => mock.stop());

  async function between(request: Request): Promise<Response> {
    if (way === 'gone') throw failure('ENETUNREACH');
    if (way === 'silent') {
      return new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    }
    if (way === 'silent later') way = 'silent';
    const isChange = request.method !== 'GET';
    if (way === 'too often' && isChange) {
      const body = { error: 'rate_limited', message: 'Not now.', requestId: 'req' };
      return Response.json(body, { status: 429 });
    }
    const response = await fetch(request);
    if (way === 'loses answers' && isChange) throw failure('ECONNRESET');
    return response;
  }

  async function rented(): Promise<{ quoteId: unknown; rentalId: unknown }> {
    const { quoteId } = await server.call('quote', wish);
    return { quoteId, rentalId: (await server.call('rent', { quoteId }))['rentalId'] };
  }

  const calls: Readonly<Record<string, () => Promise<object>>> = {
    rent: async () => ({ quoteId: (await server.call('quote', wish))['quoteId'] }),
    extend: async () => {
      const { rentalId } = await rented();
      const told = await server.call('quote_extension', { rentalId, maxSpendCents: 200 });
      return { extensionId: told['extensionId'] };
    },
    stop: async () => ({ rentalId: (await rented()).rentalId }),
    rename: async () => ({ rentalId: (await rented()).rentalId, name: 'x' }),
  };
  for (const [tool, prepare] of Object.entries(calls)) {
    it(`does not promise that nothing happened after a lost answer to ${tool}`, async () => {
      const args = await prepare();
      way = 'gone';
      assert.equal((await server.call(tool, args))['next'], 'Nothing happened. Try again.');
      way = 'loses answers';
      assert.match(String((await server.call(tool, args))['next']), /result is unknown/);
      for (const later of ['gone', 'too often', 'gone'] as const) {
        way = later;
        const told = await server.call(tool, args);
        assert.deepEqual([told['error'] !== undefined, told['outcome']], [true, 'unknown'], later);
        assert.match(String(told['next']), /unknown\. Call the same tool again with the same arguments/);
      }
      way = 'open';
      await server.call(tool, args);
      way = 'gone';
      assert.equal((await server.call(tool, args))['next'], 'Nothing happened. Try again.', 'it is known');
    });
  }

  it('sends no agent round in circles that asks too late', async () => {
    const args = await calls['extend']!();
    way = 'loses answers';
    await server.call('extend', args);
    way = 'open';
    const nowMs = Date.now();
    const clock = Date.now;
    Date.now = () => nowMs + 61_000;
    const told = await server.call('extend', args).finally(() => (Date.now = clock));
    assert.deepEqual([told['error'], told['outcome']], ['unknown_extension', 'unknown']);
    assert.match(String(told['next']), /may have done it\. Look with list\.$/);
  });

  it('tells of a machine as it was seen, where the service falls silent while it is waited for', async () => {
    const { rentalId } = await rented();
    way = 'silent later';
    const told = await server.call('ssh_command', { rentalId, waitSeconds: 1 });
    assert.deepEqual([told['ready'], told['status']], [false, 'provisioning'], JSON.stringify(told));
    way = 'open';
    const now = await server.call('ssh_command', { rentalId, waitSeconds: 0 });
    assert.deepEqual([now['ready'], now['status']], [false, 'provisioning']);
  }).timeout(30_000);

  it('rents one machine, however often it is asked', async () => {
    const { quoteId } = await server.call('quote', wish);
    for (const one of ['loses answers', 'gone', 'loses answers', 'open'] as const) {
      way = one;
      await server.call('rent', { quoteId });
    }
    const { body } = await ann.elsewhere.get('/v1/rentals');
    assert.equal((body as unknown as { rentals: unknown[] }).rentals.length, 1);
  });
});

function failure(code: string): Error {
  return Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) });
}
