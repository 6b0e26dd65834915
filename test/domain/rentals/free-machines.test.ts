import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  refuseWhenTooManyFree,
  tooManyFree,
  type FreeMachine,
} from '../../../domain/rentals/free-machines.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { Refusal } from '../../../domain/refusal.js';

const { freeMachines: limits } = rentalLimits;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** One machine of a trace; instants are milliseconds from its beginning. */
interface Life {
  readonly atMs: number;
  readonly priceCents: number;
  /** How long it comes up. */
  readonly bootMs: number;
  /** How long it runs; null: it is given up while it comes up, after `bootMs`. */
  readonly runMs: number | null;
  readonly end: 'user' | 'lost' | 'failed' | 'operator';
}

const START = Date.parse('2026-11-25T00:00:00Z');
const at = (ms: number) => new Date(START + ms);
const GONE_AFTER_MS = 20 * SECOND;

function chargedCents({ priceCents, runMs, end }: Life): number {
  return end === 'failed' ? 0 : Math.round((priceCents * (runMs ?? 0)) / HOUR);
}

const endMs = ({ atMs, bootMs, runMs }: Life) => atMs + bootMs + (runMs ?? 0);

/** The machine as the service reads it at an instant; undefined when it does not count then. */
function seenAt(life: Life, nowMs: number): FreeMachine | undefined {
  const { atMs, priceCents, bootMs, runMs, end } = life;
  const runs = runMs !== null && atMs + bootMs <= nowMs;
  const ended = endMs(life) <= nowMs;
  if (runs && !ended) return undefined;
  if (ended && (end !== 'user' || endMs(life) <= nowMs - HOUR)) return undefined;
  const goneMs = endMs(life) + GONE_AFTER_MS;
  return {
    pricePerHourCents: priceCents,
    boughtAt: at(atMs),
    runningAt: runs ? at(atMs + bootMs) : null,
    goneAt: goneMs <= nowMs ? at(goneMs) : null,
    ...(ended
      ? { endedAt: at(endMs(life)), settledAt: at(endMs(life)), netCents: chargedCents(life) }
      : { endedAt: null, settledAt: null, netCents: 0 }),
  };
}

/** Opens the machines of a trace one after the other. @returns how many were had before the first refusal */
function playUntilRefused(trace: readonly Life[], paidBeforeCents = 0): number {
  const had: Life[] = [];
  for (const life of trace) {
    const nowMs = life.atMs;
    const machines = had.flatMap((one) => seenAt(one, nowMs) ?? []);
    const paid = had.filter((one) => endMs(one) <= nowMs).reduce((sum, one) => sum + chargedCents(one), 0);
    if (tooManyFree({ at: at(nowMs), machines, paidCents: paidBeforeCents + paid }, limits)) break;
    had.push(life);
  }
  return had.length;
}

