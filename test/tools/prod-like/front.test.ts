import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFront, type Front } from '../../../tools/prod-like/front.js';
import { findFreePorts } from '../../../lab/stack/ports.js';

describe('the balancer before the APIs', () => {
  const apis: Server[] = [];
  let front: Front;
  let url: string;

  before(async () => {
    for (const name of ['one', 'two']) {
      const server = createServer((_request, response) => response.end(name));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      apis.push(server);
    }
    const [port = 0] = await findFreePorts(1);
    front = await startFront(
      port,
      apis.map((api) => (api.address() as AddressInfo).port),
    );
    url = `http://127.0.0.1:${port}`;
  });
  after(async () => {
    await front.close();
    for (const api of apis) api.close();
  });

  it('gives connections to each in turn, and to the other when one is away', async () => {
    assert.deepEqual(await ask(4), new Set(['one', 'two']));
    apis[0]?.closeAllConnections();
    apis[0]?.close();
    assert.deepEqual(await ask(4), new Set(['two']));
  });

  /** Sends requests, each over a connection of its own. */
  async function ask(times: number): Promise<Set<string>> {
    const seen = new Set<string>();
    for (let time = 0; time < times; time += 1) {
      seen.add(await (await fetch(url, { headers: { connection: 'close' } })).text());
    }
    return seen;
  }
});
