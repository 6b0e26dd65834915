import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '../../../tools/prod-like/client.js';
import { Figures } from '../../../tools/prod-like/figures.js';
import { probeChanges } from '../../../tools/prod-like/probe.js';
import type { Account } from '../../../tools/prod-like/user.js';
import { until } from '../../support/until.js';

describe('the probe of changes while a primary is replaced', () => {
  const seen: string[] = [];
  const state = { away: false };
  let server: Server;
  let figures: Figures;
  let account: Account;

  before(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { name } = JSON.parse(Buffer.concat(parts).toString()) as { name: string };
        if (!state.away) seen.push(name);
        response.writeHead(state.away ? 503 : 200).end('{}');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    figures = new Figures();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    account = {
      ...{ email: 'probe@example.com', client: new Client(url, figures), paid: new Map() },
      ...{ rentals: ['rent_1'], failed: new Set(), stops: new Map(), names: [], scripted: new Set() },
    };
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('keeps what was acknowledged and nothing else, and finds the first change that is served again', async () => {
    const probe = probeChanges([account], figures);
    await until('changes are served', () => account.names.length > 1);
    state.away = true;
    const killedAt = performance.now();
    assert.equal(figures.firstChangeAfter(killedAt), Infinity);
    const acknowledged = seen.length;
    await until('some were refused', () => performance.now() - killedAt > 250);
    state.away = false;
    await until('a change is served again', () => seen.length > acknowledged);
    await probe.stop();
    assert.deepEqual(account.names, seen);
    assert.equal(new Set(account.names).size, account.names.length, 'each is another');
    const ms = figures.firstChangeAfter(killedAt);
    assert.ok(ms >= 250 && ms <= performance.now() - killedAt, `${ms} ms`);
  });
});
