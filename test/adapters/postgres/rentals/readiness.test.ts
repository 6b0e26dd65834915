import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { readReadiness } from '../../../../adapters/postgres/rentals/readiness.js';
import type { ReliabilityRow } from '../../../../adapters/postgres/rows/tables.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

describe('how long a machine takes to be ready', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  beforeEach(() => database.db('reliability').delete());
  after(() => database.close());

  const of = { providerCode: 'lab', family: 'rtx-4090' };
  const counted = (over: Partial<ReliabilityRow>) =>
    database.db('reliability').insert({
      provider_code: 'lab',
      family: 'rtx-4090',
      created: 20,
      not_created: 0,
      ready_p50_seconds: 41,
      ready_p90_seconds: 95,
      ssh_p50_seconds: 40,
      ssh_p90_seconds: 90,
      losses: 0,
      machine_ms: 0,
      ...over,
    });

  it('is told from 20 samples on, of this upstream and this family alone', async () => {
    await counted({});
    await counted({ provider_code: 'other', ready_p50_seconds: 7, ready_p90_seconds: 8 });
    await counted({ family: 'b200', ready_p50_seconds: 9, ready_p90_seconds: 9, created: 21 });
    assert.deepEqual(await readReadiness(database.db, of), { p50: 41, p90: 95 });
    assert.deepEqual(await readReadiness(database.db, { ...of, providerCode: 'other' }), { p50: 7, p90: 8 });
    assert.deepEqual(await readReadiness(database.db, { ...of, family: 'b200' }), { p50: 9, p90: 9 });
  });

  it('is not told below 20 samples, nor of what nobody counted', async () => {
    await counted({ created: 19, not_created: 50 });
    assert.equal(await readReadiness(database.db, of), null);
    assert.equal(await readReadiness(database.db, { ...of, family: 'a40' }), null);
  });

  it('may be read by those who quote and by those who open', async () => {
    await counted({});
    for (const role of [databaseRoles.api, databaseRoles.worker]) {
      const db: Database = openDatabase(database.url, 1, 'test-role', role);
      try {
        assert.deepEqual(await readReadiness(db, of), { p50: 41, p90: 95 });
      } finally {
        await db.destroy();
      }
    }
  });
});
