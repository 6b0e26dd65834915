import assert from 'node:assert/strict';
import { repeatBy, runApart, shortRun } from './campaign.js';

/** Real milliseconds: a run that takes longer hangs. */
const LIMIT_MS = 300_000;

describe('the simulated service', function () {
  // A run takes some 7 s on two idle cores. A machine may stand still meanwhile.
  this.timeout(2 * LIMIT_MS);

  // The campaign runs one seed in ten twice, and simulation.slow.ts runs longer ones.
  it('does the same, byte for byte, when a seed is repeated', async () => {
    const wanted = { ...shortRun, days: shortRun.days / 3, acts: 3, seed: 7 };
    const first = await runApart(wanted, LIMIT_MS);
    const second = await runApart(wanted, LIMIT_MS);
    assert.deepEqual(first.violations, [], repeatBy(wanted));
    assert.equal(second.hash, first.hash);
    assert.equal(second.lines, first.lines);
  });
});
