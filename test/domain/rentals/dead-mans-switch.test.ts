import assert from 'node:assert/strict';
import { endByOf, mustRenew } from '../../../domain/rentals/dead-mans-switch.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';

const now = Date.UTC(2026, 0, 1);
const hour = 3_600_000;

describe('the dead man’s switch', () => {
  it('is set to what the wallet can pay for, and a margin', () => {
    assert.equal(endByOf(1_000, 100, now).getTime(), now + 10 * hour + rentalLimits.deadManMarginMs);
    assert.equal(endByOf(0, 100, now).getTime(), now + rentalLimits.deadManMarginMs);
  });

  it('is never further away than thirty days and the margin', () => {
    const far = endByOf(10_000_000, 1, now);
    assert.equal(far.getTime(), now + rentalLimits.deadManMaxMs + rentalLimits.deadManMarginMs);
  });

  it('is renewed when there is none, when money came, and when it went', () => {
    const inTen = endByOf(1_000, 100, now);
    assert.ok(mustRenew(null, inTen, now));
    assert.ok(mustRenew(inTen, endByOf(2_000, 100, now), now));
    assert.ok(mustRenew(inTen, endByOf(1_000, 200, now), now));
  });

  it('is left alone while the wallet only pays what it runs for', () => {
    const inTen = endByOf(1_000, 100, now);
    const later = now + 2 * hour;
    assert.ok(!mustRenew(inTen, endByOf(800, 100, later), later));
    assert.ok(!mustRenew(inTen, endByOf(1_010, 100, now), now));
  });
});
