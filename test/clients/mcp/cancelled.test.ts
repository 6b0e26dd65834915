import assert from 'node:assert/strict';
import { once } from 'node:events';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { Person } from '../cli/support/person.js';
import { PipedServer } from './support/piped.js';

const wish = { familyId: 'rtx-4090', gpuCount: '1', maxSpendCents: '100', idleIgnores: ['sessions'] };

describe('the server for agents, where calls are cancelled', function () {
  // Less than what is waited for where nobody says that a call has ended.
  this.timeout(30_000);
  let mock: MockServer;
  let ann: Person;
  let server: PipedServer;
  /** Holds requests back, after they were done. */
  let held: { readonly which: RegExp; isReached: boolean; release: () => void } | undefined;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 600_000, endMs: 20 } });
  });
  beforeEach(async () => {
    ann = await Person.at(mock);
    await ann.pay(100);
    held = undefined;
    server = await start();
  });
  afterEach(() => server.leave());
  after(() => mock.stop());

  function start(): Promise<PipedServer> {
    return PipedServer.start(ann.apiKey!, mock.url, async (request) => {
      const gate = held;
      const response = await fetch(request.clone());
      if (gate?.which.test(`${request.method} ${new URL(request.url).pathname}`) !== true) return response;
      await new Promise<void>((resolve, reject) => {
        gate.release = resolve;
        gate.isReached = true;
        void once(request.signal, 'abort').then(() => reject(new Error('aborted')));
      });
      return response;
    });
  }

  const quote = async (): Promise<unknown> =>
    (await server.call('quote', { ...wish, stopWhenIdleMinutes: '30' }))['quoteId'];
  const rent = async (): Promise<unknown> =>
    (await server.call('rent', { quoteId: await quote() }))['rentalId'];

  /** Cancels a call while its request is under way, and leaves. */
  async function cancelAt(which: RegExp, tool: string, args: object): Promise<void> {
    held = { which, isReached: false, release: () => undefined };
    const id = server.begin(tool, args);
    await until('its request is under way', () => held?.isReached);
    server.cancel(id);
    // What is answered later was read later.
    held = { ...held, which: /^$/ };
    await server.call('offers', { limit: 1 });
  }

  it('takes all numbers as text', async () => {
    const offers = await server.call('offers', {
      ...{
        familyId: 'rtx-4090',
        minVcpus: '1',
        minMemoryGb: '1',
        minDiskGb: '1',
        minVramGb: '1',
        limit: '1',
      },
    });
    assert.equal(offers['error'], undefined, JSON.stringify(offers));
    const rentalId = await rent();
    const kept = await server.call('keep_alive', { rentalId, minutes: '5' });
    assert.equal(kept['rentalId'], rentalId, JSON.stringify(kept));
    assert.equal((await server.call('rename', { rentalId, name: '5' }))['rentalId'], rentalId, 'a text');
  });

  it('keeps a machine for minutes of the service’s clock', async () => {
    const rentalId = await rent();
    server.clock = () => Date.now() + 3_600_000;
    const kept = await server.call('keep_alive', { rentalId, minutes: 5 });
    assert.equal(kept['rentalId'], rentalId, JSON.stringify(kept));
    const { idleGuard } = (await ann.elsewhere.get(`/v1/rentals/${String(rentalId)}`)).body as unknown as {
      idleGuard: { keepAliveUntil: string };
    };
    assert.ok(Date.parse(idleGuard.keepAliveUntil) > Date.now() + 3_600_000);
  });

  it('ends at once where a cancelled call changes nothing', async () => {
    const rentalId = await rent();
    await cancelAt(/^GET \/v1\/rentals\//, 'ssh_command', { rentalId });
    assert.deepEqual(await server.leave(), []);
  });

  it('ends at once where nothing was begun', async () => {
    const rentalId = await ann.rent('rtx-4090 --no-wait');
    server.cancel(server.begin('stop', { machine: rentalId }));
    await cancelAt(/^GET \/v1\/auth\/me/, 'stop', { rentalId });
    assert.deepEqual(await server.leave(), []);
  });

  const acts: Readonly<Record<string, readonly [which: RegExp, args: (rentalId: unknown) => object]>> = {
    stop: [/\/stop$/, (rentalId) => ({ rentalId })],
    keep_alive: [/\/keep-alive$/, (rentalId) => ({ rentalId, minutes: 5 })],
    rename: [/^PATCH /, (rentalId) => ({ rentalId, name: 'x' })],
  };
  for (const [tool, [which, args]] of Object.entries(acts)) {
    it(`waits for a cancelled ${tool}, and says that nobody heard of it`, async () => {
      const rentalId = await rent();
      await cancelAt(which, tool, args(rentalId));
      const left = server.leave();
      held!.release();
      assert.deepEqual(await left, [{ tool, rentalId }]);
    });
  }

  it('names the machine of a cancelled rent, unless its agent hears of it later', async () => {
    for (const isHeard of [false, true]) {
      const quoteId = await quote();
      await cancelAt(/^POST \/v1\/rentals$/, 'rent', { quoteId });
      held!.release();
      const { body } = await ann.elsewhere.get('/v1/rentals');
      const [newest] = (body as unknown as { rentals: { id: string }[] }).rentals;
      if (isHeard) {
        const again = await server.call('rent', { quoteId });
        assert.equal(again['rentalId'], newest?.id);
      }
      assert.deepEqual(await server.leave(), isHeard ? [] : [{ tool: 'rent', rentalId: newest?.id }]);
      server = await start();
    }
  });
});
