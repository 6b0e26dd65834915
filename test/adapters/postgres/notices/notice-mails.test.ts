import assert from 'node:assert/strict';
import type { Database } from '../../../../adapters/postgres/database.js';
import { listDueNotices, mailNotices } from '../../../../adapters/postgres/notices/notice-mails.js';
import { noteForUser } from '../../../../adapters/postgres/notices/user-notices.js';
import type { MailOutboxRow, UserRow } from '../../../../adapters/postgres/rows/tables.js';
import { newId } from '../../../../adapters/ids.js';
import type { ToldKind } from '../../../../domain/notices/kinds.js';
import { noticeLimits } from '../../../../domain/notices/limits.js';
import type { EndKind } from '../../../../domain/notices/notices.js';
import { until } from '../../../support/until.js';
import {
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../../support/money/money.js';

const publicUrl = 'https://api.example.com';

describe('mails of notices (decision 103)', () => {
  let database: MoneyDatabase;
  let db: Database;
  let user: UserRow;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
  });
  beforeEach(async () => {
    user = await newUser();
  });
  after(() => database.close());

  async function newUser(): Promise<UserRow> {
    const wallet = await insertWallet(db, 10_000);
    return (await db('users').where({ id: wallet.user_id }).first())!;
  }

  /** Notes the end of a machine, this long ago. */
  async function note(kind: EndKind, secondsAgo: number, rentalId = newId('rent')): Promise<void> {
    await noteForUser(db, {
      userId: user.id,
      kind,
      cause: { kind: 'rental_ended', rentalId },
      facts: { rentalId, name: null, gpuCount: 1, model: 'H100', chargedCents: 5, error: null },
    });
    await db.raw(
      `update user_notices set noted_at = noted_at - :seconds * interval '1 second'
        where cause = :cause and told_at is null`,
      { seconds: secondsAgo, cause: `rental-ended:${rentalId}` },
    );
  }

  async function due(): Promise<ToldKind[]> {
    return (await listDueNotices(db)).filter(({ userId }) => userId === user.id).map(({ kind }) => kind);
  }

  function mails(): Promise<MailOutboxRow[]> {
    return db('mail_outbox').where({ recipient: user.email }).orderBy('id');
  }

  const tell = (kind: ToldKind) => mailNotices(db, { userId: user.id, kind }, publicUrl);

  const quiet = noticeLimits.quietMs / 1_000;

  it('wait until nothing of their kind has happened for a moment', async () => {
    await note('rental_lost', 2 * quiet);
    await note('rental_failed', 2 * quiet);
    await note('rental_failed', quiet / 2);
    assert.deepEqual(await due(), ['rental_lost']);
  });

  it('put off statements, of which there are as many as users, for what cannot wait', async () => {
    const facts = { openingCents: 0, paidInCents: 0, machinesCents: 0, otherCents: 0, closingCents: 0 };
    await noteForUser(db, {
      userId: user.id,
      kind: 'statement',
      cause: { kind: 'statement', userId: user.id, month: '2026-01' },
      facts: { month: '2026-01', ...facts, rootHash: null },
    });
    await db('user_notices').update({ noted_at: db.raw(`noted_at - interval '1 hour'`) });
    await note('rental_lost', 2 * quiet);
    assert.deepEqual(await due(), ['rental_lost', 'statement']);
  });

  it('wait no longer than a minute for more that goes on happening', async () => {
    await note('rental_failed', noticeLimits.longestMs / 1_000 + 1);
    await note('rental_failed', 0);
    assert.deepEqual(await due(), ['rental_failed']);
  });

  it('wait for the machines that the same cause is just ending, whose bills are being made', async () => {
    const wallet = (await db('wallets').where({ user_id: user.id }).first())!;
    const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 1_000 });
    const end = (stop_reason: 'balance_exhausted' | 'auto_stop') =>
      db('rentals')
        .where({ id })
        .update({ status: 'stopping', stop_reason, ended_at: db.raw('clock_ms()') });
    await note('rental_balance_exhausted', 2 * quiet);
    await end('balance_exhausted');
    assert.deepEqual(await due(), []);
    await end('auto_stop');
    assert.deepEqual(await due(), ['rental_balance_exhausted'], 'another cause holds nothing up');
    await end('balance_exhausted');
    await note('rental_balance_exhausted', noticeLimits.longestMs / 1_000 + 1);
    assert.deepEqual(await due(), ['rental_balance_exhausted'], 'a bill that can not be made neither');
  });

  it('tell a hundred ends in one mail, and leave those of another kind and user to theirs', async () => {
    for (let at = 0; at < 100; at += 1) await note('rental_balance_exhausted', quiet);
    await note('rental_lost', quiet);
    await tell('rental_balance_exhausted');
    const [mail, ...more] = await mails();
    assert.deepEqual(more, []);
    assert.equal(mail?.subject, 'Your balance ran out, so we stopped 100 of your machines');
    assert.equal(mail.unsubscribe_url, null);
    assert.deepEqual(await due(), ['rental_lost']);
    await tell('rental_lost');
    assert.equal((await mails()).length, 2);
    assert.deepEqual(await due(), []);
  });

  it('are written once, though attempts overlap, and what is noted again is not told again', async () => {
    const rentalIds = Array.from({ length: 20 }, () => newId('rent'));
    for (const id of rentalIds) await note('rental_lost', quiet, id);
    await Promise.all(Array.from({ length: 6 }, () => tell('rental_lost')));
    for (const id of rentalIds) await note('rental_lost', quiet, id);
    await tell('rental_lost');
    assert.deepEqual(
      (await mails()).map(({ subject }) => subject),
      ['20 of your machines were lost'],
    );
  });

  it('lose none that is noted while another attempt is telling those before it', async () => {
    await note('rental_lost', quiet);
    const first = await db.transaction();
    const [told] = await first('user_notices').where({ user_id: user.id }).forUpdate();
    await note('rental_lost', quiet);
    const second = tell('rental_lost');
    await until('the second attempt waits', async () => {
      const { rows } = await db.raw<{ rows: unknown[] }>(
        `select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`,
      );
      return rows.length > 0;
    });
    await first('mail_outbox').insert({
      ...{ cause: `notice:${told!.id}`, recipient: user.email, subject: 'first', body: 'first' },
    });
    await first('user_notices')
      .where({ id: told!.id })
      .update({ told_at: first.raw('clock_ms()'), is_mailed: true });
    await first.commit();
    await second;
    assert.deepEqual(
      (await mails()).map(({ subject }) => subject),
      ['first', 'Your machine was lost'],
    );
  });

  it('leave the notices untold when their transaction fails', async () => {
    await note('rental_lost', quiet);
    await db.raw('alter table mail_outbox add constraint full_disk check (false) not valid');
    await assert.rejects(tell('rental_lost'), /full_disk/);
    await db.raw('alter table mail_outbox drop constraint full_disk');
    assert.deepEqual(await due(), ['rental_lost']);
    await tell('rental_lost');
    assert.equal((await mails()).length, 1);
  });

  it('are not sent of a kind that their user has switched off, neither later when it is on again', async () => {
    await db('notice_settings').insert({ user_id: user.id, kind: 'rental_lost' });
    await note('rental_lost', quiet);
    await note('rental_failed', quiet);
    await tell('rental_lost');
    await tell('rental_failed');
    await db('notice_settings').where({ user_id: user.id }).delete();
    await tell('rental_lost');
    assert.deepEqual(
      (await mails()).map(({ subject }) => subject),
      ['We could not provide your machine'],
    );
    const told = await db('user_notices')
      .where({ user_id: user.id })
      .orderBy('id')
      .select('kind', 'is_mailed');
    assert.deepEqual(told, [
      { kind: 'rental_lost', is_mailed: false },
      { kind: 'rental_failed', is_mailed: true },
    ]);
  });

  it('carry a link that switches them off in both parts and beside them', async () => {
    await note('rental_lost', quiet);
    await tell('rental_lost');
    const [mail] = await mails();
    const url = mail?.unsubscribe_url ?? '';
    assert.ok(url.startsWith(`${publicUrl}/v1/notices/unsubscribe?token=${user.id}.rental_lost.`), url);
    assert.ok(mail?.body?.endsWith(`Turn off these emails: ${url}`));
    assert.ok(mail?.html?.includes(`<a href="${url}">Turn off these emails</a>`));
  });

  it('wipe both parts of a code, by a worker of the release before as well', async () => {
    const [row] = await db('mail_outbox')
      .insert({
        ...{ cause: 'code:1', recipient: user.email, subject: 's', wipe_after_sending: true },
        ...{ body: 'It is 123456.', html: '<p>It is 123456.</p>' },
      })
      .returning('id');
    await db('mail_outbox')
      .where(row!)
      .update({ sent_at: db.raw('clock_ms()'), body: null });
    assert.equal((await db('mail_outbox').where(row!).first())?.html, null);
  });
});
