import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { createSmtpTransport, MailError, type MailTransport } from '../../../adapters/mailer/smtp.js';
import { until } from '../../support/until.js';

/** Each mail had a connection of its own, and a bulk of mails took a handshake and a login for each. */
describe('connections to the mail server', () => {
  let server: SMTPServer;
  let transport: MailTransport;
  let made: number;
  let open: Set<string>;
  let taken: string[];
  /** Of mails to `slow@…`, which are taken only when they are let. */
  let waiting: (() => void)[];

  beforeEach(async () => {
    [made, open, taken, waiting] = [0, new Set(), [], []];
    server = new SMTPServer({
      ...{ authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true },
      onConnect({ id }, callback) {
        made += 1;
        open.add(id);
        callback();
      },
      onClose: ({ id }) => void open.delete(id),
      onRcptTo({ address }, _session, callback) {
        if (address.startsWith('slow')) waiting.push(callback);
        else
          callback(address.startsWith('no') ? Object.assign(new Error('no'), { responseCode: 550 }) : null);
      },
      onData(stream, { envelope }, callback) {
        stream.resume().on('end', () => {
          taken.push(...envelope.rcptTo.map(({ address }) => address));
          callback();
        });
      },
    });
    server.on('error', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
  });
  afterEach(async () => {
    transport.close();
    await new Promise<void>((resolve) => server.close(resolve));
  });

  function connect(limitMs?: number): MailTransport {
    const { port } = server.server.address() as AddressInfo;
    const limits = limitMs === undefined ? {} : { limitMs };
    transport = createSmtpTransport({
      smtpUrl: `smtp://127.0.0.1:${port}`,
      from: 'a@example.com',
      ...limits,
    });
    return transport;
  }

  const send = (to: string): Promise<void> =>
    transport.send({ to, subject: 's', text: 't', messageId: `${to}-1` });

  it('are kept from mail to mail, also after a refused one, and end with the transport', async () => {
    connect();
    for (let n = 0; n < 20; n++) await send(`ann-${n}@example.com`);
    assert.deepEqual([made, taken.length, open.size], [1, 20, 1]);
    for (let n = 0; n < 9; n++) {
      await assert.rejects(send('no@example.com'), MailError);
      await send('bob@example.com');
    }
    // The next mail may come before the connection is ready for it again.
    assert.ok(made <= 2, `${made} connections`);
    transport.close();
    await until('none is open', () => open.size === 0);
  });

  it('are few at once, and a mail that hangs holds no other up', async () => {
    connect();
    const slow = send('slow@example.com');
    await until('it hangs', () => waiting.length === 1);
    await Promise.all(Array.from({ length: 30 }, (_, n) => send(`ann-${n}@example.com`)));
    assert.equal(taken.length, 30);
    assert.ok(made > 1 && made <= 4, `${made} connections`);
    for (const take of waiting) take();
    await slow;
  });

  it('are given up with their mail, so that mails that hang use none up', async () => {
    connect(300);
    const hanging = Array.from({ length: 4 }, (_, n) => send(`slow-${n}@example.com`));
    for (const each of await Promise.allSettled(hanging)) assert.equal(each.status, 'rejected');
    await until('none of them is open', () => open.size === 0);
    await send('ann@example.com');
    assert.deepEqual(taken, ['ann@example.com']);
  });

  it('are made anew where the server ended them meanwhile', async () => {
    connect();
    await send('ann@example.com');
    // Between two mails, as servers do that wait for long.
    for (const connection of server.connections) connection.close();
    await send('bob@example.com');
    assert.deepEqual([taken, made], [['ann@example.com', 'bob@example.com'], 2]);
  });
});
