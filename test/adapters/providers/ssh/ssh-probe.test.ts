import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { isPublicAddress } from '../../../../adapters/public-address.js';
import { resolvePodAddress } from '../../../../adapters/providers/ssh/pod-address.js';
import { captureHostKey, probeSsh } from '../../../../adapters/providers/ssh/ssh-probe.js';
import { hasOpenSsh, newRenterKey, type RenterKey } from '../../../lab/provider/living-lab.js';

/** Long enough for a busy machine. Tests that wait for the limit itself use a short one. */
const LIMITS = { connectTimeoutMs: 5_000, identTimeoutMs: 5_000 };

describe('the SSH probe', () => {
  let servers: Server[] = [];
  let sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    servers = [];
    sockets = [];
  });

  async function listening(server: Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  const saying = (say: (socket: Socket) => unknown): Promise<number> =>
    listening(createServer((socket) => void say(socket)));
  const probe = (port: number, limits: Partial<typeof LIMITS> = {}, host = '127.0.0.1') =>
    probeSsh({ host, port, allowPrivate: true, ...LIMITS, ...limits });

  const answering: [string, (socket: Socket) => unknown][] = [
    ['an identification line', (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
    ['one with comments', (socket) => socket.write('SSH-2.0-OpenSSH_9.6 Ubuntu-3\r\n')],
    ['version 1.99', (socket) => socket.write('SSH-1.99-Cisco-1.25\r\n')],
    ['a bare LF', (socket) => socket.write('SSH-2.0-x\n')],
    ['other lines first', (socket) => socket.write('Welcome\r\nto the machine\r\n\r\nSSH-2.0-x\r\n')],
    ['255 bytes with its CR LF', (socket) => socket.write(`SSH-2.0-${'x'.repeat(245)}\r\n`)],
    ['the last line that fits into 4 KiB', (socket) => socket.write(`${'x'.repeat(4085)}\nSSH-2.0-x\n`)],
    [
      'three fragments',
      async (socket) => {
        for (const part of ['hello\r\nSS', 'H-2.0', '-x\r\n']) {
          socket.write(part);
          await sleep(5);
        }
      },
    ],
  ];
  for (const [what, say] of answering) {
    it(`takes ${what} for an answer`, async () => {
      assert.deepEqual(await probe(await saying(say)), { answered: true });
    });
  }

  const silent: [string, (socket: Socket) => unknown, string][] = [
    ['silence', () => undefined, 'ident-timeout'],
    ['a line that never ends', (socket) => socket.write('SSH-2.0-x'), 'ident-timeout'],
    ['a line of CR only', (socket) => socket.write('SSH-2.0-x\r'), 'ident-timeout'],
    ['an end before the line', (socket) => socket.end('hello\r\n'), 'closed-before-ident'],
    ['an unfinished line and the end', (socket) => socket.end('SSH-2.0-x'), 'closed-before-ident'],
    ['version 1.5', (socket) => socket.write('SSH-1.5-old\r\n'), 'bad-ident'],
    ['no software version', (socket) => socket.write('SSH-2.0-\r\n'), 'bad-ident'],
    ['a space for one', (socket) => socket.write('SSH-2.0- x\r\n'), 'bad-ident'],
    ['a bad line before a good one', (socket) => socket.write('SSH-1.5-a\r\nSSH-2.0-b\r\n'), 'bad-ident'],
    ['256 bytes with its CR LF', (socket) => socket.write(`SSH-2.0-${'x'.repeat(246)}\r\n`), 'bad-ident'],
    ['300 bytes without an end', (socket) => socket.write(`SSH-2.0-${'x'.repeat(292)}`), 'bad-ident'],
    ['9 KB of something else', (socket) => socket.write('x'.repeat(9_000)), 'too-long'],
    [
      'a line that begins within 4 KiB and ends beyond',
      (socket) => socket.write(`${'x'.repeat(4090)}\nSSH-2.0-x\n`),
      'too-long',
    ],
  ];
  for (const [what, say, reason] of silent) {
    it(`does not take ${what} for one: ${reason}`, async () => {
      const limits = reason === 'ident-timeout' ? { identTimeoutMs: 60 } : {};
      assert.deepEqual(await probe(await saying(say), limits), { answered: false, reason });
    });
  }

  it('does not take a web server for one', async () => {
    const web = createHttpServer({ requestTimeout: 20, headersTimeout: 20, connectionsCheckingInterval: 5 });
    const result = await probe(await listening(web));
    assert.equal(result.answered, false);
  });

  it('tells a closed port', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    assert.deepEqual(await probe(port), { answered: false, reason: 'ECONNREFUSED' });
  });

  it('gives up connecting when the machine takes no more connections', async () => {
    const program = `
      const server = require('net').createServer();
      server.listen(0, '127.0.0.1', 1, () => {
        process.stdout.write(String(server.address().port), () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
      });`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
      const port = Number(chunk.toString());
      // Fills the waiting line of the blocked server.
      sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
      await sleep(30);
      assert.deepEqual(await probe(port, { connectTimeoutMs: 100 }), {
        answered: false,
        reason: 'connect-timeout',
      });
    } finally {
      child.kill('SIGKILL');
    }
  });

  for (const port of [0, -1, 65_536, 22.5, NaN]) {
    it(`refuses the port ${port}`, async () => {
      assert.deepEqual(await probe(port), { answered: false, reason: 'bad-port' });
    });
  }

  it('connects by name as well', async () => {
    const port = await saying((socket) => socket.write('SSH-2.0-x\r\n'));
    assert.deepEqual(await probe(port, {}, 'localhost'), { answered: true });
  });

  it('never connects to a private address unless it is allowed to, by name neither', async () => {
    let connections = 0;
    const port = await saying(() => (connections += 1));
    for (const host of [
      '127.0.0.1',
      'localhost',
      '::1',
      '::ffff:127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '0.0.0.0',
    ]) {
      const result = await probeSsh({ host, port, allowPrivate: false, ...LIMITS });
      assert.deepEqual(result, { answered: false, reason: 'private-address' }, host);
      assert.equal(await captureHostKey({ host, port, allowPrivate: false, timeoutMs: 100 }), undefined);
    }
    assert.equal(connections, 0);
  });

  it('tells a name that does not resolve', async () => {
    const result = await probe(22, {}, 'no-such-host.invalid');
    assert.deepEqual(result, { answered: false, reason: 'unresolved' });
  });

  describe('captureHostKey', () => {
    it('gives the fingerprint of the key that the server proves, as OpenSSH prints it', async () => {
      const hostKey = newRenterKey();
      const ssh = new ssh2.Server({ hostKeys: [hostKey.pem] }, (client) =>
        client.on('error', () => undefined),
      );
      const port = await saying((socket) => ssh.injectSocket(socket));
      const found = await captureHostKey({ host: '127.0.0.1', port, allowPrivate: true, timeoutMs: 2_000 });
      const blob = Buffer.from(hostKey.line.split(' ')[1]!, 'base64');
      const digest = createHash('sha256').update(blob).digest('base64').replace('=', '');
      assert.equal(found, `SHA256:${digest}`);
      if (hasOpenSsh) assert.equal(found, await fingerprintByOpenSsh(port));
    });

    it('gives nothing for a server that shows a key and can’t prove it', async () => {
      const shown = newRenterKey();
      // The server signs with another key than it shows.
      const ssh = new ssh2.Server({ hostKeys: [newRenterKey().pem] }, (client) =>
        client.on('error', () => undefined),
      );
      const port = await saying((socket) => ssh.injectSocket(socket));
      const thief = await saying((socket) => swapKey(socket, port, shown));
      const found = await captureHostKey({
        host: '127.0.0.1',
        port: thief,
        allowPrivate: true,
        timeoutMs: 1_000,
      });
      assert.equal(found, undefined);
    });

    it('gives nothing for a server that only says its line, within the limit', async () => {
      const port = await saying((socket) => socket.write('SSH-2.0-x\r\n'));
      // It never says more: nothing but the limit ends this.
      assert.equal(
        await captureHostKey({ host: '127.0.0.1', port, allowPrivate: true, timeoutMs: 60 }),
        undefined,
      );
    });

    it('gives nothing for a closed port', async () => {
      assert.equal(
        await captureHostKey({ host: '127.0.0.1', port: 1, allowPrivate: true, timeoutMs: 500 }),
        undefined,
      );
    });
  });
});

