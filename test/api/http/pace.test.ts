import assert from 'node:assert/strict';
import { defaultPace, Pace } from '../../../api/http/pace.js';

const LOOK_MS = 5_000;

/**
 * Looks each 5 s at a reader who takes whatever `takenAt` says.
 * @returns after how many seconds they are cut; undefined when they are not within `seconds`
 */
function cutAfterS(
  seconds: number,
  takenAt: (second: number) => number,
  isWaiting = true,
): number | undefined {
  const pace = new Pace(defaultPace);
  for (let atMs = 0; atMs <= seconds * 1_000; atMs += LOOK_MS) {
    const look = { elapsedMs: LOOK_MS, takenBytes: takenAt(atMs / 1_000), isWaiting };
    if (!pace.note(look)) return atMs / 1_000;
  }
  return undefined;
}

describe('the pace of a reader (decision 129)', () => {
  it('cuts one that reads nothing after 30 s, and one that reads a byte a second', () => {
    assert.equal(
      cutAfterS(100, () => 4_000_000),
      30,
    );
    assert.equal(
      cutAfterS(100, (second) => second),
      30,
    );
  });

  it('cuts one that stops later, and one that is a byte short in a stretch', () => {
    assert.equal(
      cutAfterS(1_000, (second) => Math.min(second, 60) * 5_000),
      90,
    );
    assert.equal(
      cutAfterS(1_000, (second) => Math.floor(second / 30) * (16 * 1024 - 1)),
      30,
    );
  });

  it('lets 10 MB at 5 KB/s pass, also where the kernel tells of them by pieces of 100 KB', () => {
    assert.equal(
      cutAfterS(2_000, (second) => second * 5_000),
      undefined,
    );
    assert.equal(
      cutAfterS(2_000, (second) => Math.floor((second * 5_000) / 100_000) * 100_000),
      undefined,
    );
  });

  it('counts no time in which nothing waits for the reader', () => {
    assert.equal(
      cutAfterS(10_000, () => 0, false),
      undefined,
    );
  });
});
