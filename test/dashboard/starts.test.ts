import assert from 'node:assert/strict';
import { countedShare } from '../../clients/dashboard/src/pages/rent/starts.js';

describe('a share in the words of people', () => {
  it('is counted in the easiest parts that come near it', () => {
    for (const [share, expected] of [
      [1, '10 of 10'],
      [0.999, '99 of 100'],
      [0.98, '49 of 50'],
      [0.951, '19 of 20'],
      [0.9, '9 of 10'],
      [0.75, '3 of 4'],
      [0.66, '2 of 3'],
      [0.5, '1 of 2'],
      [0.387, '2 of 5'],
      [0.004, '0 of 10'],
      [0, '0 of 10'],
    ] as const) {
      const { count, of } = countedShare(share);
      assert.equal(`${count} of ${of}`, expected, String(share));
    }
  });

  it('is never further off than the parts allow, and never all of what was not all', () => {
    for (let share = 0; share < 1; share += 0.001) {
      const { count, of } = countedShare(share);
      assert.ok(Math.abs(count / of - share) <= 0.015, `${share}: ${count} of ${of}`);
      assert.ok(count < of, String(share));
    }
  });
});
