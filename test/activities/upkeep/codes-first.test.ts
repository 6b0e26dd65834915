import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createMailActivities } from '../../../activities/upkeep/mail.js';
import { newId } from '../../../adapters/ids.js';
import { MailError, type Mail } from '../../../adapters/mailer/smtp.js';
import { noteForUser } from '../../../adapters/postgres/notices/user-notices.js';
import { confirmDatabase } from '../../../adapters/postgres/restore/watermark.js';
import { insertMail } from '../../../adapters/postgres/upkeep/outbox.js';
import { deliverDueMails } from '../../../adapters/postgres/upkeep/outbox-delivery.js';
import { insertUser } from '../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runAlone, type LoneActivity } from '../../support/service/activity-context.js';
import { until } from '../../support/until.js';

const BULK = 100;

/** Beside a bulk of mails, such as a month's statements (decision 188). */
describe('a code that a person waits for', () => {
  let money: MoneyDatabase;
  let codes = 0;
  /** The mails that had failed and do no longer, by their numbers. */
  let recovered: number[];
  beforeEach(async () => {
    money = await openMoneyDatabase();
    codes = 0;
    recovered = [];
    await money.db('watermark').update({ value: 1 });
    assert.equal(await confirmDatabase(money.db, 1), 'confirmed');
  });
  afterEach(async () => {
    await end();
    await money.close();
  });

  async function insertBulk(mails = BULK): Promise<void> {
    await money.db.raw(
      `insert into mail_outbox (cause, recipient, subject, body)
       select 'bulk:' || n, 'bulk-' || n || '@example.com', 's', 'b' from generate_series(1, ?::int) n`,
      [mails],
    );
  }

  async function insertCode(recipient: string): Promise<void> {
    await insertMail(money.db, {
      cause: { kind: 'login_code', codeId: ++codes },
      recipient,
      message: { subject: 's', text: 'b', html: null },
      wipeAfterSending: true,
    });
  }

  /** Sends one after the other until nothing is due. @returns the recipients in their order */
  async function sendAll(refuses?: string): Promise<string[]> {
    const order: string[] = [];
    const delivery = {
      send: ({ recipient }: { recipient: string }) => {
        order.push(recipient);
        return recipient === refuses
          ? Promise.reject(new MailError('550 no such mailbox\0', false))
          : Promise.resolve();
      },
      failed: async ({ id }: { id: number }) => {
        await money.db.raw(
          `insert into stuck_items (duty, item, attempts, first_failed_at, last_failed_at, next_attempt_at, last_error)
           values ('mail', ?, 1, clock_ms(), clock_ms(), clock_ms() + interval '1 hour', 'no')`,
          [String(id)],
        );
        return 3_600_000;
      },
      recovered: ({ id }: { id: number }) => Promise.resolve(void recovered.push(id)),
      gaveUp: () => assert.fail('none is so old'),
    };
    while ((await deliverDueMails(money.db, delivery)).due > 0);
    return order;
  }

  it('goes before all that is due, the newest first, and nothing is left out', async () => {
    await insertBulk();
    await insertCode('ann@example.com');
    await insertCode('bob@example.com');
    const order = await sendAll();
    assert.deepEqual(order.slice(0, 3), ['bob@example.com', 'ann@example.com', 'bulk-1@example.com']);
    assert.equal(order.length, BULK + 2);
  });

  it('is given up once it is valid no longer, and counts as failing no more', async () => {
    await insertCode('late@example.com');
    await insertCode('ann@example.com');
    await insertBulk(1);
    const [late] = await money.db('mail_outbox').where({ recipient: 'late@example.com' });
    await money.db.raw(
      `update mail_outbox set tries = 1, created_at = clock_ms() - interval '10 minutes 1 second' where id = ?`,
      [late!.id],
    );
    assert.deepEqual(await sendAll(), ['ann@example.com', 'bulk-1@example.com']);
    assert.deepEqual(recovered, [late!.id]);
    assert.deepEqual(await money.db('mail_outbox').where({ id: late!.id }), []);
  });

  it('keeps nothing back where its mailbox refuses it, in words that no row holds', async () => {
    await insertBulk(2);
    await insertCode('poison@example.com');
    await insertCode('ann@example.com');
    assert.deepEqual((await sendAll('poison@example.com')).slice(0, 3), [
      'ann@example.com',
      'poison@example.com',
      'bulk-1@example.com',
    ]);
  });

  /** A mail server that takes codes, and never answers for others. */
  class Server {
    readonly taken: string[] = [];
    hanging = 0;
    readonly #let: (() => void)[] = [];
    readonly mail = {
      send: async ({ to }: Mail): Promise<void> => {
        if (to.startsWith('bulk')) {
          this.hanging += 1;
          await new Promise<void>((resolve) => this.#let.push(resolve));
          this.hanging -= 1;
        }
        this.taken.push(to);
      },
      close: () => undefined,
    };
    answer(): void {
      for (const answer of this.#let.splice(0)) answer();
    }
  }

  let server = new Server();
  let running: LoneActivity<void> | undefined;

  function deliver(): void {
    server = new Server();
    const settings = { deployment: 'test', publicUrl: 'http://127.0.0.1', noticeQuietMs: 0 };
    const log = pino({ level: 'silent' });
    const deps = { db: money.db, log, mail: server.mail, settings } as unknown as ActivityDeps;
    running = runAlone(() => createMailActivities(deps).deliverMails(600_000));
  }

  async function end(): Promise<void> {
    const ended = running?.result.catch(() => true);
    running?.cancel();
    await until('the mailer ends', () => {
      server.answer();
      return Promise.race([ended ?? true, sleep(10)]);
    });
    running = undefined;
  }

  it('goes while the mail server hangs on the bulk', async () => {
    await insertBulk(3);
    deliver();
    await until('the bulk hangs', () => server.hanging > 0);
    await insertCode('ann@example.com');
    await until('the code is sent', () => server.taken.length > 0);
    assert.deepEqual([server.taken, server.hanging], [['ann@example.com'], 1]);
  });

  it('goes while it takes long to say what is told by notices', async () => {
    const user = await insertUser(money.db);
    await noteForUser(money.db, {
      ...{
        userId: user.id,
        kind: 'passkey_added',
        cause: { kind: 'passkey_added', passkeyId: newId('psk') },
      },
      facts: { passkeyId: newId('psk'), name: 'key' },
    });
    const lock = await money.db.transaction();
    await lock('users').where({ id: user.id }).forUpdate().first();
    try {
      deliver();
      await until('the notice waits', async () => {
        const { rows } = await money.db.raw<{ rows: unknown[] }>(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      await insertCode('ann@example.com');
      await until('the code is sent', () => server.taken.length > 0);
      assert.deepEqual(server.taken, ['ann@example.com']);
    } finally {
      await lock.rollback();
    }
  });
});
