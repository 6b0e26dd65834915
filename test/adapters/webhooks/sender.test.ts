import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createWebhookSender, type SenderOptions } from '../../../adapters/webhooks/sender.js';
import type { Lookup } from '../../../adapters/public-address.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { until } from '../../support/until.js';
import { receiverCertificate } from '../../support/webhooks/certificate.js';

const message = { headers: { 'webhook-id': 'evt_1' }, body: '{"type":"webhook.ping"}' };
const lab: SenderOptions = { allowPrivate: true, ownHosts: ['127.0.0.1:8080'] };

describe('the way to receivers of webhooks', () => {
  let servers: (Server | HttpServer)[] = [];
  let sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    servers = [];
    sockets = [];
  });

  async function listening(server: Server | HttpServer): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  /** A receiver that says this to each connection, whatever it was asked. */
  const saying = (say: (socket: Socket) => unknown): Promise<number> =>
    listening(createTcpServer((socket) => socket.once('data', () => void say(socket))));
  const send = (port: number, options: Partial<SenderOptions> = {}) =>
    createWebhookSender({ ...lab, ...options })({ ...message, url: `http://127.0.0.1:${port}/hook?a=1` });

  it('posts the message as JSON with its headers and reads the answer', async () => {
    const seen: unknown[] = [];
    const port = await listening(
      createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => (body += String(chunk)));
        request.on('end', () => {
          seen.push(request.method, request.url, request.headers['webhook-id'], request.headers.host, body);
          seen.push(request.headers['content-type']);
          response.statusCode = 202;
          response.end('thanks');
        });
      }),
    );
    const { status, fault, body } = await send(port);
    assert.deepEqual({ status, fault, body }, { status: 202, fault: null, body: 'thanks' });
    const host = `127.0.0.1:${port}`;
    assert.deepEqual(seen, ['POST', '/hook?a=1', 'evt_1', host, message.body, 'application/json']);
  });

  it('reads 4 KiB of an answer without end, and no more', async () => {
    let sent = 0;
    const port = await saying((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n');
      const flood = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x'))) sent += 65_536;
      };
      socket.on('drain', flood);
      flood();
    });
    const { status, body } = await send(port);
    assert.equal(status, 200);
    assert.equal(body.length, webhookLimits.answerBytes);
    await until('the connection is cut', () => sockets.every((socket) => socket.destroyed));
    assert.ok(sent < 100_000_000, `${sent} bytes left the receiver`);
  });

  it('gives up a receiver that hangs: before its answer, within its headers, and within its body', async () => {
    const soon = { exchangeMs: 100 };
    const silent = await saying(() => undefined);
    assert.equal((await send(silent, soon)).fault, 'timeout');
    const dripping = await saying((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-drip: 1\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const dripped = await send(dripping, soon);
    assert.deepEqual([dripped.status, dripped.fault], [null, 'timeout']);
    const half = await saying((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    const { status, fault, body } = await send(half, soon);
    assert.deepEqual([status, fault, body], [200, null, 'half']);
    await until('all are let go', () => sockets.every((socket) => socket.destroyed));
  });

  it('does not follow a redirect: it is an answer', async () => {
    let followed = 0;
    const target = await listening(
      createServer((_request, response) => void ((followed += 1), response.end())),
    );
    const port = await saying((socket) =>
      socket.end(`HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:${target}/\r\ncontent-length: 0\r\n\r\n`),
    );
    assert.equal((await send(port)).status, 301);
    assert.equal(followed, 0);
  });

  it('tells apart who resets, refuses, speaks no HTTP, or wants another protocol', async () => {
    const resets = await saying((socket) => socket.resetAndDestroy());
    assert.equal((await send(resets)).fault, 'connection');
    const closed = createTcpServer();
    const port = await listening(closed);
    closed.close();
    assert.equal((await send(port)).fault, 'connection');
    const other = await saying((socket) => socket.end('SSH-2.0-OpenSSH_9.8\r\n'));
    assert.equal((await send(other)).fault, 'connection');
    const upgrading = await saying((socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    );
    assert.equal((await send(upgrading)).fault, 'connection');
    for (const status of ['000', '099']) {
      const odd = await saying((socket) => socket.end(`HTTP/1.1 ${status} Odd\r\ncontent-length: 0\r\n\r\n`));
      const { status: answered, fault } = await send(odd);
      assert.deepEqual([answered, fault], [null, 'connection'], 'no status is below 100');
    }
    const headers = await saying((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
    );
    assert.equal((await send(headers)).fault, 'connection');
  });

  it('checks the certificate against the name, and connects to the address that it checked', async () => {
    const { key, cert } = receiverCertificate;
    const names: (string | false | null)[] = [];
    const server = createTlsServer({ key, cert }, (_request, response) => response.end('ok'));
    server.on('secureConnection', (socket) => names.push(socket.servername));
    const port = await listening(server);
    const to = (url: string, ca?: string) =>
      createWebhookSender({
        ...lab,
        ...(ca !== undefined && { ca }),
        lookUp: () => Promise.resolve(['127.0.0.1']),
      })({ ...message, url });
    assert.equal((await to(`https://hooks.example.com:${port}/`, cert)).status, 200);
    assert.deepEqual(names, ['hooks.example.com']);
    assert.equal((await to(`https://hooks.example.com:${port}/`)).fault, 'tls', 'nobody vouches for it');
    assert.equal(
      (await to(`https://other.example.com:${port}/`, cert)).fault,
      'tls',
      'it is for another name',
    );
    assert.equal((await to(`https://127.0.0.1:${port}/`, cert)).fault, 'tls', 'it is for no address');
  });

  describe('outside the lab', () => {
    const found = new Map<string, string[]>();
    const asked: string[] = [];
    const strict: SenderOptions = {
      allowPrivate: false,
      ownHosts: ['api.example.com'],
      exchangeMs: 200,
      lookUp: (host) => {
        asked.push(host);
        const addresses = found.get(host);
        return addresses === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(addresses);
      },
    };
    const sender = createWebhookSender(strict);
    const faultOf = async (url: string) => (await sender({ ...message, url })).fault;

    it('refuses addresses of no public machine, however they are written', async () => {
      for (const host of [
        '127.0.0.1',
        '2130706433',
        '0x7f.1',
        '0.0.0.0',
        '10.1.2.3',
        '100.64.0.1',
        '169.254.169.254',
        '172.16.0.1',
        '192.168.1.1',
        '224.0.0.1',
        '255.255.255.255',
        '[::1]',
        '[::]',
        '[::ffff:127.0.0.1]',
        '[::ffff:10.0.0.1]',
        '[64:ff9b::7f00:1]',
        '[fe80::1]',
        '[fc00::1]',
        '[ff02::1]',
        '[2002:7f00:1::]',
      ]) {
        assert.equal(await faultOf(`https://${host}/`), 'private_address', host);
      }
    });

    it('looks a name up at each delivery, and refuses one that has moved', async () => {
      found.set('moving.example.com', ['127.0.0.1']);
      assert.equal(await faultOf('https://moving.example.com/'), 'private_address');
      found.set('moving.example.com', ['93.184.216.34', '10.0.0.1']);
      assert.equal(await faultOf('https://moving.example.com/'), 'private_address', 'one of two is private');
      found.delete('moving.example.com');
      assert.equal(await faultOf('https://moving.example.com/'), 'unresolved');
      assert.equal(asked.filter((host) => host === 'moving.example.com').length, 3);
    });

    it('sends nothing to our own hosts, by name or by address', async () => {
      found.set('api.example.com', ['93.184.216.34', '2606:2800:220:1::1']);
      found.set('alias.example.net', ['2606:2800:220:1::1']);
      assert.equal(await faultOf('https://API.example.com./'), 'url_refused');
      assert.equal(await faultOf('https://alias.example.net/'), 'own_address');
    });

    it('knows our own hosts by their last addresses while they can’t be looked up, or not in time', async () => {
      found.set('ours.example.com', ['93.184.216.40']);
      found.set('alias.example.org', ['93.184.216.40']);
      let isSilent = false;
      const lookUp: Lookup = (host) =>
        isSilent && host === 'ours.example.com' ? new Promise(() => undefined) : strict.lookUp!(host);
      const options = { ...strict, ownHosts: ['ours.example.com'], ownKnownMs: 0, lookUpMs: 20, lookUp };
      const send = createWebhookSender(options);
      const refused = async () => (await send({ ...message, url: 'https://alias.example.org/' })).fault;
      assert.equal(await refused(), 'own_address');
      found.delete('ours.example.com');
      assert.equal(await refused(), 'own_address');
      isSilent = true;
      assert.equal(await refused(), 'own_address');
    });

    it('refuses addresses that nobody could have saved', async () => {
      for (const url of ['http://example.com/', 'https://example.com:8443/', 'https://u:p@example.com/']) {
        assert.equal(await faultOf(url), 'url_refused', url);
      }
    });
  });
});
