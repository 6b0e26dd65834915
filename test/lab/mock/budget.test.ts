import assert from 'node:assert/strict';
import type { EventData } from '../../../domain/events/events.js';
import type { Account } from '../../../lab/mock/account.js';
import { credit } from '../../../lab/mock/credit.js';
import { openRental, stopRental } from '../../../lab/mock/rentals.js';
import { saveBudget } from '../../../lab/mock/spending.js';
import type { World } from '../../../lab/mock/world.js';
import { createTestWorld, requestOf } from './worlds.js';

describe('the budget of a month in the mock', () => {
  let world: World;
  let account: Account;
  let live: (ms: number) => void;
  let jump: (ms: number) => void;
  let pass: (ms: number) => void;

  beforeEach(() => {
    ({ world, account, live, jump, pass } = createTestWorld());
    credit(world, account, { type: 'processor_topup', availableCents: 100_000 });
  });

  function told(): EventData['budget.reached'][] {
    const { events } = world.events.read(account.user.id, { types: ['budget.reached'], limit: 100 });
    return events.map(({ data }) => data as EventData['budget.reached']);
  }

  const percents = (): number[] => told().map(({ percent }) => percent);

  it('tells of a half, four fifths and the whole, once each, at the cent at which they are reached', () => {
    saveBudget(world, account, { monthlyCents: 100, hard: false });
    openRental(world, account, requestOf(), 'runs');
    // From running on, 50 cents take 45.1 s.
    live(2_000 + 45_000);
    assert.deepEqual(percents(), []);
    live(1_000);
    assert.deepEqual(told(), [{ percent: 50, month: '2026-11', spentCents: 51, monthlyCents: 100 }]);
    live(26_000);
    assert.deepEqual(percents(), [50]);
    live(1_000);
    assert.deepEqual(percents(), [50, 80]);
    live(60_000);
    assert.deepEqual(percents(), [50, 80, 100]);
    const [first] = world.events.read(account.user.id, { types: ['budget.reached'], limit: 1 }).events;
    assert.equal(first?.entity_id, account.user.id);
  });

  it('tells nothing again when the budget is changed, nor without one, and all again in the next month', () => {
    const { row } = openRental(world, account, requestOf(), 'runs');
    live(100_000);
    assert.deepEqual(percents(), []);
    saveBudget(world, account, { monthlyCents: 100, hard: false });
    live(1_000);
    assert.deepEqual(percents(), [50, 80, 100], 'what was spent before it was set counts');
    saveBudget(world, account, { monthlyCents: 120, hard: false });
    live(60_000);
    assert.equal(percents().length, 3);
    stopRental(world, account, row);
    jump(30 * 86_400_000);
    assert.equal(percents().length, 3, 'nothing is spent of December');
    openRental(world, account, requestOf(), 'runs');
    live(80_000);
    assert.deepEqual(
      told()
        .slice(3)
        .map(({ month, percent }) => [month, percent]),
      [['2026-12', 50]],
    );
  });

  it('counts usage that an invoice asks for', () => {
    const { row } = openRental(world, account, requestOf(), 'runs');
    pass(2_000 + 30 * 3_600_000);
    stopRental(world, account, row);
    assert.deepEqual([row.charged_cents, row.overage_cents], [100_000, 19_760]);
    saveBudget(world, account, { monthlyCents: 119_760, hard: false });
    live(1_000);
    assert.deepEqual(
      told().map(({ percent, spentCents }) => [percent, spentCents]),
      [50, 80, 100].map((percent) => [percent, 119_760]),
    );
  });
});
