import assert from 'node:assert/strict';
import type { ActivityDeps } from '../../../activities/deps.js';
import { deliveryOf } from '../../../activities/upkeep/mail.js';
import type { Mail } from '../../../adapters/mailer/smtp.js';
import type { MailOutboxRow } from '../../../adapters/postgres/rows/tables.js';
import { messageOf } from '../../../domain/mails/message.js';

describe('a mail on its way out', () => {
  async function sentTo(recipient: string, supportContact: string | null): Promise<Mail> {
    const sent: Mail[] = [];
    const mail = { send: (each: Mail) => Promise.resolve(void sent.push(each)), close: () => undefined };
    const settings = { deployment: 'test', operatorEmail: 'ops@example.com', supportContact };
    const { subject, text, html } = messageOf('Hello', ['one']);
    const row = { id: 7, cause: 'code:1', recipient, subject, body: text, html, unsubscribe_url: null };
    await deliveryOf({ mail, settings } as unknown as ActivityDeps).send(
      row as unknown as MailOutboxRow & { body: string },
    );
    return sent[0]!;
  }

  it('names support to users, and not to operators', async () => {
    const mail = await sentTo('ann@example.com', 'help@example.com');
    assert.deepEqual([mail.to, mail.messageId], ['ann@example.com', 'outbox-7@test.gpu-rental']);
    assert.equal(mail.text, 'one\n\nContact support: help@example.com');
    assert.match(mail.html ?? '', /mailto:help@example\.com/);
    assert.equal((await sentTo('ops@example.com', 'help@example.com')).text, 'one');
    assert.equal((await sentTo('ann@example.com', null)).text, 'one');
  });
});
