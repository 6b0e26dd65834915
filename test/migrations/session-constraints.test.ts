import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { insertSessionOf, insertUser } from '../support/money/factories.js';
import { createTestDatabase } from '../support/servers/database.js';

describe('the schema refuses sessions and codes that do not add up', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'session-constraints');
    await insertSessionOf(db, (await insertUser(db)).id);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const code = (columns: string, values: string) =>
    `insert into proof_codes (user_id, session_id, expires_at, ${columns})
     select user_id, id, expires_at, ${values} from sessions`;
  const hash = `sha256('x')`;
  for (const [constraint, sql] of [
    ['sessions_id_check', `update sessions set id = 'ses_short'`],
    ['sessions_user_agent_check', `update sessions set user_agent = ''`],
    ['sessions_user_agent_check', `update sessions set user_agent = repeat('x', 513)`],
    ['sessions_client_address_check', `update sessions set client_address = ''`],
    ['proof_codes_code_hash_check', code('code_hash', `'\\x00'`)],
    ['proof_codes_tries_check', code('code_hash, tries', `${hash}, 6`)],
    ['proof_codes_tries_check', code('code_hash, tries', `${hash}, -1`)],
    [
      'proof_codes_user_id_fkey',
      `insert into proof_codes (user_id, session_id, code_hash, expires_at) values ('usr_x', 'ses_x', ${hash}, now())`,
    ],
  ] as const) {
    it(`${constraint}: ${sql.replaceAll(/\s+/g, ' ')}`, () =>
      assert.rejects(Promise.resolve(db.raw(sql)), { constraint }));
  }

  it('and gives a session of the release before an id and a proof of its own', async () => {
    const { id } = await insertUser(db);
    for (const token of ['one', 'two']) {
      await db.raw(
        `insert into sessions (token_hash, user_id, expires_at) values (sha256(?::bytea), ?, now() + interval '1 d')`,
        [token, id],
      );
    }
    const made = await db('sessions').where({ user_id: id });
    assert.equal(new Set(made.map((session) => session.id)).size, 2);
    for (const session of made) {
      assert.match(session.id, /^ses_[0-9A-F]{26}$/);
      assert.ok(Math.abs(session.proved_at!.getTime() - session.created_at.getTime()) < 1_000);
    }
  });

  it('and takes the codes of a user along, but not those of a session, whose mails count', async () => {
    const { id } = await insertUser(db);
    await insertSessionOf(db, id);
    await db.raw(`${code('code_hash', hash)} where user_id = ?`, [id]);
    await db('sessions').where({ user_id: id }).delete();
    assert.equal((await db('proof_codes').where({ user_id: id })).length, 1);
    await db('wallets').where({ user_id: id }).delete();
    await db('users').where({ id }).delete();
    assert.equal((await db('proof_codes').where({ user_id: id })).length, 0);
  });
});
