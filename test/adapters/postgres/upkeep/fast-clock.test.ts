import assert from 'node:assert/strict';
import {
  acknowledgeLook,
  claimLook,
  hasNoFreshSignal,
} from '../../../../adapters/postgres/upkeep/look-signals.js';
import { findStuck, isNotWaiting, noteFailure } from '../../../../adapters/postgres/upkeep/stuck-items.js';
import { operationLimits } from '../../../../domain/operations/limits.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

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
});
