import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { startMailInbox, type MailInbox } from '../../lab/mail/index.js';
import { openMailStore, type Mail } from '../../lab/mail/store.js';

const mailOf = (id: string, to = 'ann@example.com'): Mail => ({
  id,
  receivedAt: '2026-01-02T03:04:05.000Z',
  from: 'shop@example.com',
  to: [to],
  subject: `Mail ${id}`,
  text: 'Hello',
  html: null,
  listUnsubscribe: null,
  listUnsubscribePost: null,
  attachments: [],
});

describe('the mail inbox', () => {
  let inbox: MailInbox;

  beforeEach(async () => {
    inbox = await startMailInbox({ smtpPort: 0, httpPort: 0, dataDir: null });
  });
  afterEach(() => inbox.close());

  const send = async (mail: SendMailOptions) => {
    const transport = createTransport(inbox.smtpUrl);
    try {
      await transport.sendMail({ from: 'GPU rental <no-reply@localhost>', to: 'ann@example.com', ...mail });
    } finally {
      transport.close();
    }
  };
  const listMails = async (query = '') => {
    const response = await fetch(`${inbox.url}/mails${query}`);
    return ((await response.json()) as { mails: Mail[] }).mails;
  };

  it('shows what arrived as JSON, newest first', async () => {
    await send({ subject: 'Erste Größe €', text: 'Your code is 123456' });
    await send({ subject: 'Second', html: '<b>bold</b>' });
    const [second, first] = await listMails();
    assert.equal(first?.subject, 'Erste Größe €');
    assert.match(first.text, /123456/);
    assert.equal(first.html, null);
    assert.deepEqual(first.to, ['ann@example.com']);
    assert.equal(second?.html?.trim(), '<b>bold</b>');
  });

  it('lists by the address it was delivered to, in any case', async () => {
    await send({ to: 'Ann@Example.com', subject: 'for Ann' });
    await send({ to: 'bob@example.com', bcc: 'eve@example.com', subject: 'for Bob and Eve' });
    const subjects = async (to: string) =>
      (await listMails(`?to=${encodeURIComponent(to)}`)).map((m) => m.subject);
    assert.deepEqual(await subjects('ANN@example.com'), ['for Ann']);
    assert.deepEqual(await subjects('eve@example.com'), ['for Bob and Eve']);
    assert.deepEqual(await subjects('nobody@example.com'), []);
  });

  it('gives one mail by its id, and 404 for an unknown one', async () => {
    await send({ subject: 'One' });
    const [mail] = await listMails();
    const found = await fetch(`${inbox.url}/mails/${mail!.id}`);
    assert.equal(((await found.json()) as Mail).subject, 'One');
    assert.equal((await fetch(`${inbox.url}/mails/nothing`)).status, 404);
    assert.equal((await fetch(`${inbox.url}/inbox/nothing`)).status, 404);
  });

  it('removes all mails', async () => {
    await send({ subject: 'One' });
    const response = await fetch(`${inbox.url}/mails`, { method: 'DELETE' });
    assert.deepEqual(await response.json(), { removed: 1 });
    assert.deepEqual(await listMails(), []);
  });

  it('escapes what a mail brings with it, and lets a page run no script', async () => {
    await send({
      subject: '<script>alert(1)</script>',
      text: '<img src=x>',
      html: '"><script>alert(2)</script>',
    });
    const [mail] = await listMails();
    for (const path of ['/', `/inbox/${mail!.id}`]) {
      const response = await fetch(`${inbox.url}${path}`);
      const page = await response.text();
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
      assert.doesNotMatch(page, /<script|<img/);
      assert.match(page, /&lt;script&gt;alert\(1\)/);
    }
  });

  it('tells a payer who comes back how the payment went', async () => {
    const page = async (session: string) =>
      (await fetch(`${inbox.url}/app/billing?session=${session}`)).text();
    assert.match(await page('success'), /was made/);
    assert.match(await page('cancel'), /was not made/);
  });

  it('answers only to the names of this machine, so that no web site can read it', async () => {
    const status = await new Promise((resolve, reject) => {
      request(`${inbox.url}/mails`, { headers: { host: 'attacker.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    assert.equal(status, 403);
  });

  it('refuses a mail that is too large', async () => {
    await assert.rejects(send({ text: 'x'.repeat(1_100_000) }), { responseCode: 552 });
    assert.deepEqual(await listMails(), []);
  });
});

describe('the store of mails', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gpu-rental-mails-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('keeps its mails over a restart', async () => {
    const store = await openMailStore(folder);
    await Promise.all([store.add(mailOf('1')), store.add(mailOf('2'))]);
    const ids = (await openMailStore(folder)).list().map((mail) => mail.id);
    assert.deepEqual(ids, ['2', '1']);
  });

  it('passes over a line that a crash cut short', async () => {
    await (await openMailStore(folder)).add(mailOf('1'));
    await appendFile(join(folder, 'mails.jsonl'), '{"id":"2","recei');
    const store = await openMailStore(folder);
    await store.add(mailOf('3'));
    assert.deepEqual(
      (await openMailStore(folder)).list().map((mail) => mail.id),
      ['3', '1'],
    );
  });

  it('keeps the last 1,000, in memory and on disk', async () => {
    const store = await openMailStore(folder);
    await Promise.all(Array.from({ length: 2100 }, (_, index) => store.add(mailOf(String(index)))));
    assert.equal(store.list().length, 1000);
    assert.equal(store.list()[0]?.id, '2099');
    const lines = (await readFile(join(folder, 'mails.jsonl'), 'utf8')).split('\n').length - 1;
    assert.ok(lines <= 2000, `${lines} lines`);
    assert.equal((await openMailStore(folder)).list().at(-1)?.id, '1100');
  });
});
