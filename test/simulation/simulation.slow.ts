import assert from 'node:assert/strict';
import { repeatBy, runApart, seedOfCommit, shortRun } from './campaign.js';
import type { RunReport } from './run.js';

/** Real milliseconds: a run that takes longer hangs. */
const LIMIT_MS = 300_000;
/** A seed that nobody chose, or the one that whoever runs the tests names. */
const fresh = Number(process.env['SIMULATION_SEED'] ?? seedOfCommit());

describe('the simulated service', function () {
  // A run takes some 20 s on two idle cores. A machine may stand still meanwhile.
  this.timeout(2 * LIMIT_MS);

  /** What was run, by its seed. */
  const reports = new Map<number, RunReport>();
  const runOnce = async (seed: number): Promise<RunReport> => {
    const report = reports.get(seed) ?? (await runApart({ ...shortRun, seed }, LIMIT_MS));
    reports.set(seed, report);
    return report;
  };

  for (const seed of [7, fresh]) {
    it(`breaks no rule of the oracle under seed ${seed}`, async () => {
      const wanted = { ...shortRun, seed };
      const { violations, counts } = await runOnce(seed);
      assert.deepEqual(violations, [], repeatBy(wanted));
      // The walk of the beginning makes a root, and so does each night.
      assert.equal(counts['nights'], 3, repeatBy(wanted));
      const { seals = 0 } = counts;
      assert.ok(seals >= 20, `${seals} seals: ${repeatBy(wanted)}`);
    });
  }

  // The campaign runs one seed in ten twice.
  it('does the same, byte for byte, when a seed is repeated', async () => {
    const first = await runOnce(7);
    const second = await runApart({ ...shortRun, seed: 7 }, LIMIT_MS);
    assert.equal(second.hash, first.hash);
    assert.equal(second.lines, first.lines);
  });
});
