import assert from 'node:assert/strict';
import { medianOf, medianOfTurns } from '../../bench/median.js';

/** Numbers from 0 to 1 that are the same in each run (a linear congruential generator). */
function steadyRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

describe('the median of a benchmark’s turns', () => {
  it('is the middle turn, or the mean of the middle two', () => {
    assert.equal(medianOf([3, 1, 2]), 2);
    assert.equal(medianOf([4, 1, 2, 3]), 2.5);
    assert.equal(medianOf([7]), 7);
  });

  it('stands within an interval that outliers do not widen', () => {
    const turns = [1.1, 1.0, 1.2, 1.1, 1.0, 9.0, 1.1, 1.2, 1.1];
    const { median, low, high, turns: count } = medianOfTurns(turns, steadyRandom());
    assert.deepEqual([median, count], [1.1, 9]);
    assert.ok(low >= 1.0 && low <= median, `${low}`);
    assert.ok(high >= median && high <= 1.2, `${high}`);
  });

  it('has a wider interval for turns that agree less', () => {
    const width = (turns: readonly number[]): number => {
      const { low, high } = medianOfTurns(turns, steadyRandom());
      return high - low;
    };
    assert.ok(width([0.5, 2, 1, 0.7, 1.6, 0.9, 1.8]) > width([0.99, 1.01, 1, 1.02, 0.98, 1, 1.01]));
  });

  it('has no interval where there is one turn', () => {
    assert.deepEqual(medianOfTurns([1.3], steadyRandom()), { median: 1.3, low: 1.3, high: 1.3, turns: 1 });
  });
});
