import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import { idleGuardLimits, ignorable } from '../../domain/rentals/idle-guard.js';
import { insertRunning, insertWallet, openMoneyDatabase } from '../support/money/money.js';

/** The schema’s own numbers are those of the domain: a limit that moves needs a step of the schema. */
describe('the schema of idle guards', () => {
  let db: Database;
  let close: () => Promise<void>;
  before(async () => {
    const money = await openMoneyDatabase();
    ({ db } = money);
    close = () => money.close();
  });
  after(() => close());

  async function write(minutes: number, ignores: readonly string[] = []): Promise<void> {
    const id = await insertRunning(db, await insertWallet(db, 1_000), { priceCents: 100, ranMs: 1_000 });
    const { no } = (await db('rentals').where({ id }).first('no'))!;
    await db.raw('insert into idle_guards (rental_no, minutes, ignores) values (?, ?, ?::text[])', [
      ...[no, minutes, [...ignores]],
    ]);
  }
  const refuses = (constraint: string, minutes: number, ignores?: readonly string[]) =>
    assert.rejects(write(minutes, ignores), { constraint });
  const { minutesMin, minutesMax } = idleGuardLimits;

  it('takes the least and the most minutes of the domain, and all that may be ignored', async () => {
    await write(minutesMin);
    await write(minutesMax, ignorable);
  });

  it('refuses a minute less, a minute more, and to ignore anything else', async () => {
    await refuses('idle_guards_minutes_check', minutesMin - 1);
    await refuses('idle_guards_minutes_check', minutesMax + 1);
    await refuses('idle_guards_ignores_check', minutesMin, [...ignorable, 'gpu']);
  });
});