/** Decision 83, "Cost of one caller". */
describe('machines that nobody is billed for', () => {
  /** Families from a small card to eight large ones, in cents an hour. */
  const price = fc.integer({ min: 20, max: 3_000 });
  const minutes = (min: number, max: number) => fc.integer({ min: min * MINUTE, max: max * MINUTE });

  /** Machines that are opened at once, as fast as the service opens them, and their usual ends. */
  const batch = fc.record({
    count: fc.integer({ min: 1, max: 20 }),
    price,
    eachMs: fc.integer({ min: 200, max: 3_000 }),
    bootMs: fc.integer({ min: 15 * SECOND, max: 9 * MINUTE }),
    kind: fc.constantFrom('paid', 'short', 'slow', 'lost', 'failed'),
    runMs: minutes(1, 40),
  });

  function livesOf(one: typeof batch extends fc.Arbitrary<infer T> ? T : never, fromMs: number): Life[] {
    const { kind, bootMs } = one;
    return Array.from({ length: one.count }, (_, i) => ({
      atMs: fromMs + i * one.eachMs,
      priceCents: one.price,
      bootMs: kind === 'slow' ? limits.slowBootMs + bootMs : bootMs,
      runMs: kind === 'slow' || kind === 'failed' ? null : kind === 'short' ? MINUTE : one.runMs,
      end: kind === 'lost' ? 'lost' : kind === 'failed' ? 'failed' : 'user',
    }));
  }

  it('are never held against whoever rents in earnest: a thousand traces', () => {
    let machines = 0;
    const kinds = new Set<string>();
    const trace = fc.array(batch, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(trace, (batches) => {
        const lives: Life[] = [];
        for (const one of batches) {
          kinds.add(one.kind);
          // The next ones are opened when these have come up or have ended.
          const fromMs = Math.max(0, ...lives.map(endMs)) + SECOND;
          lives.push(...livesOf(one, fromMs));
        }
        machines += lives.length;
        assert.equal(playUntilRefused(lives), lives.length, JSON.stringify(lives));
      }),
      { numRuns: 1_000, seed: 41 },
    );
    assert.ok(machines > 10_000 && kinds.size === 5, `${machines} machines of ${[...kinds].join()}`);
  });

  it('end for whoever stops large ones as soon as they run: 33 in 75 seconds', () => {
    const abuse = Array.from({ length: 33 }, (_, i): Life => ({
      ...{ atMs: i * 2_270, priceCents: 1_600, bootMs: SECOND, runMs: SECOND, end: 'user' },
    }));
    const had = playUntilRefused(abuse);
    assert.ok(had <= 5, `${had} machines`);
    assert.ok(playUntilRefused(abuse, 5_000) > had, 'who paid more may try more');
  });

  it('end for whoever gives up large ones again and again before they run', () => {
    const abuse = Array.from({ length: 40 }, (_, i): Life => ({
      ...{ atMs: i * 30 * SECOND, priceCents: 2_400, bootMs: 25 * SECOND, runMs: null, end: 'user' },
    }));
    assert.ok(playUntilRefused(abuse) <= 4);
  });

  const free = (ended: number, over: Partial<FreeMachine> = {}): FreeMachine => ({
    ...{ pricePerHourCents: 3_000, boughtAt: at(ended - 10 * SECOND), runningAt: null },
    ...{ endedAt: at(ended), settledAt: at(ended), goneAt: at(ended), netCents: 0 },
    ...over,
  });
  const verdict = (machines: FreeMachine[], nowMs = HOUR, paidCents = 0) =>
    tooManyFree({ at: at(nowMs), machines, paidCents }, limits);

  it('are told by when enough of them are an hour old', () => {
    // Each costs 50 cents.
    const machines = [free(10 * MINUTE), free(20 * MINUTE), free(30 * MINUTE), free(40 * MINUTE)];
    assert.deepEqual(verdict(machines), { costCents: 200, limitCents: 100, retryAfterSeconds: 30 * 60 });
    assert.equal(verdict(machines.slice(0, 1)), undefined);
    assert.deepEqual(verdict(machines, HOUR, 1_500), {
      costCents: 200,
      limitCents: 150,
      retryAfterSeconds: 20 * 60,
    });
    assert.equal(verdict(machines, HOUR, 2_001), undefined);
  });

  it('count a tenth while they come up, and are worth another try soon', () => {
    const coming = free(HOUR, { boughtAt: at(HOUR - MINUTE), endedAt: null, settledAt: null, goneAt: null });
    assert.equal(verdict(Array<FreeMachine>(19).fill(coming)), undefined);
    assert.equal(verdict(Array<FreeMachine>(20).fill(coming))?.retryAfterSeconds, 30);
  });

  it('cost from the purchase until they are gone where they never ran, and what was charged is off', () => {
    const gone = free(30 * MINUTE, { boughtAt: at(29 * MINUTE), goneAt: at(32 * MINUTE) });
    assert.equal(verdict([gone])?.costCents, 150);
    assert.equal(verdict([{ ...gone, goneAt: null }], 31 * MINUTE)?.costCents, 100);
    const ran = free(30 * MINUTE, { boughtAt: at(0), runningAt: at(29.5 * MINUTE), netCents: 25 });
    assert.equal(verdict([ran, ran, ran, ran])?.costCents, 100);
    assert.equal(verdict([{ ...ran, runningAt: at(20 * MINUTE), netCents: 500 }]), undefined);
  });

  it('are refused in words that tell the time', () => {
    const machines = [free(30 * MINUTE), free(30 * MINUTE)];
    assert.throws(
      () => refuseWhenTooManyFree({ at: at(HOUR), machines, paidCents: 0 }, limits),
      (error) =>
        error instanceof Refusal &&
        error.code === 'rate_limited' &&
        error.message.endsWith('Try again in 30 minutes.') &&
        error.details?.['retryAfterSeconds'] === 1_800,
    );
  });
});
