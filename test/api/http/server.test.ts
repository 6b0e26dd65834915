import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, type ApiServer, type ServerTimeouts } from '../../../api/server.js';
import { startApi, type TestApi } from '../../support/http/api.js';
import { until } from '../../support/until.js';

const timeouts: ServerTimeouts = { headersMs: 200, requestMs: 300, keepAliveMs: 5_000, idleMs: 1_000 };

/** A connection that sends the test's own bytes, and all that came back on it. */
async function open(
  port: number,
): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // A connection that is cut may end with an error as well.
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  return { socket, received: () => text, closed };
}

describe('slow clients', () => {
  let api: TestApi;
  let port: number;
  before(async () => {
    api = await startApi({ timeouts });
    port = Number(new URL(api.url).port);
  });
  after(() => api.stop());

  const cases: [what: string, bytes: string][] = [
    ['sends nothing', ''],
    ['does not end its headers', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow:'],
    [
      'does not end its body',
      'POST /v1/auth/request-code HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"em',
    ],
  ];
  for (const [what, bytes] of cases) {
    it(`are cut: one that ${what}`, async () => {
      const { socket, received, closed } = await open(port);
      if (bytes !== '') socket.write(bytes);
      // Node's own limits would let it wait for five minutes.
      await closed;
      assert.match(received(), /^HTTP\/1\.1 408 |^$/);
    });
  }

  it('are cut: one that does not read its answer', async () => {
    const slow = await startServer(
      (_request, response) => {
        response.end(Buffer.alloc(64 * 1024 * 1024));
        return Promise.resolve();
      },
      { host: '127.0.0.1', port: 0 },
      { ...timeouts, idleMs: 300 },
    );
    try {
      const closedThere = once(slow.server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
      const { socket } = await open((slow.server.address() as AddressInfo).port);
      socket.pause();
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await closedThere;
      socket.destroy();
    } finally {
      await slow.stop(0);
    }
  });

  it('are refused: one whose headers are longer than 16 KiB', async () => {
    const { socket, received, closed } = await open(port);
    socket.write(`GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(17 * 1024)}\r\n\r\n`);
    await closed;
    assert.match(received(), /^HTTP\/1\.1 431 /);
  });

  it('leave honest ones alone, who keep their connection', async () => {
    const { socket, received } = await open(port);
    for (let nth = 1; nth <= 3; nth += 1) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
      await until('it is answered', () => received().split('HTTP/1.1 200').length === nth + 1);
      await sleep(250);
    }
    socket.destroy();
  });
});

describe('a server that is stopped', () => {
  let release: () => void;
  let server: ApiServer;
  let port: number;
  let asked: number;
  /** The server's ends of its connections. */
  let accepted: Socket[];
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

  beforeEach(async () => {
    asked = 0;
    accepted = [];
    const gate = new Promise<void>((resolve) => (release = resolve));
    server = await startServer(
      async ({ url }, response) => {
        asked += 1;
        if (url === '/begun') response.write('begun');
        if (url !== '/quick') await gate;
        response.end('done');
      },
      { host: '127.0.0.1', port: 0 },
    );
    server.server.on('connection', (socket) => accepted.push(socket));
    port = (server.server.address() as AddressInfo).port;
  });
  afterEach(() => {
    release();
    server.server.closeAllConnections();
    server.server.close();
  });

  /** Sends on the one connection, and waits until the server has it. */
  async function send(socket: Socket, text: string): Promise<void> {
    socket.write(text);
    await until('it has come', () => accepted[0]?.bytesRead === socket.bytesWritten);
  }

  it('ends the request under way, then its connection, and takes no new connection', async () => {
    const running = await open(port);
    running.socket.write(request);
    await until('the request is under way', () => asked === 1);
    const stopped = server.stop(10_000);
    const refused = connect(port, '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNREFUSED');
    release();
    assert.equal(await stopped, 0, 'nothing was cut');
    await running.closed;
    assert.match(running.received(), /^HTTP\/1\.1 200 /);
    assert.match(running.received(), /connection: close/i);
    assert.match(running.received(), /done/);
  });

  it('closes kept connections that are idle at once', async () => {
    const idle = await open(port);
    idle.socket.write('GET /quick HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('it is answered', () => idle.received().includes('done'));
    assert.equal(await server.stop(10_000), 0);
    await idle.closed;
  });

  it('refuses what still comes on a connection whose request is under way', async () => {
    const running = await open(port);
    running.socket.write(request);
    await until('the request is under way', () => asked === 1);
    const stopped = server.stop(10_000);
    await send(running.socket, 'GET /quick HTTP/1.1\r\nHost: a\r\n\r\n');
    release();
    await stopped;
    assert.equal(asked, 1, 'the second one reached no handler');
  });

  it('says so of what it opens: nothing was done, as far as that is certain', async () => {
    const running = await open(port);
    // The headers leave before the stop, so that the connection is not closed with its answer.
    running.socket.write('GET /begun HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('the request is under way', () => running.received().includes('begun'));
    const stopped = server.stop(10_000);
    await send(running.socket, 'POST /v1/rentals HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    release();
    await Promise.all([stopped, running.closed]);
    assert.match(running.received(), /"details":\{"outcome":"not_done"\}/);
  });

  it('cuts what does not end within the limit, and says how many', async () => {
    const running = await open(port);
    running.socket.write(request);
    await until('the request is under way', () => asked === 1);
    assert.equal(await server.stop(100), 1);
    await running.closed;
    assert.equal(running.received(), '');
  });
});

describe('the headers of every answer', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ settings: { secureCookie: true } });
  });
  after(() => api.stop());

  it('let browsers do nothing with it but read it, refusals and health checks too', async () => {
    const stranger = api.stranger();
    for (const path of ['/healthz', '/v1/auth/me', '/v1/nothing', '/nothing']) {
      const { headers } = await stranger.get(path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
      assert.match(
        headers.get('content-security-policy') ?? '',
        /default-src 'none'.*frame-ancestors 'none'/,
      );
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.match(headers.get('strict-transport-security') ?? '', /^max-age=\d{8}$/, path);
      assert.equal(headers.get('x-powered-by'), null);
      assert.equal(headers.get('server'), null);
    }
  });

  it('ask for TLS only where the cookie does', async () => {
    const plain = await startApi({ databaseUrl: api.databaseUrl });
    try {
      const { headers } = await plain.stranger().get('/healthz');
      assert.equal(headers.get('strict-transport-security'), null);
    } finally {
      await plain.stop();
    }
  });
});
