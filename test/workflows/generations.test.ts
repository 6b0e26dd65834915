import assert from 'node:assert/strict';
import { ActivityFailure, CancelledFailure } from '@temporalio/common';
import { goOnAfter, pauseMs } from '../../workflows/generations.js';

describe('a run that goes on for ever', () => {
  it('throws a fault of its own on, and a cancellation', () => {
    const fault = new TypeError('nobody expects this');
    assert.throws(() => goOnAfter(fault), fault);
    const cancelled = new ActivityFailure(
      'cancelled',
      'runMeter',
      '1',
      'NON_RETRYABLE_FAILURE',
      'worker',
      new CancelledFailure('cancelled'),
    );
    assert.throws(() => goOnAfter(cancelled), cancelled);
  });

  it('pauses from 5 seconds to 2 minutes, and no longer, however often it fails', () => {
    assert.deepEqual([1, 2, 3].map(pauseMs), [5_000, 10_000, 20_000]);
    for (const failures of [6, 100, 5_000]) assert.equal(pauseMs(failures), 120_000);
  });
});
