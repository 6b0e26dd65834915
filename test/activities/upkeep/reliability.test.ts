import assert from 'node:assert/strict';
import pino from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { countReliability } from '../../../activities/upkeep/reliability.js';
import { insertProvider, insertRunningRental, insertUser } from '../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

describe('counting how reliable upstreams are', () => {
  let money: MoneyDatabase;
  before(async () => {
    money = await openMoneyDatabase();
    await insertProvider(money.db);
  });
  after(() => money.close());

  const beats: unknown[] = [];
  const round = () => {
    const deps = { db: money.db, log: pino({ level: 'silent' }) } as unknown as ActivityDeps;
    return countReliability(deps, (detail) => void beats.push(detail));
  };
  const stuck = () => money.db('stuck_items').select('duty', 'item', 'attempts');

  it('counts thirty days the first time, with a beat for each part, and a few hours from then on', async () => {
    const user = await insertUser(money.db);
    await insertRunningRental(money.db, user.id, 1_000);
    assert.deepEqual(await round(), { hours: 721, known: 1 });
    assert.ok(beats.length > 100, 'no part is long enough to look like a stall');
    const { hours, known } = await round();
    assert.ok(hours <= 5 && known === 1);
  });

  it('sums what is known even when nothing can be counted, and counts again once it can', async () => {
    await money.db('reliability').delete();
    await money.db.schema.renameTable('lost_machines', 'away');
    try {
      assert.deepEqual(await round(), { hours: 0, known: 1 });
      assert.deepEqual(await stuck(), [{ duty: 'upkeep', item: 'reliability: hours', attempts: 1 }]);
      assert.equal((await money.db('reliability').first())?.created, 1);
    } finally {
      await money.db.schema.renameTable('away', 'lost_machines');
    }
    assert.equal((await round()).known, 1);
    assert.deepEqual(await stuck(), []);
  });
});
