import assert from 'node:assert/strict';
import { requestProofCode, tryProofCode } from '../../../../adapters/postgres/accounts/proof-codes.js';
import {
  deleteOtherSessions,
  findSession,
  insertSession,
  lockSession,
  rotateSession,
  type Session,
} from '../../../../adapters/postgres/accounts/sessions.js';
import { openDatabase, type Database, type Transaction } from '../../../../adapters/postgres/database.js';
import { insertUser } from '../../../support/money/factories.js';
import { createTestDatabase } from '../../../support/servers/database.js';
import { untilSomeoneWaits } from '../../../support/someone-waits.js';

/** Each race is lost on purpose: the first transaction stays open until the second one waits for it. */
describe('two transactions about the sessions of a user', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  let here: Session;
  let there: Session;

  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 5, 'sessions-test');
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    const { id } = await insertUser(db);
    const begin = async (): Promise<Session> => {
      const { token } = await db.transaction((trx) => insertSession(trx, id, { by: 'code' }));
      return (await findSession(db, token))!;
    };
    [here, there] = [await begin(), await begin()];
  });

  async function race<One, Two>(
    first: (trx: Transaction) => Promise<One>,
    second: (trx: Transaction) => Promise<Two>,
  ): Promise<[One, Two]> {
    let later: Promise<Two> | undefined;
    const one = await db.transaction(async (trx) => {
      const done = await first(trx);
      later = db.transaction(second);
      later.catch(() => undefined);
      await untilSomeoneWaits(db, 'the second one waits');
      return done;
    });
    return [one, await later!];
  }

  it('end each other’s: the first one stays, and the second one is told that it has ended', async () => {
    const endOthers = (session: Session) => (trx: Transaction) =>
      deleteOtherSessions(trx, session, 'other_session');
    assert.deepEqual(await race(endOthers(here), endOthers(there)), [1, undefined]);
    const left = await db('sessions').where({ user_id: here.userId }).select('id');
    assert.deepEqual(left, [{ id: here.id }]);
  });

  it('ask for codes: the second one is counted after the first', async () => {
    const ask = (trx: Transaction) => requestProofCode(trx, here);
    const [first, second] = await race(ask, ask);
    assert.deepEqual([first.outcome, second.outcome], ['made', 'limited']);
  });

  it('try one code: the second one comes too late', async () => {
    const made = await db.transaction((trx) => requestProofCode(trx, here));
    const code = made.outcome === 'made' ? made.code : '';
    const attempt = (trx: Transaction) => tryProofCode(trx, here, code);
    assert.deepEqual(await race(attempt, attempt), [true, false]);
  });

  it('change one token: the second one finds none', async () => {
    const rotate = (trx: Transaction) => rotateSession(trx, here.tokenHash);
    const [first, second] = await race(rotate, rotate);
    assert.equal(second, undefined);
    assert.equal((await findSession(db, first!.token))?.id, here.id);
  });

  it('end a session while its token changes: it stays ended', async () => {
    const [ended, rotated] = await race(
      (trx) => deleteOtherSessions(trx, there, 'other_session'),
      (trx) => rotateSession(trx, here.tokenHash),
    );
    assert.deepEqual([ended, rotated], [1, undefined]);
    assert.equal((await db('sessions').where({ user_id: here.userId })).length, 1);
  });

  it('end a session that shows anew whose it is: the one waits for the other, and not each for each', async () => {
    const made = await db.transaction((trx) => requestProofCode(trx, here));
    const code = made.outcome === 'made' ? made.code : '';
    let proving: Promise<unknown> | undefined;
    await db.transaction(async (trx) => {
      await trx('sessions').where({ id: here.id }).forUpdate().first();
      proving = db.transaction(async (other) => {
        if (!(await lockSession(other, here.tokenHash))) return 'ended';
        await tryProofCode(other, here, code);
        return rotateSession(other, here.tokenHash);
      });
      proving.catch(() => undefined);
      await untilSomeoneWaits(db, 'the second one waits');
      assert.equal(await deleteOtherSessions(trx, there, 'other_session'), 1);
    });
    assert.equal(await proving, 'ended');
  });
});
