import assert from 'node:assert/strict';
import { judgeRental } from '../../../tools/prod-like/verdict.js';

describe('the verdict on a rental after restarts', () => {
  // 2392 cents an hour for 30.1 s: 19.99… cents, which is 20.
  const rental = {
    id: 'rent_1',
    status: 'stopped',
    pricePerHourCents: 2392,
    runningAt: '2026-01-01T00:00:00.000Z',
    stoppedAt: '2026-01-01T00:00:30.100Z',
    totalChargedCents: 20,
  };
  const stop = { finalChargedCents: 20 };

  it('finds nothing when the charge is the formula’s and the stop’s', () => {
    assert.deepEqual(judgeRental(rental, stop), []);
  });
  it('takes a stop that was answered before it was settled', () => {
    assert.deepEqual(judgeRental(rental, { finalChargedCents: null }), []);
  });
  it('finds a cent too much or too little', () => {
    assert.match(judgeRental({ ...rental, totalChargedCents: 21 }, stop).join(), /the formula says 20/);
    assert.match(judgeRental({ ...rental, totalChargedCents: 19 }, stop).join(), /the formula says 20/);
  });
  it('finds a stop whose answer was not true', () => {
    assert.match(judgeRental(rental, { finalChargedCents: 19 }).join(), /was answered 19/);
    assert.match(judgeRental(rental, undefined).join(), /no amount/);
  });
  it('finds a rental that did not end', () => {
    assert.match(judgeRental({ ...rental, status: 'stopping' }, stop).join(), /is stopping in the end/);
  });
});
