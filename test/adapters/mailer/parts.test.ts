import assert from 'node:assert/strict';
import { createSmtpTransport, type Mail } from '../../../adapters/mailer/smtp.js';
import { startMailInbox, type MailInbox } from '../../../lab/mail/index.js';
import type { Mail as Received } from '../../../lab/mail/store.js';

describe('a mail by SMTP', () => {
  let inbox: MailInbox;
  before(async () => {
    inbox = await startMailInbox({ smtpPort: 0, httpPort: 0, dataDir: null });
  });
  after(() => inbox.close());

  async function received(mail: Partial<Mail>): Promise<Received> {
    const transport = createSmtpTransport({ smtpUrl: inbox.smtpUrl, from: 'a@example.com' });
    try {
      const whole = { to: 'ann@example.com', subject: 'Hello', text: 'Größe €', messageId: 'outbox-1@test' };
      await transport.send({ ...whole, ...mail });
    } finally {
      transport.close();
    }
    const { mails } = (await (await fetch(`${inbox.url}/mails`)).json()) as { mails: Received[] };
    return mails[0]!;
  }

  it('has both parts, and the headers that switch such mails off with one click', async () => {
    const unsubscribeUrl = `https://api.example.com/v1/notices/unsubscribe?token=${'t'.repeat(120)}`;
    const mail = await received({ html: '<p>Größe €</p>', unsubscribeUrl });
    assert.equal(mail.text.trim(), 'Größe €');
    assert.equal(mail.html?.trim(), '<p>Größe €</p>');
    assert.equal(mail.listUnsubscribe, `<${unsubscribeUrl}>`);
    assert.equal(mail.listUnsubscribePost, 'List-Unsubscribe=One-Click');
    assert.deepEqual(mail.attachments, []);
  });

  it('is text alone as release 0.1 wrote it, and offers nothing to switch off', async () => {
    for (const parts of [{}, { html: null, unsubscribeUrl: null }]) {
      const mail = await received(parts);
      assert.deepEqual([mail.text.trim(), mail.html], ['Größe €', null]);
      assert.deepEqual([mail.listUnsubscribe, mail.listUnsubscribePost], [null, null]);
    }
  });
});
