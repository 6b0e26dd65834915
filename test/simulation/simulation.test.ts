import assert from 'node:assert/strict';
import { repeatBy, runApart, seedOfCommit, shortRun } from './campaign.js';

/** Real milliseconds: a run that takes longer hangs. */
const LIMIT_MS = 300_000;
/** A seed that nobody chose, or the one that whoever runs the tests names. */
const fresh = Number(process.env['SIMULATION_SEED'] ?? seedOfCommit());

async function isClean(seed: number): Promise<void> {
  const wanted = { ...shortRun, seed };
  const { violations } = await runApart(wanted, LIMIT_MS);
  assert.deepEqual(violations, [], repeatBy(wanted));
}

describe('the simulated service', function () {
  // A run takes some 20 s on two idle cores. A machine may stand still meanwhile.
  this.timeout(2 * LIMIT_MS);

  it('does the same, byte for byte, when a seed is repeated', async () => {
    const first = await runApart({ ...shortRun, seed: 7 }, LIMIT_MS);
    const second = await runApart({ ...shortRun, seed: 7 }, LIMIT_MS);
    assert.deepEqual(first.violations, [], repeatBy({ ...shortRun, seed: 7 }));
    assert.equal(second.hash, first.hash);
    assert.equal(second.lines, first.lines);
  });

  for (const seed of [2, 24, fresh]) {
    it(`breaks no rule of the oracle under seed ${seed}`, () => isClean(seed));
  }
});
