import assert from 'node:assert/strict';
import { nextTickMs } from '../../../domain/metering/instants.js';

const alone = { shard: 0, shards: 1 };

describe('the instants of ticks', () => {
  it('are each second, for the first tick the coming one', () => {
    assert.equal(nextTickMs(alone, undefined, 10_400), 11_000);
    assert.equal(nextTickMs(alone, undefined, 11_000), 12_000);
    assert.equal(nextTickMs(alone, 11_000, 11_300), 12_000);
    assert.equal(nextTickMs(alone, 11_000, 11_999), 12_000);
  });

  it('lie for each shard at another part of the second', () => {
    const next = (shard: number) => nextTickMs({ shard, shards: 4 }, undefined, 10_400);
    assert.deepEqual([0, 1, 2, 3].map(next), [11_000, 11_250, 10_500, 10_750]);
  });

  it('are over when a tick took longer: the newest of them is due at once, and those in between do not queue up', () => {
    assert.equal(nextTickMs(alone, 11_000, 12_000), 12_000);
    assert.equal(nextTickMs(alone, 11_000, 14_700), 14_000);
    assert.equal(nextTickMs(alone, 14_000, 14_900), 15_000);
    assert.equal(nextTickMs({ shard: 1, shards: 2 }, 11_500, 13_100), 12_500);
  });

  it('go on from a clock that was set back', () => {
    assert.equal(nextTickMs(alone, 11_000, 5_300), 6_000);
  });
});
