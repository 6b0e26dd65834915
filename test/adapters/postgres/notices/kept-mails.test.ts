import assert from 'node:assert/strict';
import { listKeptMails } from '../../../../adapters/postgres/notices/kept-mails.js';
import {
  mailOperators,
  mailUser,
  type OperatorMailCause,
} from '../../../../adapters/postgres/upkeep/outbox.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

/** One of each kind of mail to operators. */
const toOperators: { readonly [K in OperatorMailCause['kind']]: Extract<OperatorMailCause, { kind: K }> } = {
  operator_notice: { kind: 'operator_notice', noticeId: 7 },
  reconcile: { kind: 'reconcile', runId: 7 },
  charges_held: { kind: 'charges_held', markId: 'dp_1', userId: null },
};

describe('the mails of a person (decision 184)', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  it('are theirs, and not those to operators at their address', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 0);
    const { email } = (await db('users').where({ id: userId }).first('email'))!;
    const messageOf = (subject: string) => ({ subject, text: subject, html: null });
    for (const cause of Object.values(toOperators))
      await mailOperators(db, email, cause, messageOf('about others'));
    const cause = { kind: 'charges_held', markId: 'dp_1', userId } as const;
    await db.transaction((trx) => mailUser(trx, userId, cause, messageOf('yours')));
    assert.equal((await db('mail_outbox').where({ recipient: email })).length, 4);
    const told = await listKeptMails(db, email, undefined, 10);
    assert.deepEqual(
      told.map(({ subject }) => subject),
      ['yours'],
    );
  });
});
