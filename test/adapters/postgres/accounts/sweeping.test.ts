import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import { findUserOfIdentity } from '../../../../adapters/postgres/accounts/identities.js';
import { requestLoginCode, tryLoginCode } from '../../../../adapters/postgres/accounts/login-codes.js';
import { insertClosing } from '../../../../adapters/postgres/accounts/closings.js';
import { eraseAccount, eraseMany, statementOf } from '../../../../adapters/postgres/accounts/erasing.js';
import { insertSession } from '../../../../adapters/postgres/accounts/sessions.js';
import { sweepTables } from '../../../../adapters/postgres/accounts/sweeping.js';
import { findOrInsertUser } from '../../../../adapters/postgres/accounts/users.js';
import type { Transaction } from '../../../../adapters/postgres/database.js';
import type { UserRow } from '../../../../adapters/postgres/rows/tables.js';
import { mailUser } from '../../../../adapters/postgres/upkeep/outbox.js';
import { erasures } from '../../../../domain/accounts/erasure.js';
import { closingMail } from '../../../../domain/mails/sign-in.js';
import { insertRental, insertUser } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';
import { untilSomeoneWaits } from '../../../support/someone-waits.js';

const MINUTE = 60_000;

describe('the search for the words of an account that closes', () => {
  let money: MoneyDatabase;
  before(async () => {
    money = await openMoneyDatabase();
  });
  after(() => money.close());

  const insertEvent = async (id: string, email: string, minutesAgo: number): Promise<void> => {
    const at = new Date(Date.now() - minutesAgo * MINUTE);
    await money.db('processor_events').insert({
      ...{
        id,
        kind: 'charge.updated',
        created_at: at,
        received_at: at,
        livemode: false,
        object: { id, email },
      },
    });
  };
  const emailOf = async (id: string): Promise<unknown> =>
    (await money.db('processor_events').where({ id }).first())?.object['email'];

  it('reads each large table once, and later only what came after', async () => {
    const { id, email } = await insertUser(money.db);
    await insertClosing(money.db, id);
    for (const [at, minutes] of [60, 50, 40, 30, 20].entries())
      await insertEvent(`evt_a${at}`, email, minutes);
    await insertEvent('evt_young', email, 1);
    let batches = 0;
    const sweep = () => sweepTables(money.db, id, () => (batches += 1), 2);
    await sweep();
    assert.ok(batches >= 2, `${batches} batches`);
    for (const at of [0, 1, 2, 3, 4]) assert.equal(await emailOf(`evt_a${at}`), undefined);
    assert.equal(await emailOf('evt_young'), undefined);
    // A row behind the place that was reached is not read again; one that is young, or new, is.
    await money
      .db('processor_events')
      .where({ id: 'evt_a1' })
      .update({ object: { id: 'evt_a1', email } });
    await money
      .db('processor_events')
      .where({ id: 'evt_young' })
      .update({ object: { id: 'evt_y', email } });
    await insertEvent('evt_new', email, 0);
    await sweep();
    assert.equal(await emailOf('evt_a1'), email);
    assert.equal(await emailOf('evt_young'), undefined);
    assert.equal(await emailOf('evt_new'), undefined);
  });

  it('takes each card’s event down to its id, whoever held it', async () => {
    const { id } = await insertUser(money.db);
    await insertClosing(money.db, id);
    const object = { id: 'pm_old', object: 'payment_method', customer: null };
    await money.db('processor_events').insert({
      ...{ id: 'evt_card', kind: 'payment_method.detached', created_at: new Date(), livemode: false },
      object: { ...object, billing_details: { name: 'Ann Zebra' }, card: { last4: '4242' } },
    });
    await sweepTables(money.db, id, () => undefined);
    const row = await money.db('processor_events').where({ id: 'evt_card' }).first();
    assert.deepEqual(row?.object, { id: 'pm_old', object: 'payment_method' });
  });

  it('takes each event that no workflow reads down to its ids, and leaves why a card was declined', async () => {
    const { id } = await insertUser(money.db);
    await insertClosing(money.db, id);
    const ids = { id: 'pi_other', object: 'payment_intent', metadata: { invoice_id: 'inv_1' } };
    const error = { code: 'card_declined', decline_code: 'stolen_card' };
    const object = { ...ids, receipt_email: 'ann@x.org', last_payment_error: { ...error, message: 'Ann' } };
    const event = { created_at: new Date(), livemode: false, object, kind: 'payment_intent.payment_failed' };
    await money.db('processor_events').insert([
      { id: 'evt_bare', ...event },
      { id: 'evt_routed', ...event, workflow_type: 'topup', workflow_id: 'top_1' },
    ]);
    await sweepTables(money.db, id, () => undefined);
    const objectOf = async (one: string) =>
      (await money.db('processor_events').where({ id: one }).first())?.object;
    assert.deepEqual(await objectOf('evt_bare'), { ...ids, last_payment_error: error });
    assert.deepEqual(await objectOf('evt_routed'), object);
  });

  const key = Buffer.alloc(32, 7).toString('base64');

  it('is made once more for mails, before the address goes', async () => {
    const { id, email } = await insertUser(money.db);
    await insertClosing(money.db, id);
    await sweepTables(money.db, id, () => undefined);
    const mail = { cause: `code:${Date.now()}`, recipient: email, subject: 'x', body: 'y' };
    const told = { cause: `code:${Date.now()}-b`, recipient: 'ops@example.com', subject: email, body: 'y' };
    await money.db('mail_outbox').insert([mail, told]);
    await eraseAccount(money.db, id, key);
    assert.equal(await money.db('mail_outbox').where({ cause: mail.cause }).first(), undefined);
    const kept = await money.db('mail_outbox').where({ cause: told.cause }).first();
    assert.equal(kept?.subject, id);
  });

  it('waits for a mail that is being written with the address, and takes it as well', async () => {
    const { db } = money;
    const { id, email } = await insertUser(db);
    await insertClosing(db, id);
    const writing = await db.transaction();
    await mailUser(writing, id, { kind: 'closing_requested', userId: id }, closingMail());
    const erasing = eraseAccount(db, id, key);
    try {
      await Promise.race([erasing, untilSomeoneWaits(db, 'the erasure waits for the writer')]);
    } finally {
      await writing.commit();
    }
    await erasing;
    assert.deepEqual(await db('mail_outbox').where({ recipient: email }), []);
  });

  it('waits for a code that is being mailed to the address, and takes it as well', async () => {
    const { db } = money;
    const { id, email } = await insertUser(db);
    await insertClosing(db, id);
    const asking = await db.transaction();
    const wish = {
      email,
      clientAddress: '192.0.2.1',
      browserHash: Buffer.alloc(32),
      askedBy: 'anybody',
    } as const;
    const made = await requestLoginCode(asking, wish, 100);
    assert.equal(made.outcome, 'made');
    const erasing = eraseAccount(db, id, key);
    try {
      await Promise.race([erasing, untilSomeoneWaits(db, 'the erasure waits for whoever asks')]);
    } finally {
      await asking.commit();
    }
    await erasing;
    assert.deepEqual(await db('login_codes').where({ email }), []);
  });

  const account = { autoTopupDailyCapCents: null, madeFrom: undefined, installationKey: key };
  const finds: Readonly<Record<string, (trx: Transaction, user: UserRow) => Promise<unknown>>> = {
    'its address': (trx, { email }) => findOrInsertUser(trx, email, { ...account, id: newId('usr') }),
    'an account elsewhere': (trx, { id }) =>
      findUserOfIdentity(trx, { issuer: 'https://id.example.com', subject: id }),
  };
  for (const [what, find] of Object.entries(finds))
    it(`leaves no session that is opened meanwhile by ${what}`, async () => {
      const { db } = money;
      const user = await insertUser(db);
      await db('identities').insert({
        ...{ issuer: 'https://id.example.com', subject: user.id, user_id: user.id },
      });
      await insertClosing(db, user.id);
      const signingIn = await db.transaction();
      await find(signingIn, user);
      const erasing = eraseAccount(db, user.id, key);
      try {
        await Promise.race([erasing, untilSomeoneWaits(db, 'the erasure waits for the sign-in')]);
        await insertSession(signingIn, user.id, { by: 'code' });
      } finally {
        await signingIn.commit();
      }
      await erasing;
      assert.deepEqual(await db('sessions').where({ user_id: user.id }), []);
    });

  it('leaves the code of another account of the same mailbox', async () => {
    const name = `ann.${Date.now()}`;
    const [gone, lives] = [`${name}@gmail.com`, `${name}+gpu@gmail.com`];
    const { id } = await insertUser(money.db, { email: gone });
    const wish = {
      clientAddress: '192.0.2.2',
      browserHash: Buffer.alloc(32, 1),
      askedBy: 'anybody',
    } as const;
    const made = await money.db.transaction((trx) => requestLoginCode(trx, { ...wish, email: lives }, 100));
    assert.equal(made.outcome, 'made');
    await insertClosing(money.db, id);
    await eraseAccount(money.db, id, key);
    const right = await money.db.transaction((trx) =>
      tryLoginCode(trx, lives, (made as { code: string }).code, wish.browserHash),
    );
    assert.equal(right.right, true);
  });

  it('leaves what an account has much of to short transactions', async () => {
    const { id } = await insertUser(money.db);
    await insertClosing(money.db, id);
    const { no } = await insertRental(money.db, id);
    const hours = Array.from({ length: 5 }, (_, at) => ({
      rental_no: no,
      hour: new Date(Date.UTC(2026, 0, 1, at)),
      ...{ source: 'upstream' as const, minutes: Buffer.alloc(300, 255) },
    }));
    await money.db('telemetry_hours').insert(hours);
    const told: string[] = [];
    await eraseMany(money.db, id, ({ erased }) => told.push(erased), 2);
    assert.equal(told.filter((table) => table === 'telemetry_hours').length, 3);
    assert.equal(await money.db('telemetry_hours').where({ rental_no: no }).first(), undefined);
  });

  /** Tables that stay small, whatever the service has done: what fails now, and what operators look at. */
  const small = ['stuck_items', 'reconcile_findings', 'parked_payments', 'event_outbox'];

  it('needs an index alone for whatever each look erases', async () => {
    const { id, email } = await insertUser(money.db);
    const scans: string[] = [];
    await money.db.transaction(async (trx) => {
      await trx.raw('set local enable_seqscan = off');
      for (const erasure of erasures) {
        const person = { userId: id, email };
        const { rows } = await trx.raw<{ rows: { 'QUERY PLAN': string }[] }>(
          `explain ${statementOf(erasure)}`,
          person,
        );
        for (const { 'QUERY PLAN': line } of rows) {
          const [, scanned = ''] = /Seq Scan on (\w+)/.exec(line) ?? [];
          if (scanned !== '' && !small.includes(scanned)) scans.push(`${erasure.table} scans ${scanned}`);
        }
      }
    });
    assert.deepEqual([...new Set(scans)], []);
  });
});
