import assert from 'node:assert/strict';
import { createRentalActivities } from '../../../activities/rentals/rental.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { pullBrake, releaseBrake } from '../../../adapters/postgres/operators/brakes.js';
import { insertProvider, insertRental, insertUser } from '../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

describe('while metering is paused', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  it('the rentals of a large fleet look three times a second in all, and no herd comes when it is released', async () => {
    const { db } = database;
    await insertProvider(db);
    const user = await insertUser(db);
    const { id } = await insertRental(db, user.id, { status: 'running', running_at: new Date() });
    const activities = createRentalActivities({ db } as ActivityDeps);
    const look = async (): Promise<number> => (await activities.meterRental(id, 3_600_000)).nextLookMs;
    await db.transaction((trx) => pullBrake(trx, { kind: 'metering', by: 'ada', reason: 'test' }));
    const small = await look();
    assert.ok(small >= 9_000 && small <= 10_000, `a fleet of one: ${small} ms`);
    await db.raw(
      `insert into meter_readings (rental_no, wallet_id, price_per_hour_cents, hold_cents, charged_cents, running_ms)
       select n, 0, 100, 0, 0, 0 from generate_series(1000001, 1100000) n`,
    );
    // One after the other, since only a few requests of one user may wait for their wallet at once (decision 73, "Turns
    // at the wallet").
    const waits: number[] = [];
    while (waits.length < 20) waits.push(await look());
    // 100,000 rentals, three a second: each has its turn once in nine hours.
    for (const ms of waits) assert.ok(ms >= 30_000_000 && ms <= 33_334_000, `${ms} ms`);
    assert.ok(Math.max(...waits) - Math.min(...waits) > 300_000, 'they do not come together');
    await db.transaction((trx) => releaseBrake(trx, 'metering'));
  });
});
