import assert from 'node:assert/strict';
import { idleFrom } from './use.js';

describe('the use of a simulated machine', () => {
  const stretches = [
    { fromMs: 10, kind: 'busy' },
    { fromMs: 20, kind: 'idle' },
    { fromMs: 30, kind: 'silent' },
    { fromMs: 40, kind: 'idle' },
  ] as const;

  it('tells since when, or from when on, it is idle', () => {
    assert.deepEqual(
      [0, 19, 20, 29, 30, 40, 99].map((nowMs) => idleFrom(stretches, nowMs)),
      [20, 20, 20, 20, 40, 40, 40],
    );
    assert.equal(idleFrom(stretches.slice(0, 3), 30), Infinity);
    assert.equal(idleFrom([], 0), Infinity);
  });
});
