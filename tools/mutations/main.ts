import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { mutations } from './plan.js';
import { PlantedCopy, type Mutation } from './planted-copy.js';
import { sampleOf } from './sample.js';

/**
 * `npm run mutate:money`: makes one line of the code wrong at a time, in a copy of the sources, and runs the tests that
 * must notice it. `-- 2` makes two only, from another number on with each commit, and `-- 2 --from 17` the two from the 17th
 * on. Ends with 1 when a mutation survives without a reason, when one with a reason is noticed after all, or when a line
 * does not exist any more.
 */
const TEST_LIMIT_MS = 300_000;

const { values, positionals } = parseArgs({ options: { from: { type: 'string' } }, allowPositionals: true });
const sample = sampleOf(mutations, positionals[0], values.from);
const copy = new PlantedCopy();

let wrong = 0;
/** Sets of tests that passed on the unchanged sources: a test that fails anyway notices nothing. */
const sound = new Set<string>();
for (const { number, one: mutation } of sample) {
  const verdict = await judge(mutation);
  if (!verdict.ok) wrong += 1;
  console.log(
    `${verdict.ok ? 'ok  ' : 'NOT '} ${number}/${mutations.length} ${mutation.file}: ${verdict.text}`,
  );
}
console.log(
  `mutations: ${sample.length} made, ${wrong} not as they should be (npm run mutate:money -- ${sample.length} --from ${sample[0]?.number})`,
);
process.exit(wrong === 0 ? 0 : 1);

async function judge(mutation: Mutation): Promise<{ ok: boolean; text: string }> {
  const set = mutation.tests.join(' ');
  if (!sound.has(set) && !(await pass(mutation.tests))) {
    return { ok: false, text: `its tests fail without it: ${set}` };
  }
  sound.add(set);
  try {
    const survived = await copy.with(mutation, () => pass(mutation.tests));
    const line = mutation.from.trim().slice(0, 80);
    if (mutation.survives === undefined)
      return { ok: !survived, text: `${survived ? 'SURVIVED' : 'seen'}: ${line}` };
    return { ok: survived, text: `${survived ? 'survives, as told' : 'is seen after all'}: ${line}` };
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error) };
  }
}

/** Tells whether these tests pass, which they must not. A run that does not end counts as failed. */
function pass(tests: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('node', ['node_modules/mocha/bin/mocha.js', '--bail', ...tests], {
      cwd: copy.folder,
      stdio: 'ignore',
      timeout: TEST_LIMIT_MS,
      killSignal: 'SIGTERM',
    });
    child.once('exit', (code) => resolve(code === 0));
  });
}
