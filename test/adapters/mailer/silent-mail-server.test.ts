import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { createSmtpTransport } from '../../../adapters/mailer/smtp.js';

const mail = { to: 'ann@example.com', subject: 'Hello', text: 'Hello', messageId: 'outbox-1@test' };

/** Says what it is told to, line by line, and nothing beyond it. */
interface Scripted {
  readonly server: Server;
  readonly url: string;
  readonly sockets: Set<Socket>;
}

async function startServer(onConnection: (socket: Socket) => void): Promise<Scripted> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, sockets, url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('a mail server that goes silent', () => {
  const stepLimitsMs = { connectionTimeout: 400, greetingTimeout: 400, socketTimeout: 400 };
  const started: Scripted[] = [];
  afterEach(() => {
    for (const { server, sockets } of started.splice(0)) {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  });

  async function sendTo(onConnection: (socket: Socket) => void, limits: object): Promise<number> {
    const scripted = await startServer(onConnection);
    started.push(scripted);
    const transport = createSmtpTransport({ smtpUrl: scripted.url, from: 'a@example.com', ...limits });
    const startedMs = performance.now();
    await assert.rejects(transport.send(mail));
    transport.close();
    return performance.now() - startedMs;
  }

  it('is given up when it never greets', async () => {
    assert.ok((await sendTo(() => undefined, { stepLimitsMs })) < 3_000);
  });

  it('is given up when it greets and then says nothing', async () => {
    assert.ok((await sendTo((socket) => socket.write('220 here\r\n'), { stepLimitsMs })) < 3_000);
  });

  it('is given up when it says a little now and then, and never an end', async () => {
    const drip = (socket: Socket): void => {
      socket.write('220 here\r\n');
      const timer = setInterval(() => socket.write('250-more\r\n'), 100);
      socket.on('close', () => clearInterval(timer));
    };
    const tookMs = await sendTo(drip, { stepLimitsMs, limitMs: 1_000 });
    assert.ok(tookMs >= 900 && tookMs < 4_000, `${tookMs} ms`);
  });
});
