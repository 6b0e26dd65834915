import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import { listDueNotices } from '../../../../adapters/postgres/notices/notice-mails.js';
import { noteForUser } from '../../../../adapters/postgres/notices/user-notices.js';
import { listWorkflowsWithWaitingEvents } from '../../../../adapters/postgres/payments/event-handling.js';
import { listDueIntents } from '../../../../adapters/postgres/upkeep/intents.js';
import {
  acknowledgeLook,
  claimLook,
  hasNoFreshSignal,
} from '../../../../adapters/postgres/upkeep/look-signals.js';
import { findStuck, isNotWaiting, noteFailure } from '../../../../adapters/postgres/upkeep/stuck-items.js';
import { operationLimits } from '../../../../domain/operations/limits.js';
import { insertUser } from '../../../support/money/factories.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const DAY = 86_400_000;

/** The database's clock ran ahead by a day when these were noted, and was set back since. */
describe('what a clock that ran ahead has noted', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  const ahead = (column: string) => database.db.raw(`${column} + ? * interval '1 millisecond'`, [DAY]);

  async function holds(sql: string): Promise<boolean> {
    const { rows } = await database.db.raw<{ rows: { it: boolean }[] }>(`select ${sql} as it`);
    return rows[0]!.it;
  }

  describe('of a signal', () => {
    const target = { workflow: 'topup', workflowId: 'top_1' };
    const mayBeTold = () => holds(hasNoFreshSignal(`'${target.workflowId}'`));
    beforeEach(async () => {
      await database.db('look_signals').delete();
      assert.equal((await claimLook(database.db, target)).mayTell, true);
      assert.equal(await mayBeTold(), false);
      await database.db('look_signals').update({ told_at: ahead('told_at'), wanted_at: ahead('wanted_at') });
    });

    it('keeps no workflow from another one', async () => {
      assert.equal(await mayBeTold(), true);
      assert.equal((await claimLook(database.db, target)).mayTell, true);
      assert.equal((await claimLook(database.db, target)).mayTell, false, 'this one is true');
      assert.equal(await mayBeTold(), false);
    });

    it('is handled by a look, and another one follows: it may have come meanwhile', async () => {
      assert.equal(await acknowledgeLook(database.db, target.workflowId, new Date(Date.now() - 1_000)), true);
      assert.equal((await claimLook(database.db, target)).mayTell, true);
    });
  });

  it('allows one signal also where several are asked for within a millisecond', async () => {
    const clock = (now: string) =>
      database.db.raw(`create or replace function clock_ms() returns timestamptz language sql as '${now}'`);
    const target = { workflow: 'topup', workflowId: 'top_2' };
    await clock(`select timestamptz ''2026-11-01 10:00:00.123+00''`);
    try {
      for (const mayTell of [true, false, false])
        assert.equal((await claimLook(database.db, target)).mayTell, mayTell);
    } finally {
      await clock(`select date_trunc(''milliseconds'', clock_timestamp())`);
    }
  });

  it('of an item that failed keeps it waiting no longer than the longest pause', async () => {
    const failure = { duty: 'workflow', item: 'top_1', error: 'failed', lastAnswers: undefined } as const;
    const isWaiting = async () => {
      const found = await findStuck(database.db, 'workflow', [failure.item]);
      const told = found.get(failure.item)?.isWaiting;
      assert.equal(await holds(isNotWaiting('workflow', `'${failure.item}'`)), !told);
      return told;
    };
    let last = await noteFailure(database.db, failure, 1);
    while (!last.isNewlySetAside) {
      await database.db('stuck_items').update({ next_attempt_at: database.db.raw('clock_ms()') });
      last = await noteFailure(database.db, failure, 1);
    }
    assert.ok(last.nextTryMs > operationLimits.setAsideRetryMs);
    assert.equal(await isWaiting(), true);
    await database.db('stuck_items').update({ next_attempt_at: ahead('next_attempt_at') });
    assert.equal(await isWaiting(), false);
    const { nextTryMs } = await noteFailure(database.db, failure, 1);
    assert.ok(nextTryMs < DAY, 'the next pause is a true one');
    assert.equal(await isWaiting(), true);
  });

  it('of an intent that was told tells it again', async () => {
    const { id } = await insertWallet(database.db, 100);
    await database.db('intents').insert({ kind: 'auto_topup', wallet_id: id });
    await database
      .db('intents')
      .where({ wallet_id: id })
      .update({ delivered_at: ahead('created_at') });
    assert.equal((await listDueIntents(database.db, 10)).length, 1);
  });

  it('of an event that came keeps its workflow from it no longer', async () => {
    await database.db('processor_events').insert({
      ...{ id: 'evt_1', kind: 'refund.updated', created_at: new Date(), livemode: false, object: {} },
      ...{ workflow_id: 're_1', workflow_type: 'refund', received_at: ahead('clock_ms()') },
    });
    const waiting = await listWorkflowsWithWaitingEvents(database.db, 15_000);
    assert.deepEqual(waiting, [{ workflow: 'refund', workflowId: 're_1' }]);
  });

  it('of a notice keeps its mail back no longer, and neither does one that was told', async () => {
    const { id: userId } = await insertUser(database.db);
    const note = async () => {
      const kind = 'passkey_added';
      const passkeyId = newId('psk');
      const facts = { passkeyId, name: 'key' };
      await noteForUser(database.db, { userId, kind, cause: { kind, passkeyId }, facts });
    };
    await note();
    await database.db('user_notices').update({ noted_at: ahead('noted_at') });
    assert.deepEqual(await listDueNotices(database.db), [{ userId, kind: 'passkey_added' }]);
    await database.db('user_notices').update({ kind: 'setup_acted' });
    await note();
    await database
      .db('user_notices')
      .where({ kind: 'setup_acted' })
      .update({ told_at: ahead('clock_ms()'), is_mailed: false });
    await database
      .db('user_notices')
      .whereNull('told_at')
      .update({ kind: 'setup_acted', noted_at: ahead('noted_at') });
    assert.deepEqual(await listDueNotices(database.db), [{ userId, kind: 'setup_acted' }]);
  });
});
