import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { EventData } from '../../../domain/events/events.js';
import { eventTypes } from '../../../domain/events/events.js';
import { HOUR, MINUTE } from '../../../domain/durations.js';
import type { Account } from '../../../lab/mock/account.js';
import { changeRental } from '../../../lab/mock/change.js';
import { untoldEvents } from '../../../lab/mock/events.js';
import { openRental } from '../../../lab/mock/rentals.js';
import { beginTopup, payPage } from '../../../lab/mock/topups.js';
import type { World } from '../../../lab/mock/world.js';
import { createTestWorld, requestOf } from './worlds.js';

const PRICE_CENTS = 3_992;
/** From the order of a machine until it runs. */
const BOOT_MS = 2_000;

describe('the warnings of the mock', () => {
  let world: World;
  let account: Account;
  let live: (ms: number) => void;
  let jump: (ms: number) => void;

  beforeEach(() => {
    ({ world, account, live, jump } = createTestWorld());
    topUp(100_000);
  });

  function topUp(cents: number): void {
    const { session_id: sessionId } = beginTopup(world, account, cents);
    payPage(world, sessionId ?? '', false);
  }

  function told<T extends keyof EventData>(type: T): EventData[T][] {
    const { events } = world.events.read(account.user.id, { limit: 1_000, types: [type] });
    return events.map(({ data }) => data as unknown as EventData[T]);
  }

  const inMs = (at: Date | null, ms: number) => new Date(Number(at) + ms).toISOString();

  it('tell once of each end that is near, anew once it is moved, and of no short one', () => {
    const asked = requestOf({ autoStopAfterMs: HOUR, maxSpendCents: PRICE_CENTS });
    const rental = openRental(world, account, asked, 'runs');
    openRental(world, account, requestOf({ autoStopAfterMs: 5 * MINUTE }), 'runs');
    jump(BOOT_MS + 45 * MINUTE - 1);
    assert.deepEqual(told('rental.warned'), []);
    live(1_000);
    const at = inMs(rental.row.running_at, HOUR);
    assert.deepEqual(told('rental.warned'), [
      { warning: 'auto_stop_near', at },
      { warning: 'spend_limit_near', at },
    ]);
    const autoStopAt = new Date(Date.parse(at) - MINUTE).toISOString();
    changeRental(world, account, rental, { id: 'chg_1', asked: { autoStopAt } });
    live(2_000);
    assert.deepEqual(told('rental.warned').slice(2), [{ warning: 'auto_stop_near', at: autoStopAt }]);
  });

  it('tell that the balance is low, once for each time that it becomes so', () => {
    openRental(world, account, requestOf(), 'runs');
    const lastsMs = (100_000 / PRICE_CENTS) * HOUR;
    jump(BOOT_MS + lastsMs - HOUR - 2_000);
    assert.deepEqual(told('wallet.low'), []);
    live(10_000);
    const [low] = told('wallet.low');
    assert.deepEqual(low, {
      ...{ balanceCents: PRICE_CENTS - 1, burnPerHourCents: PRICE_CENTS, runwaySeconds: 3_599 },
    });
    topUp(5_000);
    live(MINUTE);
    assert.equal(told('wallet.low').length, 1);
    jump(75 * MINUTE);
    assert.equal(told('wallet.low').length, 2);
  });

  const idleGuard = { minutes: 15, ignores: ['sessions'] } as const;

  it('tell that an idle machine stops, which it then does, unless it is used', () => {
    const idle = openRental(world, account, requestOf({ idleGuard }), 'idles');
    const used = openRental(world, account, requestOf({ idleGuard }), 'runs');
    // Its first whole minute begins at 00:01:00.
    const stopsAt = '2026-11-01T00:16:00.000Z';
    live(5 * MINUTE);
    assert.deepEqual(told('rental.warned'), [{ warning: 'idle_stop_near', at: stopsAt }]);
    live(11 * MINUTE - 1_000);
    assert.deepEqual([idle.row.status, idle.row.idle_guard?.stops_at], ['running', stopsAt]);
    live(1_000);
    assert.deepEqual([idle.row.stop_reason, idle.row.ended_at?.toISOString()], ['idle', stopsAt]);
    live(2 * HOUR);
    assert.deepEqual([used.row.status, told('rental.warned').length], ['running', 3], 'it rested twice');
  });

  it('wait for as long as an idle machine is kept alive', () => {
    const { row } = openRental(world, account, requestOf({ idleGuard }), 'idles');
    live(MINUTE);
    const until = '2026-11-01T01:00:00.000Z';
    row.idle_guard = { ...row.idle_guard!, keep_alive_until: until };
    live(47 * MINUTE);
    assert.deepEqual([row.idle_guard.stops_at, told('rental.warned')], [null, []]);
    live(MINUTE);
    assert.deepEqual(told('rental.warned'), [{ warning: 'idle_stop_near', at: until }]);
    live(11 * MINUTE);
    assert.deepEqual([row.stop_reason, row.ended_at?.toISOString()], ['idle', until]);
  });

  it('leave no type of event out, but for those that nothing here gives cause for', () => {
    const files = ['lab/mock', 'lab/mock/routes'].flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && `${folder}/${entry.name}` !== 'lab/mock/events.ts')
        .map(({ name }) => `${folder}/${name}`),
    );
    const text = files.map((file) => readFileSync(file, 'utf8')).join('');
    const untold = eventTypes.filter((type) => !text.includes(`'${type}'`));
    assert.deepEqual(untold.toSorted(), [...untoldEvents].toSorted());
  });
});
