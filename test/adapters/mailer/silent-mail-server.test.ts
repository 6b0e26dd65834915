import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { createSmtpTransport, MailError } from '../../../adapters/mailer/smtp.js';

const mail = { to: 'ann@example.com', subject: 'Hello', text: 'Hello', messageId: 'outbox-1@test' };

/** A server that sends the scripted lines and nothing else. */
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

/** Nodemailer's own shortest limit, which would end it else. */
const OWN_LIMIT_MS = 30_000;

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
    assert.ok((await sendTo(() => undefined, { stepLimitsMs })) < OWN_LIMIT_MS);
  });

  it('is given up when it greets and then says nothing', async () => {
    assert.ok((await sendTo((socket) => socket.write('220 here\r\n'), { stepLimitsMs })) < OWN_LIMIT_MS);
  });

  it('is given up when it says a little now and then, and never an end', async () => {
    const drip = (socket: Socket): void => {
      socket.write('220 here\r\n');
      const timer = setInterval(() => socket.write('250-more\r\n'), 100);
      socket.on('close', () => clearInterval(timer));
    };
    const tookMs = await sendTo(drip, { stepLimitsMs, limitMs: 1_000 });
    assert.ok(tookMs >= 900 && tookMs < OWN_LIMIT_MS, `${tookMs} ms`);
  });
});

describe('what a mail server’s no is about (decision 95)', () => {
  /** Answers one command as given, and all others with 250. */
  async function refusedAt(command: string, answer: string): Promise<boolean> {
    const { server, sockets, url } = await startServer((socket) => {
      socket.write('220 here\r\n');
      socket.on('data', (line) => {
        const isRefused = line.toString().toUpperCase().startsWith(command);
        socket.write(`${isRefused ? answer : '250 fine'}\r\n`);
      });
    });
    const transport = createSmtpTransport({ smtpUrl: url, from: 'a@example.com' });
    try {
      return await isOfServer(transport.send(mail));
    } finally {
      transport.close();
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  }

  async function isOfServer(sending: Promise<void>): Promise<boolean> {
    const error = await sending.then(() => undefined).catch((reason: unknown) => reason);
    assert.ok(error instanceof MailError, String(error));
    return error.isOfPeer;
  }

  it('the mail, when its recipient or its text is refused for good', async () => {
    assert.equal(await refusedAt('RCPT TO', '550 no such mailbox'), false);
    assert.equal(await refusedAt('DATA', '554 not such a text'), false);
  });

  it('the server, when it refuses its sender, or anything for now, or can not be reached', async () => {
    assert.equal(await refusedAt('RCPT TO', '451 try again'), true);
    assert.equal(await refusedAt('MAIL FROM', '550 not from you'), true);
    assert.equal(await refusedAt('EHLO', '421 too busy'), true);
    const { server, url } = await startServer(() => undefined);
    server.close();
    const transport = createSmtpTransport({ smtpUrl: url, from: 'a@example.com' });
    assert.equal(await isOfServer(transport.send(mail)), true);
    transport.close();
  });
});
