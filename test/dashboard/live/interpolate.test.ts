import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  accruedCents,
  AHEAD_MS,
  beforeFirstCent,
  chargedAt,
  heldOf,
  runwaySeconds,
  stalledSince,
  timed,
  type TimedMeter,
} from '../../../clients/dashboard/src/live/interpolate.js';
import { accruedCents as charged } from '../../../domain/metering/metering.js';

const RUNNING_AT = Date.parse('2026-11-22T12:00:00.000Z');
const at = (ms: number): string => new Date(RUNNING_AT + ms).toISOString();

/** A meter as the service tells it `ms` after the machine began to run; it comes `lagMs` later by a clock of its own. */
function meterAt(ms: number, parts: Partial<TimedMeter> = {}, lagMs = 0): TimedMeter {
  const pricePerHourCents = parts.pricePerHourCents ?? 3_600;
  return {
    rentalId: 'rent_1',
    status: 'running',
    pricePerHourCents,
    chargedCents: accruedCents(pricePerHourCents, ms),
    holdCents: pricePerHourCents,
    runningAt: at(0),
    endedAt: null,
    readAt: at(ms),
    receivedAtMs: RUNNING_AT + ms + lagMs,
    ...parts,
  };
}

describe('what a machine has cost between two words of the service', () => {
  it('adds whole cents as they fall due', () => {
    const meter = meterAt(10_000);
    const shown = [0, 999, 1_000, 2_500].map((ms) => chargedAt(meter, meter.receivedAtMs + ms));
    assert.deepEqual(shown, [10, 10, 11, 12]);
  });

  it('tells how much of the first cent has accrued, never a whole one, and nothing after it', () => {
    const meter = meterAt(2_000, { pricePerHourCents: 360 });
    const shown = [0, 2_370, 7_999, 60_000].map((ms) => beforeFirstCent(meter, meter.receivedAtMs + ms));
    assert.deepEqual(shown, [200, 437, 999, undefined]);
    assert.equal(
      beforeFirstCent(meterAt(2_000, { pricePerHourCents: 360, status: 'stopping' }), RUNNING_AT),
      undefined,
    );
    const stopAt = { autoStopAt: at(3_000) };
    assert.equal(beforeFirstCent(meter, meter.receivedAtMs + 5_000, stopAt), 300);
  });

  it('is the service’s sum for any rate and span, and never more than its next tick', () => {
    const cases = fc.record({
      rate: fc.integer({ min: 1, max: 40_000 }),
      ranMs: fc.integer({ min: 0, max: 40_000_000 }),
      laterMs: fc.integer({ min: 0, max: AHEAD_MS }),
      lagMs: fc.integer({ min: 0, max: 3_000 }),
      skewMs: fc.integer({ min: -1e9, max: 1e9 }),
    });
    fc.assert(
      fc.property(cases, ({ rate, ranMs, laterMs, lagMs, skewMs }) => {
        const meter = meterAt(ranMs, { pricePerHourCents: rate }, lagMs + skewMs);
        const shown = chargedAt(meter, meter.receivedAtMs + laterMs);
        assert.equal(shown, charged(rate, ranMs + laterMs));
        assert.ok(shown <= charged(rate, ranMs + lagMs + laterMs));
      }),
    );
  });

  it('never falls while the machine runs, whichever of two words was the faster', () => {
    const cases = fc.record({
      rate: fc.integer({ min: 1, max: 40_000 }),
      lags: fc.array(fc.integer({ min: 0, max: 1_500 }), { minLength: 2, maxLength: 12 }),
    });
    fc.assert(
      fc.property(cases, ({ rate, lags }) => {
        let meter: TimedMeter | undefined;
        let shown = 0;
        lags.forEach((lagMs, index) => {
          const { receivedAtMs, ...word } = meterAt(index * 1_600, { pricePerHourCents: rate }, lagMs);
          if (meter) shown = Math.max(shown, chargedAt(meter, receivedAtMs - 1));
          meter = timed(word, receivedAtMs, meter);
          const next = chargedAt(meter, receivedAtMs);
          assert.ok(next >= shown, `${next} after ${shown}`);
          shown = next;
        });
      }),
    );
  });

  it('begins anew from the word itself when the clock was set', () => {
    const before = meterAt(1_000);
    const { receivedAtMs, ...word } = meterAt(2_000, {}, 3_600_000);
    assert.equal(timed(word, receivedAtMs, before).receivedAtMs, receivedAtMs);
  });

  it('stands still once a cent that is due is not told', () => {
    const meter = meterAt(10_000);
    const hourLater = meter.receivedAtMs + 3_600_000;
    assert.equal(chargedAt(meter, hourLater), 10 + 1 + AHEAD_MS / 1_000);
    assert.equal(stalledSince(meter, hourLater), meter.readAt);
    assert.equal(stalledSince(meter, meter.receivedAtMs + 5_000), undefined);
  });

  it('waits as long as the next cent of a cheap machine takes', () => {
    const cheap = meterAt(0, { pricePerHourCents: 36 });
    assert.equal(stalledSince(cheap, cheap.receivedAtMs + 100_000), undefined);
    assert.equal(chargedAt(cheap, cheap.receivedAtMs + 100_000), 1);
    assert.equal(stalledSince(cheap, cheap.receivedAtMs + 100_000 + AHEAD_MS + 1), cheap.readAt);
  });

  it('goes beyond no limit', () => {
    const meter = meterAt(10_000);
    const now = meter.receivedAtMs + 8_000;
    assert.equal(chargedAt(meter, now, { maxSpendCents: 12, autoStopAt: null }), 12);
    assert.equal(chargedAt(meter, now, { autoStopAt: at(13_000) }), 13);
  });

  it('is what the service says where nothing is metered', () => {
    const later = RUNNING_AT + 3_600_000;
    assert.equal(chargedAt(meterAt(5_000, { status: 'stopping', chargedCents: 3 }), later), 3);
    assert.equal(chargedAt(meterAt(5_000, { endedAt: at(5_000), chargedCents: 3 }), later), 3);
    assert.equal(chargedAt(meterAt(0, { status: 'provisioning', runningAt: null }), later), 0);
    assert.equal(chargedAt(meterAt(5_000, { chargedCents: 7 }), RUNNING_AT + 5_000), 7);
  });

  it('takes what it costs out of the hold first', () => {
    const meter = meterAt(10_000, { holdCents: 2 });
    const heldAfter = (ms: number): number => heldOf(meter, chargedAt(meter, meter.receivedAtMs + ms));
    assert.deepEqual([0, 1_000, 5_000].map(heldAfter), [2, 1, 0]);
    assert.equal(heldOf({ holdCents: 3_991, chargedCents: 1 }, 3), 3_989, 'the cost is known from elsewhere');
  });

  it('tells how long money lasts in whole seconds', () => {
    assert.equal(runwaySeconds(1_000, 3_600), 1_000);
    assert.equal(runwaySeconds(100, 7), 51_428);
    assert.equal(runwaySeconds(100, 0), null);
  });
});
