import assert from 'node:assert/strict';
import { progressIn } from '../../../adapters/postgres/rentals/progress-reads.js';
import { HOUR } from '../../../domain/durations.js';
import { madeUpHistory, madeUpReliability } from '../../../lab/mock/history.js';
import { openRental, stopRental } from '../../../lab/mock/rentals.js';
import { readNow } from '../../../lab/mock/rental-list.js';
import { beginTopup, payPage } from '../../../lab/mock/topups.js';
import { createTestWorld, requestOf } from './worlds.js';

describe('the progress of a rental in the mock', () => {
  it('goes through all phases in the two seconds, and ends with the rental', () => {
    const { world, account, live } = createTestWorld();
    payPage(world, beginTopup(world, account, 10_000).session_id ?? '', false);
    const { row } = openRental(world, account, requestOf(), 'runs');
    const told = () => progressIn(readNow(world, row));
    const seen: unknown[] = [];
    const begun = world.now().getTime();
    for (let step = 0; step <= 20; step += 1) {
      const { phase, phaseSince } = told();
      const since = (phaseSince?.getTime() ?? 0) - begun;
      if (!seen.some((each) => String(each) === `${phase},${since}`)) seen.push([phase, since]);
      live(100);
    }
    assert.deepEqual(seen, [
      ['queued', 0],
      ['buying', 200],
      ['booting', 500],
      ['installing', 1_000],
      ['checking', 1_800],
      ['ready', 2_000],
    ]);
    stopRental(world, account, row);
    assert.equal(told().phase, null);
  });

  it('is expected when it comes', () => {
    const { world, account, live } = createTestWorld();
    payPage(world, beginTopup(world, account, 10_000).session_id ?? '', false);
    const { row } = openRental(world, account, requestOf(), 'runs');
    const after = (ms: number) => new Date(row.started_at.getTime() + ms);
    // Nothing is expected of a machine that nobody has bought yet.
    assert.equal(progressIn(row).expectedReadyAt, null);
    live(200);
    // Counted from the purchase, a fifth of a second later.
    assert.deepEqual(progressIn(readNow(world, row)).expectedReadyAt, after(2_200));
  });
});

describe('the made-up history of the mock', () => {
  const { world } = createTestWorld();
  const of = (family: string, region?: string) => madeUpHistory(world.listings, family, region, world.now());

  it('is the same each time, and has hours without offers and hours in which nobody looked', () => {
    const hours = of('b200');
    assert.deepEqual(hours, of('b200'));
    assert.ok(hours.length > 80 * 24 && hours.length < 90 * 24);
    assert.ok(hours.some(({ available }) => available === 0));
    for (const { lowestPricePerHourCents, available, at } of hours) {
      assert.equal(lowestPricePerHourCents === null, available === 0);
      assert.equal(at.getTime() % HOUR, 0);
    }
  });

  it('has nothing in a region without machines, and tells nothing of a family that few rented', () => {
    assert.ok(of('b200', 'is').every(({ available }) => available === 0));
    const reliabilityOfFamily = (family: string) =>
      madeUpReliability(world.listings.find((row) => row.family === family)!);
    const { samples, days } = reliabilityOfFamily('b200') ?? {};
    assert.ok((samples ?? 0) >= 480 && days === 30);
    assert.deepEqual(reliabilityOfFamily('b200'), reliabilityOfFamily('b200'));
  });
});
