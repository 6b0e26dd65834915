import assert from 'node:assert/strict';
import { provisionDeadlineMs } from '../../../domain/rentals/provisioning.js';

const MINUTE = 60_000;

describe('how long a machine may take to come up (decision 76)', () => {
  it('is what is usual at its upstream, or twice its own longest boot time, up to an hour and a half', () => {
    const usual = 20 * MINUTE;
    assert.equal(provisionDeadlineMs(usual, null), usual);
    assert.equal(provisionDeadlineMs(usual, 1 * MINUTE), usual);
    assert.equal(provisionDeadlineMs(usual, 10 * MINUTE), usual);
    assert.equal(provisionDeadlineMs(usual, 30 * MINUTE), 60 * MINUTE);
    assert.equal(provisionDeadlineMs(usual, 24 * 60 * MINUTE), 90 * MINUTE);
  });
});