async function fingerprintByOpenSsh(port: number): Promise<string | undefined> {
  const args = ['-t', 'ecdsa', '-p', String(port), '127.0.0.1'];
  const child = spawn('ssh-keyscan', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let lines = '';
  for await (const chunk of child.stdout) lines += String(chunk);
  return execFileSync('ssh-keygen', ['-lf', '-'], { input: lines, encoding: 'utf8' }).split(' ')[1];
}

/** Stands in the middle: replaces the server's own key in its data by another machine's key. */
function swapKey(socket: Socket, port: number, shown: RenterKey): void {
  const behind = connect(port, '127.0.0.1');
  const blob = Buffer.from(shown.line.split(' ')[1]!, 'base64');
  const head = blob.subarray(0, 39);
  socket.pipe(behind);
  socket.on('close', () => behind.destroy());
  behind.on('error', () => socket.destroy());
  behind.on('data', (chunk: Buffer) => {
    // The key exchange is not encrypted yet. It holds the key's type, curve and length, then its point.
    const at = chunk.indexOf(head);
    if (at >= 0) blob.copy(chunk, at);
    socket.write(chunk);
  });
}

describe('the addresses of pods', () => {
  const refused = [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
    ...['192.0.0.8', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
    ...[
      '240.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
      'fc00::1',
      'fd12::1',
    ],
    ...['fe80::1', 'ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', 'localhost', ''],
  ];
  for (const address of refused) {
    it(`refuses ${address === '' ? 'an empty text' : address}`, () =>
      assert.equal(isPublicAddress(address), false));
  }
  for (const address of [
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '192.169.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ]) {
    it(`accepts ${address}`, () => assert.equal(isPublicAddress(address), true));
  }

  it('gives a public address as it is, without looking anything up', async () => {
    const resolved = await resolvePodAddress({
      host: '1.1.1.1',
      port: 22,
      allowPrivate: false,
      timeoutMs: 1,
    });
    assert.deepEqual(resolved, { address: '1.1.1.1' });
  });
});
