import assert from 'node:assert/strict';
import { judgeIdle, type GuardState } from '../../../domain/rentals/idle-guard.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-11-01T00:00:00Z');

describe('a guard whose clock ran ahead and was set back', () => {
  const guard = { minutes: 15, keepAliveUntilMs: null };
  const ahead = { idleSinceMs: START + 6 * HOUR, seenMs: START + 6 * HOUR, stopsAtMs: START + 7 * HOUR };
  const stoppedAfter = (isUsedFirst: boolean): number => {
    let state: GuardState = ahead;
    for (let n = 1; n <= 60; n += 1) {
      const firstMs = START + n * MINUTE;
      const minute = { firstMs, lastMs: firstMs + 50 * SECOND, isIdle: n > 1 || !isUsedFirst };
      const verdict = judgeIdle(guard, state, minute, minute.lastMs);
      if (verdict.act === 'stop') return n;
      state = verdict;
    }
    return Infinity;
  };

  for (const isUsedFirst of [false, true]) {
    it(`counts on from the time that is now, ${isUsedFirst ? 'after use' : 'idle at once'}`, () => {
      const minutes = stoppedAfter(isUsedFirst);
      assert.ok(minutes >= guard.minutes && minutes <= guard.minutes + 3, `${minutes} minutes`);
    });
  }
});
