import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertClosing } from '../../../adapters/postgres/accounts/closings.js';
import { noteForUser } from '../../../adapters/postgres/notices/user-notices.js';
import { mailUser } from '../../../adapters/postgres/upkeep/outbox.js';
import { closingLimits } from '../../../domain/accounts/closing.js';
import { closingMail } from '../../../domain/mails/sign-in.js';
import { closingWorld } from '../../support/activities/closing-world.js';

/** The erasure took with it what was not sent yet, and nobody told a user whose account operators closed (decision 189). */
describe('the last mails of an account', () => {
  const world = closingWorld();
  let email: string;
  beforeEach(async () => {
    email = (await world.db('users').where({ id: world.userId }).first())!.email;
  });

  const lookOnce = () => world.lone.run('lookAtClosing', world.userId);
  const subjects = () =>
    world.db('mail_outbox').where({ recipient: email }).orderBy('id').pluck<string[]>('subject');
  const stateOf = async () =>
    (await world.db('account_closings').where({ user_id: world.userId }).first())!.state;

  it('tell once that operators close it, and are sent before its person is erased', async () => {
    await insertClosing(world.db, world.userId, 'operator');
    const first = await lookOnce();
    assert.deepEqual([first.state, first.status], ['waiting', 'erasing']);
    assert.ok(first.nextLookMs! <= closingLimits.turnMs);
    // Its first step, begun again where a process has died.
    await world.db('account_closings').where({ user_id: world.userId }).update({ state: 'stopping' });
    assert.equal((await lookOnce()).status, 'erasing');
    assert.deepEqual(await subjects(), ['We are closing your account']);
    assert.deepEqual(world.deleted, []);
    await world.sendMails();
    await lookOnce();
    assert.deepEqual([await stateOf(), await subjects()], ['kept', []]);
  });

  it('keep the person where their user closes it, and say so once', async () => {
    await world.db.transaction(async (trx) => {
      await insertClosing(trx, world.userId);
      await mailUser(trx, world.userId, { kind: 'closing_requested', userId: world.userId }, closingMail());
    });
    assert.equal((await lookOnce()).status, 'erasing');
    assert.deepEqual(await subjects(), ['Your account is being closed']);
    await world.sendMails();
    await lookOnce();
    assert.equal(await stateOf(), 'kept');
  });

  it('are waited for while they are noted only', async () => {
    await insertClosing(world.db, world.userId);
    const facts = { passkeyId: newId('psk'), name: 'key' };
    const cause = { kind: 'passkey_added', passkeyId: facts.passkeyId } as const;
    await noteForUser(world.db, { userId: world.userId, kind: 'passkey_added', cause, facts });
    assert.equal((await lookOnce()).status, 'erasing');
    await world.sendMails();
    assert.equal((await lookOnce()).status, 'kept');
  });

  it('hold nobody up for longer than a day, and a code does not', async () => {
    await insertClosing(world.db, world.userId, 'operator');
    await lookOnce();
    const created_at = world.db.raw(`clock_ms() - interval '1 day'`);
    await world.db('mail_outbox').where({ recipient: email }).update({ created_at, last_error: 'no' });
    const code = { cause: 'code:77', recipient: email, subject: 's', body: 'b', wipe_after_sending: true };
    await world.db('mail_outbox').insert(code);
    await lookOnce();
    assert.deepEqual([await stateOf(), await subjects()], ['kept', []]);
  });

  it('tell nothing to whom a restored database brought back', async () => {
    await insertClosing(world.db, world.userId, 'restored');
    await lookOnce();
    assert.deepEqual([await stateOf(), await subjects()], ['kept', []]);
  });
});
