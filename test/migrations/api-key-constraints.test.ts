import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { UserRow } from '../../adapters/postgres/rows/tables.js';
import { insertApiKeyOf, insertProvider, insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

describe('the schema refuses API keys that do not add up', () => {
  let database: MoneyDatabase;
  let db: Database;
  let user: UserRow;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    user = await insertUser(db);
    await insertProvider(db);
  });
  after(() => database.close());

  const good = {
    ...{
      id: `'key_' || repeat('0', 26)`,
      user_id: ':user',
      name: `'x'`,
      token_hash: `sha256('x')`,
      hint: `'abcd'`,
    },
    ...{ scopes: `array['read']`, expires_at: `clock_ms() + interval '1 day'` },
  };

  /** Asserts that this constraint fires for a key with these columns. */
  async function refuses(constraint: string, columns: Readonly<Record<string, string>>): Promise<void> {
    const all = { ...good, ...columns };
    const sql = `insert into api_keys (${Object.keys(all).join(', ')}) values (${Object.values(all).join(', ')})`;
    await assert.rejects(
      db.transaction((trx) => trx.raw(sql, { user: user.id })),
      { constraint },
    );
  }

  for (const [what, constraint, columns] of [
    ['another id', 'api_keys_id_check', { id: `'key_1'` }],
    ['nobody', 'api_keys_user_id_fkey', { user_id: `'usr_x'` }],
    ['no name', 'api_keys_name_check', { name: `''` }],
    ['a hash of another length', 'api_keys_token_hash_check', { token_hash: `'\\x00'` }],
    ['a hint of more than four characters', 'api_keys_hint_check', { hint: `'abcde'` }],
    ['no scope', 'api_keys_scopes_check', { scopes: `'{}'` }],
    ['an unknown scope', 'api_keys_scopes_check', { scopes: `array['root']` }],
    ['no address at all', 'api_keys_allowed_cidrs_check', { allowed_cidrs: `'{}'` }],
    ['an end before its beginning', 'api_keys_expire', { expires_at: `clock_ms() - interval '1 s'` }],
    ['an end in two years', 'api_keys_expire', { expires_at: `clock_ms() + interval '2 years'` }],
    ['less than nothing to spend', 'api_keys_cap', { spend_cap_cents: '-1' }],
    ['more spent than its cap', 'api_keys_cap', { spend_cap_cents: '5', spent_cents: '6' }],
    [
      'more reserved than its cap leaves',
      'api_keys_cap',
      { spend_cap_cents: '5', spent_cents: '3', reserved_cents: '3' },
    ],
    ['a use from somewhere at no time', 'api_keys_used', { last_used_address: `'192.0.2.1'` }],
  ] as const) {
    it(`refuses one with ${what}`, () => refuses(constraint, columns));
  }

  it('refuses a second key of one hash', async () => {
    const { token } = await insertApiKeyOf(db, user.id);
    const hash = createHash('sha256').update(`api-key:${token}`).digest('hex');
    await refuses('api_keys_token_hash_key', {
      id: `'key_' || repeat('1', 26)`,
      token_hash: `decode('${hash}', 'hex')`,
    });
  });

  it('ends a key when it expires, or when it is revoked before', async () => {
    const { row } = await insertApiKeyOf(db, user.id);
    assert.deepEqual(row.ended_at, row.expires_at);
    const [revoked] = await db('api_keys')
      .where({ id: row.id })
      .update({ revoked_at: db.raw('clock_ms()') })
      .returning('*');
    assert.deepEqual(revoked?.ended_at, revoked?.revoked_at);
    assert.ok(revoked && revoked.ended_at < row.expires_at);
  });

  it('keeps a key that rented something', async () => {
    const { row } = await insertApiKeyOf(db, user.id);
    await insertRental(db, user.id, { api_key_id: row.id });
    await assert.rejects(db('api_keys').where({ id: row.id }).delete(), {
      constraint: 'rentals_api_key_id_fkey',
    });
  });

  it('refuses a rental with eleven keys of its own, and a request with none', async () => {
    await assert.rejects(insertRental(db, user.id, { own_ssh_keys: 11 }), {
      constraint: 'rentals_own_ssh_keys_check',
    });
    const request = {
      ...{
        id: newId('rent'),
        user_id: user.id,
        family_id: 'x',
        gpu_count: 1,
        template_id: 'x',
        ssh_key_ids: [],
      },
      ...{ answer_before: new Date(), ssh_public_keys: [] },
    };
    await assert.rejects(db('rental_requests').insert(request), {
      constraint: 'rental_requests_ssh_public_keys_check',
    });
  });

  it('refuses a stream of nobody, and one of a session and a key', async () => {
    const { row } = await insertApiKeyOf(db, user.id);
    await db('stream_hosts').insert({ id: 'a' });
    const stream = { id: 's', host_id: 'a', user_id: user.id };
    await assert.rejects(db('open_streams').insert(stream), { constraint: 'open_streams_holder' });
    const both = { ...stream, api_key_id: row.id, token_hash: Buffer.alloc(32) };
    await assert.rejects(db('open_streams').insert(both), { constraint: 'open_streams_holder' });
    await db('open_streams').insert({ ...stream, api_key_id: row.id });
    await db('api_keys').where({ id: row.id }).delete();
    assert.equal(await db('open_streams').where({ id: 's' }).first(), undefined, 'it goes with its key');
  });
});
