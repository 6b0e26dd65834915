import assert from 'node:assert/strict';
import { killApart } from './campaign.js';
import { dialects } from './world/dialects.js';

/** Real milliseconds: a run that takes longer hangs. A run takes a minute and a half on an idle core. */
const LIMIT_MS = 900_000;

describe('a worker that is killed in each phase of a rental', function () {
  this.timeout(LIMIT_MS + 60_000);

  for (const { name: dialect } of Object.values(dialects)) {
    it(`buys one machine at most and leaves none, at upstreams that behave like ${dialect}`, async () => {
      const { violations, phases, killed, rentals } = await killApart({ seed: 5, dialect }, LIMIT_MS);
      assert.deepEqual(violations, []);
      assert.ok(phases.length >= 5, phases.join('; '));
      assert.deepEqual(killed, phases);
      assert.ok(rentals >= 2 * phases.length, `${rentals} rentals`);
    });
  }
});
