import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mutations, type Mutation } from './plan.js';

/**
 * `npm run mutate:money`: makes one line of the code wrong at a time, in a copy of the sources, and runs the tests that
 * must notice it. `-- 2` runs the first two only. Ends with 1 when a mutation survives without a reason, when one with
 * a reason is noticed after all, or when a line does not exist any more.
 */
const TEST_LIMIT_MS = 300_000;

const root = path.resolve(import.meta.dirname, '../..');
const copied = [
  'activities',
  'adapters',
  'api',
  'config',
  'config.ts',
  'domain',
  'lab',
  'migrations',
  'money',
  'ops',
  'test',
  'tools',
  'worker',
  'workflows',
];
const asked = Number(process.argv[2] ?? mutations.length);
const copy = mkdtempSync(path.join(tmpdir(), 'gpu-rental-mutations-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

for (const name of [...copied, 'package.json', 'tsconfig.json', '.mocharc.json']) {
  cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
}
symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));

let wrong = 0;
/** Sets of tests that passed on the unchanged sources: a test that fails anyway notices nothing. */
const sound = new Set<string>();
for (const [index, mutation] of mutations.slice(0, asked).entries()) {
  const verdict = await judge(mutation);
  if (!verdict.ok) wrong += 1;
  console.log(
    `${verdict.ok ? 'ok  ' : 'NOT '} ${index + 1}/${Math.min(asked, mutations.length)} ${mutation.file}: ${verdict.text}`,
  );
}
console.log(`mutations: ${Math.min(asked, mutations.length)} made, ${wrong} not as they should be`);
process.exit(wrong === 0 ? 0 : 1);

async function judge(mutation: Mutation): Promise<{ ok: boolean; text: string }> {
  const file = path.join(copy, mutation.file);
  const source = readFileSync(file, 'utf8');
  if (source.split(mutation.from).length !== 2) {
    return { ok: false, text: `this line does not stand there once: ${mutation.from}` };
  }
  const set = mutation.tests.join(' ');
  if (!sound.has(set) && !(await pass(mutation.tests))) {
    return { ok: false, text: `its tests fail without it: ${set}` };
  }
  sound.add(set);
  writeFileSync(
    file,
    source.replace(mutation.from, () => mutation.to),
  );
  try {
    const survived = await pass(mutation.tests);
    const line = mutation.from.trim().slice(0, 80);
    if (mutation.survives === undefined)
      return { ok: !survived, text: `${survived ? 'SURVIVED' : 'seen'}: ${line}` };
    return { ok: survived, text: `${survived ? 'survives, as told' : 'is seen after all'}: ${line}` };
  } finally {
    writeFileSync(file, source);
  }
}

/** Tells whether these tests pass, which they must not. A run that does not end counts as failed. */
function pass(tests: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('node', ['node_modules/mocha/bin/mocha.js', '--bail', ...tests], {
      cwd: copy,
      stdio: 'ignore',
      timeout: TEST_LIMIT_MS,
      killSignal: 'SIGTERM',
    });
    child.once('exit', (code) => resolve(code === 0));
  });
}
