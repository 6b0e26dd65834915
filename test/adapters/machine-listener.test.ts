import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createListenerLook } from '../../adapters/machine-listener.js';

describe('a look at the listener of machines', () => {
  let server: Server;
  let url: string;
  let asked: string[];
  let status: number;
  let away: { status?: number; err?: unknown }[];
  beforeEach(async () => {
    [asked, away, status] = [[], [], 200];
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      // A proxy opens no other paths (docs/operations/deploying.md).
      response.writeHead(request.url?.startsWith('/v1/machine/') ? status : 404).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const lookAt = (at: string | null) =>
    createListenerLook(at, { lookMs: 1_000, seenMs: 20 }, (found) => void away.push(found));

  it('hears it through a proxy that opens its paths alone, all who ask at once by one look', async () => {
    const look = lookAt(url);
    assert.deepEqual(await Promise.all([look.isHeard(), look.isHeard(), look.isHeard()]), [true, true, true]);
    assert.deepEqual(asked, ['GET /v1/machine/ready']);
    assert.deepEqual(away, []);
  });

  it('says once that it is away, and once more after it was back', async () => {
    const look = lookAt(url);
    const said: number[] = [];
    for (const next of [503, 503, 200, 404, 404]) {
      status = next;
      assert.equal(await look.isHeard(), next === 200);
      said.push(away.length);
      await sleep(40);
    }
    assert.deepEqual(said, [1, 1, 1, 2, 2]);
    assert.deepEqual(
      away.map((found) => found.status),
      [503, 404],
    );
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const none = lookAt(url);
    assert.equal(await none.isHeard(), false);
    assert.ok(away[2]?.err instanceof Error);
  });

  it('has nothing to say where machines have no listener', async () => {
    assert.equal(await lookAt(null).isHeard(), false);
    assert.deepEqual([asked, away], [[], []]);
  });
});
