import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { insertUser } from '../support/money/factories.js';
import { createTestDatabase } from '../support/servers/database.js';

const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

describe('the schema refuses passkeys that do not add up', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'passkey-constraints');
    const { id } = await insertUser(db);
    await db.raw(passkey({ user_id: `'${id}'` }));
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  /** An insert of a passkey; values are SQL. */
  const passkey = (odd: Readonly<Record<string, string>>) => {
    const row = {
      id: `'psk_${ulid}'`,
      credential_id: `'\\x01'`,
      public_key: `'\\x01'`,
      ...{ counter: '0', transports: `'{}'`, name: `'x'`, backup_eligible: 'true', backed_up: 'true' },
      ...odd,
    };
    return `insert into passkeys (${Object.keys(row).join()}) values (${Object.values(row).join()})`;
  };
  const challenge = (columns: string, values: string) =>
    `insert into passkey_challenges (challenge_hash, expires_at, ${columns}) values (sha256('x'), now(), ${values})`;
  for (const [constraint, sql] of [
    ['passkeys_id_check', `update passkeys set id = 'psk_short'`],
    ['passkeys_credential_id_check', `update passkeys set credential_id = ''`],
    ['passkeys_credential_id_check', `update passkeys set credential_id = decode(repeat('00', 1024), 'hex')`],
    ['passkeys_public_key_check', `update passkeys set public_key = ''`],
    ['passkeys_counter_check', 'update passkeys set counter = -1'],
    ['passkeys_counter_check', 'update passkeys set counter = 4294967296'],
    ['passkeys_transports_check', `update passkeys set transports = array_fill('x'::text, array[11])`],
    ['passkeys_name_check', `update passkeys set name = ''`],
    ['passkeys_name_check', `update passkeys set name = repeat('x', 65)`],
    [
      'passkeys_user_id_fkey',
      passkey({ user_id: `'usr_x'`, id: `'psk_${ulid.replace('01', '02')}'`, credential_id: `'\\x02'` }),
    ],
    [
      'passkeys_credential_id_key',
      `insert into passkeys select 'psk_${ulid.replace('01', '02')}', user_id, credential_id, public_key, 0, '{}', 'y', true, true from passkeys`,
    ],
    ['passkey_challenges_purpose_check', challenge('purpose, session_id', `'other', 'ses_x'`)],
    ['passkey_challenges_check', challenge('purpose, session_id', `'sign_in', 'ses_x'`)],
    ['passkey_challenges_check', challenge('purpose, browser_hash', `'proof', sha256('b')`)],
    ['passkey_challenges_check', challenge('purpose', `'proof'`)],
    ['passkey_challenges_browser_hash_check', challenge('purpose, browser_hash', `'sign_in', 'b'`)],
  ] as const) {
    it(`${constraint}: ${sql.slice(0, 100)}`, () =>
      assert.rejects(Promise.resolve(db.raw(sql)), { constraint }));
  }

  it('and takes the passkeys of a user along', async () => {
    const row = await db('passkeys').first();
    const id = row!.user_id;
    await db('wallets').where({ user_id: id }).delete();
    await db('users').where({ id }).delete();
    assert.deepEqual(await db('passkeys'), []);
  });
});
