import assert from 'node:assert/strict';
import type { ActivityDeps } from '../../../activities/deps.js';
import { deliveryOf } from '../../../activities/upkeep/mail.js';
import { MailError, type Mail } from '../../../adapters/mailer/smtp.js';
import type { MailOutboxRow } from '../../../adapters/postgres/rows/tables.js';
import { deliverDueMails } from '../../../adapters/postgres/upkeep/outbox-delivery.js';
import { messageOf } from '../../../domain/mails/message.js';
import { openMoneyDatabase } from '../../support/money/money.js';

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

describe('a mail whose address no server takes', () => {
  it('is given up 40 days after it was written, which operators read, and counts as failing no more', async () => {
    const money = await openMoneyDatabase();
    const { db } = money;
    try {
      const lines: unknown[] = [];
      const log = { warn: () => undefined, error: (line: unknown, text: string) => lines.push([line, text]) };
      const mail = { send: () => Promise.reject(new MailError('550 no such mailbox', false)) };
      const deps = { db, log, mail, settings: { deployment: 'test' } } as unknown as ActivityDeps;
      const idOf = async (days: number): Promise<number> => {
        const [row] = await db('mail_outbox')
          .insert({
            ...{ cause: `bulk:${days}`, recipient: 'ann@example.com', subject: 's', body: 'b', tries: 900 },
            created_at: db.raw(`clock_ms() - ? * interval '1 day'`, [days]) as never,
          })
          .returning('id');
        const at = new Date(Date.now() - 60_000);
        await db('stuck_items').insert({
          ...{ duty: 'mail', item: String(row!.id), attempts: 900, last_error: 'no', set_aside_at: at },
          ...{ first_failed_at: at, last_failed_at: at, next_attempt_at: at },
        });
        return row!.id;
      };
      const [given, kept] = [await idOf(41), await idOf(39)];
      while ((await deliverDueMails(db, deliveryOf(deps))).due > 0);
      assert.deepEqual(await db('mail_outbox').select('id', 'tries'), [{ id: kept, tries: 901 }]);
      assert.deepEqual(await db('stuck_items').pluck('item'), [String(kept)]);
      assert.deepEqual(lines, [
        [{ mail: given, cause: 'bulk:41', lastError: null }, 'gave up a mail: nobody took it for 40 days'],
      ]);
    } finally {
      await money.close();
    }
  });
});
