import assert from 'node:assert/strict';
import { repeatBy, runApart, seedOfCommit, shortRun } from './campaign.js';

/** Real milliseconds: a run that takes longer hangs. */
const LIMIT_MS = 300_000;
/** A seed that nobody chose, or the one that whoever runs the tests names. */
const fresh = Number(process.env['SIMULATION_SEED'] ?? seedOfCommit());

describe('the simulated service', function () {
  // A run takes some 20 s on two idle cores. A machine may stand still meanwhile.
  this.timeout(2 * LIMIT_MS);

  for (const seed of [2, 7, 24, fresh]) {
    it(`breaks no rule of the oracle under seed ${seed}`, async () => {
      const wanted = { ...shortRun, seed };
      const { violations } = await runApart(wanted, LIMIT_MS);
      assert.deepEqual(violations, [], repeatBy(wanted));
    });
  }
});
