import assert from 'node:assert/strict';
import { Told } from '../users/told.js';
import type { Machine } from '../world/upstream.js';
import type { Stretch } from '../world/use.js';
import type { Evidence } from './evidence.js';
import { judgeIdleness } from './idle.js';

const MINUTE_MS = 60_000;
/** When the machine of these tests begins to run, in milliseconds since 1970. */
const BEGUN_MS = 1_000 * MINUTE_MS;
const at = (minutes: number): number => BEGUN_MS + minutes * MINUTE_MS;

interface Life {
  readonly use: readonly Stretch[];
  /** When it was stopped for being idle, and its renter warned; in minutes after it began to run. */
  readonly stopped?: number;
  readonly warned?: number;
  readonly keptUntil?: number;
  /** The minutes of its guard; absent: none. */
  readonly guard?: number;
}

async function judge({ use, stopped, warned, keptUntil, guard }: Life): Promise<string> {
  const said = new Told();
  const value = guard === undefined ? -Infinity : -guard;
  said.guards.set('rent_1', [{ value, sentMs: 0, answeredMs: BEGUN_MS, isSure: true }]);
  if (keptUntil !== undefined)
    said.keepAlives.push({ rentalId: 'rent_1', untilMs: at(keptUntil), answeredMs: at(1) });
  const row = {
    ...{ id: 'rent_1', tag: 'sim-rent_1-1', provider: 'north', running_ms: String(BEGUN_MS) },
    ...{ stop_reason: stopped === undefined ? null : 'idle', ended_ms: null },
    requested_by: stopped === undefined ? null : 'idle',
    requested_ms: stopped === undefined ? null : String(at(stopped)),
    warned_ms: warned === undefined ? null : String(at(warned)),
  };
  const machine = { tag: row.tag, use, lostMs: Infinity } as unknown as Machine;
  const found = await judgeIdleness({
    ...{ told: said, machines: [machine], calmSinceMs: BEGUN_MS, nowMs: at(100) },
    ask: () => Promise.resolve([row]),
  } as unknown as Evidence);
  return found.join('\n');
}

describe('the oracle of idle guards', () => {
  const idle = [{ fromMs: BEGUN_MS, kind: 'idle' }] as const;
  const usedAt = (minutes: number, kind: Stretch['kind']): Stretch[] => [
    ...idle,
    { fromMs: at(minutes), kind },
    { fromMs: at(minutes + 5), kind: 'idle' },
  ];
  const stop = { guard: 20, stopped: 40, warned: 29 };

  it('has nothing against a stop of what was idle, warned and not kept alive, nor against use', async () => {
    assert.equal(await judge({ use: idle, ...stop }), '');
    assert.equal(await judge({ use: usedAt(10, 'busy'), ...stop }), '');
    assert.equal(await judge({ use: [{ fromMs: BEGUN_MS, kind: 'busy' }], guard: 20 }), '');
    assert.equal(await judge({ use: idle }), '');
  });

  for (const kind of ['busy', 'silent', 'frozen'] as const) {
    it(`finds a stop of a machine that was ${kind} within its minutes`, async () => {
      assert.match(await judge({ use: usedAt(25, kind), ...stop }), /was used within 20 minutes/);
    });
  }

  it('finds a stop that nobody asked for, that comes too early, unwarned, or to what is kept alive', async () => {
    assert.match(await judge({ use: idle, stopped: 40, warned: 29 }), /nobody had asked for that/);
    assert.match(await judge({ use: idle, guard: 50, stopped: 40, warned: 29 }), /before it had run for 50/);
    assert.match(await judge({ use: idle, guard: 20, stopped: 40 }), /not warned in time/);
    assert.match(await judge({ use: idle, ...stop, warned: 35 }), /not warned in time/);
    assert.match(await judge({ use: idle, ...stop, keptUntil: 60 }), /while it was kept alive/);
  });

  it('finds an idle machine that goes on in spite of its guard', async () => {
    assert.match(await judge({ use: idle, guard: 20 }), /was idle for 100 minutes, and goes on/);
    assert.equal(await judge({ use: idle, guard: 20, keptUntil: 70 }), '');
  });
});
