import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { lockKeyInUse } from '../../../adapters/postgres/accounts/api-key-list.js';
import { actDirectly } from '../../../adapters/postgres/operators/direct-actions.js';
import { insertApiKeyOf, insertSessionOf } from '../../support/money/factories.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';
import { until } from '../../support/until.js';
import type { OperationId, UserId } from '../../../domain/ids.js';

describe('ops users, ops pause and ops providers pause', () => {
  let database: MoneyDatabase;
  let userId: UserId;
  before(async () => {
    database = await openMoneyDatabase();
    userId = (await insertWallet(database.db, 1_000)).user_id;
  });
  after(() => database.close());

  // Nobody listens at Temporal's address: these commands do not need it.
  const ops = (...args: string[]): Promise<OpsResult> => runOps({ databaseUrl: database.url }, ...args);
  const who = ['--by', 'ada', '--reason', 'a drill'];

  it('finds a user by e-mail address or id', async () => {
    const { email } = (await database.db('users').where({ id: userId }).first())!;
    for (const name of [userId, email.toUpperCase()]) {
      const { out } = await ops('users', 'find', name);
      assert.match(out, new RegExp(`^user +${userId} {2}${email}`, 'm'));
      assert.match(out, /^wallet +1000 available \+ 0 reserved cents$/m);
    }
    const { code, err } = await ops('users', 'find', 'nobody@example.com');
    assert.deepEqual([code, err.includes('There is no user nobody@example.com')], [2, true]);
  });

  it('ends all sessions of one user, and of no other', async () => {
    const { user_id: other } = await insertWallet(database.db, 0);
    for (const id of [userId, userId, other]) await insertSessionOf(database.db, id);
    assert.equal(
      (await ops('users', 'sessions', userId)).out.match(
        /^ses_\w{26} {2}unknown device {2}unknown address {2}since /gm,
      )?.length,
      2,
    );
    assert.equal((await ops('users', 'sessions', userId, '--limit', '1')).out.match(/^ses_/gm)?.length, 1);
    assert.match((await ops('users', 'log-out', userId, ...who)).out, /^Done: userId usr_\w+, sessions 2\n$/);
    assert.equal((await ops('users', 'sessions', userId)).out, 'Nothing.\n');
    assert.equal((await database.db('sessions').where({ user_id: other })).length, 1);
  });

  for (const which of ['one key', 'all keys']) {
    it(`revokes ${which} without holding the account while something is done by a key`, async () => {
      const { db } = database;
      const { user_id: owner } = await insertWallet(db, 0);
      const { row: key } = await insertApiKeyOf(db, owner);
      const acting = await db.transaction();
      await lockKeyInUse(acting, owner, key.id);
      const revoking = actDirectly(db, {
        operationId: newId('op'),
        operator: 'ada',
        reason: 'a drill',
        action: { kind: 'revoke_api_keys', userId: owner, ...(which === 'one key' && { keyId: key.id }) },
      });
      await until('the operator waits for the key', async () => {
        const { rows } = await db.raw<{ rows: object[] }>(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%api_keys%'",
        );
        return rows.length > 0;
      });
      // An opening locks the account after its key: held by the operator, it would be a deadlock.
      const isFree = await acting
        .raw('select 1 from users where id = ? for no key update nowait', [owner])
        .then(
          () => true,
          () => false,
        );
      await acting.rollback();
      assert.ok(isFree);
      assert.deepEqual(await revoking, { userId: owner, keys: 1 });
    });
  }

  it('lists API keys, and revokes one of them or all', async () => {
    const { db } = database;
    const { user_id: owner } = await insertWallet(db, 0);
    const { row: first, token } = await insertApiKeyOf(db, owner, {
      name: 'nightly',
      allowedCidrs: ['192.0.2.0/24'],
    });
    await insertApiKeyOf(db, owner);
    const { row: others } = await insertApiKeyOf(db, userId);
    const { out } = await ops('users', 'keys', owner);
    assert.match(
      out,
      /^key_\w{26} {2}…\w{4} {2}"nightly" {2}read from 192\.0\.2\.0\/24 {2}never used {2}until /m,
    );
    const { out: json } = await ops('users', 'keys', owner, '--json');
    assert.ok(!json.includes('token_hash') && !json.includes(token), json);
    const silent = await ops('users', 'revoke-keys', owner, ...who);
    assert.deepEqual([silent.code, silent.err.includes('Add --yes')], [2, true]);
    const one = await ops('users', 'revoke-keys', owner, '--key', first.id, ...who, '--yes');
    assert.match(one.out, /^Done: userId usr_\w+, keys 1\n$/);
    assert.match(
      (await ops('users', 'revoke-keys', owner, '--key', first.id, ...who, '--yes')).out,
      /^Refused \(key_not_found\)/,
    );
    assert.match(
      (await ops('users', 'revoke-keys', owner, '--key', others.id, ...who, '--yes')).out,
      /^Refused \(key_not_found\)/,
    );
    assert.match(
      (await ops('users', 'revoke-keys', owner, ...who, '--yes')).out,
      /^Done: userId usr_\w+, keys 1\n$/,
    );
    assert.equal((await ops('users', 'keys', owner)).out.match(/REVOKED/g)?.length, 2);
    const told = await db('event_outbox').where({ user_id: owner, type: 'api_key.revoked' });
    assert.equal(told.length, 2);
    assert.equal((await db('api_keys').where({ id: others.id }).first('revoked_at'))?.revoked_at, null);
  });

  it('blocks and unblocks, once each, and leaves who and why', async () => {
    assert.equal(
      (await ops('users', 'block', userId, ...who, '--dry-run')).out.startsWith('Would do as ada'),
      true,
    );
    assert.equal((await ops('users', 'block', userId, ...who)).code, 0);
    const again = await ops('users', 'block', userId, ...who);
    assert.deepEqual(
      [again.code, /^Refused \(validation_failed\): .* blocked already/.test(again.out)],
      [1, true],
    );
    assert.match((await ops('users', 'find', userId)).out, /^blocked +since .*: a drill$/m);
    const operationId = newId('op');
    const unblock = ['users', 'unblock', userId, ...who, '--operation', operationId, '--json'];
    for (const time of [1, 2]) {
      const { out, code } = await ops(...unblock);
      assert.equal(code, 0, `time ${time}: ${out}`);
      assert.equal((JSON.parse(out) as { outcome: string }).outcome, 'done');
    }
    const { out } = await ops('actions', '--about', userId);
    assert.match(out, new RegExp(`${operationId} unblock_user by ada: a drill`));
    assert.equal(out.match(/block_user by ada/g)?.length, 2);
    const told = await database.db('audit_events').where({ user_id: userId }).orderBy('no');
    assert.deepEqual(
      told.map(({ kind, details }) => [kind, details]),
      ['end_sessions', 'block_user', 'unblock_user'].map((action) => ['changed_by_operator', { action }]),
    );
    assert.equal((await ops('users', 'block', newId('usr'), ...who)).code, 1);
  });

  it('tells a block that comes from an earlier account of the same mailbox, until that one is unblocked', async () => {
    const { db } = database;
    const [{ user_id: former }, { user_id: own }] = [await insertWallet(db, 0), await insertWallet(db, 0)];
    const value = `hmac:${'5a'.repeat(32)}`;
    await db('users')
      .where({ id: former })
      .update({ blocked_at: new Date(), blocked_reason: 'stolen cards' });
    await db('account_closings').insert({ user_id: former });
    await db('closed_marks').insert({ value, user_id: former, kind: 'mailbox' });
    await db('account_ties').insert({ user_id: own, kind: 'mailbox', value });
    const found = async (): Promise<string> => (await ops('users', 'find', own)).out;
    assert.match(
      await found(),
      /^blocked +an earlier account of this mailbox was closed while it was blocked; ops users unblock lifts it$/m,
    );
    const { out } = await ops('users', 'find', own, '--json');
    assert.match((JSON.parse(out) as { earlierBlock: string }).earlierBlock, /^an earlier account/);
    assert.equal((await ops('users', 'unblock', own, ...who)).code, 0);
    assert.doesNotMatch(await found(), /^blocked/m);
  });

  it('closes an account only for who consents, and prints the id to repeat it with', async () => {
    const { db } = database;
    const { user_id: leaving } = await insertWallet(db, 0);
    const close = ['users', 'close', leaving, ...who];
    const silent = await ops(...close);
    assert.deepEqual([silent.code, silent.out], [2, '']);
    assert.match(silent.err, /Add --yes/);
    assert.equal(await db('account_closings').where({ user_id: leaving }).first(), undefined);
    const first = await ops(...close, '--yes');
    assert.equal(first.code, 0, first.err);
    const [, id = ''] =
      /^Operation (op_\w{26})\. If the connection breaks, repeat this with --operation \1$/m.exec(
        first.err,
      ) ?? [];
    assert.equal((await ops(...close, '--yes', '--operation', id)).out, first.out);
    assert.equal((await db('operator_actions').where({ id: id as OperationId })).length, 1);
  });

  it('pulls a brake and releases it, once each', async () => {
    assert.match((await ops('pause', 'creates', ...who)).out, /^Done: brake creates, was released/);
    assert.equal((await ops('pause', 'creates', ...who)).code, 1);
    assert.match((await ops('brakes')).out, /^creates {2}since \S+ {2}by ada: a drill\n$/);
    assert.equal((await ops('resume', 'creates', ...who)).code, 0);
    assert.deepEqual(await database.db('brakes'), []);
    assert.match((await ops('resume', 'creates', ...who)).out, /^Refused .* creates is not paused/);
  });

  it('needs a name and a reason', async () => {
    assert.match((await ops('pause', 'everything', ...who)).err, /choices are creates, charges, metering/);
    assert.match((await ops('pause', 'creates', '--by', 'ada')).err, /required option '--reason/);
    assert.match(
      (await ops('pause', 'creates', '--by', 'ada', '--reason', ' ')).out,
      /^Refused .*The reason is required/,
    );
  });
});
