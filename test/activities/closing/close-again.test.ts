import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAgain, prepareClosedAccounts } from '../../../activities/closing/close-again.js';
import { noteClosedAccount, readClosedAccounts } from '../../../adapters/closed-accounts-file.js';
import { newId } from '../../../adapters/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { installationKey } from '../../support/activities/closing-world.js';
import { ScriptedTemporal } from '../../support/activities/scripted-temporal.js';
import { insertApiKeyOf, insertRental, insertSessionOf, insertUser } from '../../support/money/factories.js';
import { markOf } from '../../../adapters/closed-marks.js';
import { requestLoginCode } from '../../../adapters/postgres/accounts/login-codes.js';
import { findSession } from '../../../adapters/postgres/accounts/sessions.js';
import type { UserId } from '../../../domain/ids.js';
import { insertClosing } from '../../../adapters/postgres/accounts/closings.js';

describe('the numbers of closed accounts outside of the database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'));
  const closedAccountsFile = join(folder, 'closed-accounts');
  let lone: LoneActivities;

  before(async () => {
    const settings = { installationKey, closedAccountsFile };
    lone = await startActivities({ temporal: new ScriptedTemporal().port, settings });
  });
  after(async () => {
    await lone.close();
    rmSync(folder, { recursive: true });
  });

  it('are noted before anything of the person goes', async () => {
    const user = await insertUser(lone.db, { processor_customer_id: 'cus_noted' });
    await insertClosing(lone.db, user.id);
    lone.processor.answers.deleteCustomer = () => Promise.reject(new Error('the worker died'));
    await assert.rejects(lone.run('lookAtClosing', user.id), /the worker died/);
    assert.equal(readFileSync(closedAccountsFile, 'utf8'), `${user.id}\n`);
    lone.processor.answers.deleteCustomer = () => Promise.resolve();
    assert.equal((await lone.run('lookAtClosing', user.id)).status, 'kept');
    assert.deepEqual(await readClosedAccounts(closedAccountsFile), [user.id]);
  });

  const brought = async () => {
    const user = await insertUser(lone.db);
    const { id, email } = user;
    const token = await insertSessionOf(lone.db, id);
    const key = await insertApiKeyOf(lone.db, id);
    const sent = { cause: `code:${id}`, recipient: email, subject: 'x', body: 'y' };
    await lone.db('mail_outbox').insert([
      { ...sent, sent_at: new Date() },
      { ...sent, cause: `code:${id}-b`, sent_at: null },
    ]);
    appendFileSync(closedAccountsFile, `${id}\n`);
    return { ...user, token, key };
  };
  const mailsTo = (recipient: string) => lone.db('mail_outbox').where({ recipient });
  const closingOf = (id: UserId) => lone.db('account_closings').where({ user_id: id }).first();
  const shutOutAll = () => closeAgain(lone.deps, () => undefined);

  it('are shut out of a restored database before it serves anybody, once, and nobody else is', async () => {
    const [gone, lives] = [await brought(), await insertUser(lone.db)];
    appendFileSync(closedAccountsFile, `${newId('usr')}\n`);
    assert.equal(await shutOutAll(), 1);
    assert.equal(await findSession(lone.db, gone.token), undefined);
    const key = await lone.db('api_keys').where({ id: gone.key.row.id }).first();
    assert.notDeepEqual(key?.token_hash, gone.key.row.token_hash);
    const emails = await lone.db('users').whereIn('id', [gone.id, lives.id]).pluck('email');
    assert.deepEqual(emails.sort(), [`${gone.id.toLowerCase()}@closed.invalid`, lives.email].sort());
    // Nothing more is sent to them; what is to be searched for waits for its turn.
    assert.equal((await mailsTo(gone.email)).length, 1);
    const row = await closingOf(gone.id);
    assert.deepEqual(
      [row?.requested_by, row?.state, row?.former_email, row?.swept],
      ['restored', 'stopping', gone.email, {}],
    );
    assert.equal(await shutOutAll(), 0);
  });

  it('are erased again by their closing, machines or debts or not, and recognized later', async () => {
    const gone = await brought();
    await insertRental(lone.db, gone.id);
    await shutOutAll();
    assert.equal((await lone.run('lookAtClosing', gone.id)).status, 'stopping');
    assert.deepEqual(await mailsTo(gone.email), []);
    assert.equal((await closingOf(gone.id))?.former_email, null);
    const mark = markOf(installationKey, 'mailbox', gone.email);
    assert.equal((await lone.db('closed_marks').where({ value: mark }).first())?.user_id, gone.id);
  });

  it('leave to whoever has their address since what came after', async () => {
    const gone = await brought();
    await shutOutAll();
    const { email: recipient } = gone;
    const wish = {
      email: recipient,
      clientAddress: '192.0.2.1',
      browserHash: Buffer.alloc(32),
      askedBy: 'anybody',
    } as const;
    await lone.db.transaction((trx) => requestLoginCode(trx, wish, 100));
    const signingUp = { cause: `code:${gone.id}-c`, recipient, subject: 'a code', body: 'y', sent_at: null };
    await lone.db('mail_outbox').insert(signingUp);
    const back = await insertUser(lone.db, { email: recipient });
    const body = `You paid, ${recipient}`;
    for (const [n, sent_at] of [new Date(), null].entries())
      await lone.db('mail_outbox').insert({
        ...{ cause: `code:${back.id}-${n}`, recipient, subject: `receipt ${n}`, body, sent_at },
      });
    const object = { id: 'ch_1', email: recipient };
    await lone.db('processor_events').insert({
      ...{ id: `evt_${back.id}`, kind: 'refund.created', created_at: new Date(), livemode: false, object },
      ...{ workflow_type: 'refund', workflow_id: 're_1' },
    });
    await lone.run('lookAtClosing', gone.id);
    assert.equal((await closingOf(gone.id))?.former_email, null);
    const mails = await mailsTo(recipient).orderBy('id');
    assert.deepEqual(
      mails.map((mail) => [mail.subject, mail.body]),
      [
        ['a code', 'y'],
        ['receipt 0', body],
        ['receipt 1', body],
      ],
    );
    assert.equal((await lone.db('login_codes').where({ email: recipient })).length, 1);
    const event = await lone
      .db('processor_events')
      .where({ id: `evt_${back.id}` })
      .first();
    assert.deepEqual(event?.object, object);
  });

  it('are shut out although another one fails, which operators are told of', async () => {
    const [bad, good] = [await brought(), await brought()];
    await lone.db.raw(
      `alter table users add constraint stuck check (id <> '${bad.id}' or email not like '%closed.invalid')`,
    );
    assert.equal(await shutOutAll(), 1);
    assert.equal((await closingOf(good.id))?.former_email, good.email);
    const notice = await lone.db('operator_notices').where('subject', 'like', `%${bad.id}%`).first();
    assert.match(notice?.body ?? '', /could not be shut out/);
    await lone.db.raw('alter table users drop constraint stuck');
    assert.equal((await lone.run('lookAtClosing', bad.id)).status, 'kept');
    const after = await lone.db('users').where({ id: bad.id }).first();
    assert.match(after?.email ?? '', /closed\.invalid$/);
  });

  it('are missed when their file is, which is there from the first start on', async () => {
    const file = join(folder, 'another');
    const deps = { ...lone.deps, settings: { ...lone.deps.settings, closedAccountsFile: file } };
    await assert.rejects(
      closeAgain(deps, () => undefined),
      /is not there: mount its volume/,
    );
    await prepareClosedAccounts(deps);
    await assert.rejects(readClosedAccounts(file), /is not there/, 'accounts were closed before');
    await lone.db('account_closings').update({ state: 'stopping', erased_at: null, closed_at: null });
    await prepareClosedAccounts(deps);
    assert.deepEqual(await readClosedAccounts(file), []);
    const nowhere = join(folder, 'no-folder', 'file');
    const settings = { ...deps.settings, closedAccountsFile: nowhere };
    await prepareClosedAccounts({ ...deps, settings });
    await assert.rejects(noteClosedAccount(nowhere, newId('usr')), /ENOENT/);
  });

  it('are read where a line before them was torn, and none is joined to another', async () => {
    const file = join(folder, 'torn');
    const [one, two] = [newId('usr'), newId('usr')];
    for (const rest of ['u', 'usr_', one.slice(0, 12)]) {
      writeFileSync(file, `${one}\n${rest}`);
      await noteClosedAccount(file, two);
      assert.deepEqual(await readClosedAccounts(file), [one, two], rest);
      assert.ok(readFileSync(file, 'utf8').endsWith(`\n${two}\n`), rest);
    }
  });

  it('are written once, however often their closing looks', async () => {
    const file = join(folder, 'once');
    const [one, two] = [newId('usr'), newId('usr')];
    for (const userId of [one, two, one, two]) await noteClosedAccount(file, userId);
    assert.equal(readFileSync(file, 'utf8'), `${one}\n${two}\n`);
  });

  it('refuse a line that is none', async () => {
    appendFileSync(closedAccountsFile, 'somebody\n');
    await assert.rejects(readClosedAccounts(closedAccountsFile), /no number of an account: somebody/);
  });
});
