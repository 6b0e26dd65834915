import assert from 'node:assert/strict';
import { repeatBy, runApart, seedOfCommit, shortRun } from './campaign.js';

/** Real milliseconds: a run that takes longer hangs. */
const LIMIT_MS = 300_000;

describe('the simulated service', function () {
  // A run takes some 20 s on two idle cores. A machine may stand still meanwhile.
  this.timeout(2 * LIMIT_MS);

  // A known seed, run twice, is the campaign in tools/slow-runs/plan.ts.
  it('breaks no rule of the oracle under a seed that nobody chose', async () => {
    const wanted = { ...shortRun, seed: Number(process.env['SIMULATION_SEED'] ?? seedOfCommit()) };
    const { violations, counts } = await runApart(wanted, LIMIT_MS);
    assert.deepEqual(violations, [], repeatBy(wanted));
    // The walk of the beginning makes a root, and so does each night.
    assert.equal(counts['nights'], 3, repeatBy(wanted));
    const { seals = 0 } = counts;
    assert.ok(seals >= 20, `${seals} seals: ${repeatBy(wanted)}`);
  });
});
