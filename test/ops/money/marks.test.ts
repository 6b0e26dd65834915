import assert from 'node:assert/strict';
import { insertUser } from '../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops marks', () => {
  let database: MoneyDatabase;
  let userId: string;
  before(async () => {
    database = await openMoneyDatabase();
    const user = await insertUser(database.db);
    userId = user.id;
    await database.db('charge_marks').insert([
      { id: 'du_1', kind: 'dispute', charge_id: 'ch_1', user_id: user.id, fingerprint: 'fp_1' },
      { id: 'issfr_2', kind: 'early_fraud_warning', charge_id: 'ch_2', user_id: null, fingerprint: 'fp_2' },
    ]);
  });
  after(() => database.close());

  const ops = (...args: string[]): Promise<OpsResult> => runOps({ databaseUrl: database.url }, ...args);
  const who = ['--by', 'ada', '--reason', 'withdrawn'];

  it('lists who is not charged while they are away', async () => {
    const { out } = await ops('marks');
    assert.match(out, new RegExp(`^du_1 {2}dispute {2}ch_1 {2}${userId} {2}card fp_1 {2}since `, 'm'));
    assert.match(out, /^issfr_2 {2}early_fraud_warning {2}ch_2 {2}no user of ours {2}card fp_2 {2}since /m);
    assert.doesNotMatch((await ops('marks', '--user', userId)).out, /issfr_2/);
  });

  it('lists what holds one user, by a card of theirs that somebody else has denied as well', async () => {
    const other = await insertUser(database.db);
    assert.equal((await ops('marks', '--user', other.id)).out, 'Nothing.\n');
    await database.db('saved_cards').insert({
      ...{ pm_id: 'pm_2', user_id: other.id, brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2099 },
      ...{ set_up_at: new Date(), fingerprint: 'fp_2' },
    });
    assert.match((await ops('marks', '--user', other.email)).out, /^issfr_2 .*\n$/);
  });

  it('lifts one, keeps who did it and why, tells its user, and does not do it twice', async () => {
    const { code, out, err } = await ops('marks', 'lift', 'du_1', ...who);
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^Done: markId du_1, userId ${userId}, card fp_1$`, 'm'));
    assert.doesNotMatch((await ops('marks')).out, /du_1/);
    assert.match((await ops('actions', '--about', 'du_1')).out, /lift_charge_mark by ada: withdrawn/);
    const [told] = await database.db('audit_events').where({ kind: 'changed_by_operator' });
    assert.equal(told?.user_id, userId);
    const again = await ops('marks', 'lift', 'du_1', ...who);
    assert.deepEqual([again.code, again.out.includes('du_1 was already lifted')], [1, true]);
  });

  it('lifts one of a card that is no user’s here, and refuses what is not there', async () => {
    assert.match((await ops('marks', 'lift', 'issfr_2', ...who)).out, /userId nobody, card fp_2/);
    const { code, out } = await ops('marks', 'lift', 'du_nowhere', ...who);
    assert.deepEqual([code, out.includes('There is no mark du_nowhere: see ops marks.')], [1, true]);
  });
});
