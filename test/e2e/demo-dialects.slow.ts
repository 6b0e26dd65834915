import assert from 'node:assert/strict';
import { startStack, type Stack } from '../../lab/stack/start.js';
import { parts } from '../../tools/demo/story.js';
import { DemoPlace } from './demo-place.js';

describe('npm run demo -- --dialect', function () {
  this.timeout(400_000);
  // Shadeform's is the one that the demo tells by itself (demo.slow.ts).
  const dialects = Object.keys(parts).filter((each) => each !== 'shadeform');
  let place: DemoPlace;
  let stack: Stack;

  before(async () => {
    place = await DemoPlace.find({ LAB_PROVIDER_DIALECTS: dialects.join(',') });
    stack = await startStack({ settings: place.settings, log: () => undefined });
  });
  after(async () => {
    await place.end();
    await stack.stop();
    place.remove();
  });

  /** The dialects in which machines were bought, in order. */
  async function bought(): Promise<string[]> {
    const answer = await fetch(`${stack.urls.provider}/lab/state`);
    const { pods } = (await answer.json()) as { pods: { dialect?: string; status: string }[] };
    assert.ok(pods.every(({ status }) => status === 'deleted'));
    return pods.map(({ dialect = 'none' }) => dialect);
  }

  for (const dialect of dialects) {
    it(`${dialect} plays the whole story on a stack that runs, from the sign-in to the last cent`, async () => {
      const before = await bought();
      const { exitCode, output } = await place.play(['--dialect', dialect]);
      assert.equal(exitCode, 0, output);
      assert.match(output, /All of it held\.\n/);
      assert.match(output, new RegExp(`Rent ${parts[dialect]!.wish.words}`));
      // Each sells alone what its part rents.
      assert.deepEqual(await bought(), [...before, dialect]);
    });
  }
});
