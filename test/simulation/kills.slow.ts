import assert from 'node:assert/strict';
import { killApart } from './campaign.js';
import { killPoints } from './kills/points.js';

/** Real milliseconds: a run that takes longer hangs. A run takes a minute and a half on an idle core. */
const LIMIT_MS = 900_000;

describe('a worker that is killed in each phase of a rental', function () {
  this.timeout(LIMIT_MS + 60_000);

  for (const dialect of ['lambda', 'vast'] as const) {
    it(`buys one machine at most and leaves none, at upstreams that behave like ${dialect}`, async () => {
      const { violations, killed, rentals } = await killApart({ seed: 5, dialect }, LIMIT_MS);
      assert.deepEqual(violations, []);
      const phases = killPoints.map(({ phase }) => phase);
      assert.deepEqual(killed, phases);
      assert.ok(rentals >= 2 * phases.length, `${rentals} rentals`);
    });
  }
});
