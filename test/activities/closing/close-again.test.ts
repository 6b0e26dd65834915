import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAgain, prepareClosedAccounts } from '../../../activities/closing/close-again.js';
import { noteClosedAccount, readClosedAccounts } from '../../../adapters/closed-accounts-file.js';
import { newId } from '../../../adapters/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { installationKey } from '../../support/activities/closing-world.js';
import { ScriptedTemporal } from '../../support/activities/scripted-temporal.js';
import { insertUser } from '../../support/money/factories.js';
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

  it('are erased again in a restored database, once, and nobody else is', async () => {
    const [gone, lives] = [await insertUser(lone.db), await insertUser(lone.db)];
    const cause = `code:${Date.now()}`;
    await lone.db('mail_outbox').insert({ cause, recipient: gone.email, subject: 'x', body: 'y' });
    appendFileSync(closedAccountsFile, `${gone.id}\n${newId('usr')}\n`);
    assert.equal(await closeAgain(lone.deps, () => undefined), 1);
    const after = await lone.db('users').whereIn('id', [gone.id, lives.id]).orderBy('id');
    assert.deepEqual(
      after.map(({ email }) => email).sort(),
      [`${gone.id.toLowerCase()}@closed.invalid`, lives.email].sort(),
    );
    assert.equal(await lone.db('mail_outbox').where({ cause }).first(), undefined);
    const row = await lone.db('account_closings').where({ user_id: gone.id }).first();
    assert.deepEqual([row?.requested_by, row?.state], ['restored', 'stopping']);
    assert.equal(await closeAgain(lone.deps, () => undefined), 0);
    assert.equal((await lone.run('lookAtClosing', gone.id)).status, 'kept');
  });

  it('are erased although another one fails, which operators are told of', async () => {
    const [bad, good] = [await insertUser(lone.db), await insertUser(lone.db)];
    appendFileSync(closedAccountsFile, `${bad.id}\n${good.id}\n`);
    await lone.db.raw(
      `alter table users add constraint stuck check (id <> '${bad.id}' or email not like '%closed.invalid')`,
    );
    assert.equal(await closeAgain(lone.deps, () => undefined), 1);
    const notice = await lone.db('operator_notices').where('subject', 'like', `%${bad.id}%`).first();
    assert.match(notice?.body ?? '', /could not be erased again/);
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

  it('refuse a line that is none', async () => {
    appendFileSync(closedAccountsFile, 'somebody\n');
    await assert.rejects(readClosedAccounts(closedAccountsFile), /no number of an account: somebody/);
  });
});
