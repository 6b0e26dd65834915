import assert from 'node:assert/strict';
import pino from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createUpkeepActivities } from '../../../activities/upkeep/upkeep.js';
import { confirmDatabase } from '../../../adapters/postgres/restore/watermark.js';
import { watermarkMemo } from '../../../workflows/contracts/watermark.js';
import { runAlone } from '../../support/service/activity-context.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { until } from '../../support/until.js';

/** The watermark that Temporal holds. */
const KEPT = 60;

describe('runUpkeep', () => {
  let money: MoneyDatabase;
  before(async () => {
    money = await openMoneyDatabase();
  });
  after(() => money.close());

  /** Runs one round of a duty. @returns its heartbeat */
  async function round(duty: 'redeliver' | 'sweep'): Promise<unknown> {
    const handle = { describe: () => Promise.resolve({ memo: { [watermarkMemo]: KEPT } }) };
    const deps = {
      ...{ db: money.db, log: pino({ level: 'silent' }), settings: {} },
      ...{ temporal: { workflow: { getHandle: () => handle } }, providers: { values: fail, keys: fail } },
    } as unknown as ActivityDeps;
    const running = runAlone(() => createUpkeepActivities(deps).runUpkeep(duty, 60_000));
    await until('it made a round', () => running.beats.length > 0);
    running.cancel();
    await assert.rejects(running.result, { name: 'CancelledFailure' });
    return running.beats[0];
  }

  const failures = () => money.db('stuck_items').where({ duty: 'upkeep' }).pluck('item');

  it('waits while the database is behind, which is no failure of its own', async () => {
    assert.equal(await confirmDatabase(money.db, KEPT), 'restored');
    assert.match(JSON.stringify(await round('sweep')), /restored/);
    assert.deepEqual(await failures(), []);
  });

  it('counts a round that fails', async () => {
    await money.db('watermark').update({ value: KEPT });
    assert.equal(await confirmDatabase(money.db, KEPT), 'confirmed');
    await round('sweep');
    assert.deepEqual(await failures(), ['sweep']);
  });
});

function fail(): never {
  throw new Error('no upstream can be listed');
}
