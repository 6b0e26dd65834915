import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  argsToRun,
  builtProgram,
  keptProgram,
  ourPrograms,
  type ProgramSources,
} from '../../../lab/programs/built.js';

describe('the built programs', () => {
  let of: ProgramSources;
  beforeEach(() => {
    of = {
      projectDir: mkdtempSync(join(tmpdir(), 'gpu-rental-built-')),
      entries: ['app/main.ts', 'other.ts'],
    };
    mkdirSync(join(of.projectDir, 'node_modules'));
    write(
      'app/main.ts',
      `import { word } from '../word.js';\nconsole.log(word, import.meta.url, process.argv[2]);\n`,
    );
    write('word.ts', `export const word: string = 'first';\n`);
    write('other.ts', `import { word } from './word.js';\nconsole.log('other', word);\n`);
  });
  afterEach(() => rmSync(of.projectDir, { recursive: true, force: true }));

  function write(name: string, text: string): void {
    mkdirSync(dirname(join(of.projectDir, name)), { recursive: true });
    writeFileSync(join(of.projectDir, name), text);
  }

  function run(...args: string[]): { out: string; err: string } {
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      ...{ cwd: of.projectDir, encoding: 'utf8', timeout: 60_000 },
    });
    return { out: stdout.trim(), err: stderr };
  }

  const buildsDir = (): string => join(of.projectDir, 'node_modules', '.cache', 'gpu-rental-programs');
  const builds = (): string[] => readdirSync(buildsDir()).filter((name) => name !== 'newest.json');

  it('do what their sources do, and know their place as the sources do', async () => {
    const args = await argsToRun('app/main.ts', of);
    assert.ok(!args.includes('tsx'));
    assert.deepEqual(run(...args, 'told'), {
      out: `first ${pathToFileURL(join(of.projectDir, 'app', 'main.ts')).href} told`,
      err: '',
    });
    assert.equal(run(await builtProgram('other.ts', of)).out, 'other first');
  });

  it('have in them what a file of settings puts in the place of a package, and are built anew when it changes', async () => {
    const inPlaceOf = (name: string): void =>
      write('special.json', JSON.stringify({ compilerOptions: { paths: { words: [name] } } }));
    inPlaceOf('./word.ts');
    write('other.ts', `import { word } from 'words';\nconsole.log('other', word);\n`);
    write('else.ts', `export const word: string = 'else';\n`);
    const special = { ...of, tsconfig: 'special.json' };
    assert.equal(run(await builtProgram('other.ts', special)).out, 'other first');
    inPlaceOf('./else.ts');
    assert.equal(run(await builtProgram('other.ts', special)).out, 'other else');
  });

  it('are built once for the same sources, and anew for a changed byte of any', async () => {
    const file = await builtProgram('app/main.ts', of);
    const { mtimeMs } = statSync(file);
    assert.equal(await builtProgram('app/main.ts', of), file);
    assert.equal(statSync(file).mtimeMs, mtimeMs);
    write('word.ts', `export const word: string = 'second';\n`);
    const changed = await builtProgram('app/main.ts', of);
    assert.notEqual(changed, file);
    assert.match(run(changed).out, /^second /);
    write('word.ts', `export const word: string = 'first';\n`);
    assert.equal(await builtProgram('app/main.ts', of), file);
    assert.deepEqual(builds().length, 2);
  });

  it('are built anew for a changed source that is no TypeScript', async () => {
    write('plain.mjs', `export const plain = 'plain one';\n`);
    write('other.ts', `import { plain } from './plain.mjs';\nconsole.log(plain);\n`);
    assert.equal(run(await builtProgram('other.ts', of)).out, 'plain one');
    write('plain.mjs', `export const plain = 'plain two';\n`);
    assert.equal(run(await builtProgram('other.ts', of)).out, 'plain two');
  });

  it('are built once by a process whose parts all ask at once', async () => {
    const files = await Promise.all(of.entries.map((entry) => builtProgram(entry, of)));
    assert.deepEqual(
      files.map((file) => existsSync(file)),
      [true, true],
    );
    assert.equal(builds().length, 1);
  });

  it('keep the names of functions where two files use the same: Temporal knows workflows by them', async () => {
    write('app/word.ts', `function rental() { return 1; }\nexport const word = rental;\n`);
    write(
      'app/main.ts',
      `import { word } from './word.js';\nfunction rental() { return 2; }\nconsole.log(word.name, rental.name);\n`,
    );
    assert.equal(run(await builtProgram('app/main.ts', of)).out, 'rental rental');
  });

  it('tell lines of the sources where they fail', async () => {
    write('app/main.ts', `interface Unused { a: 1 }\n\nthrow new Error('here');\n`);
    assert.match(run(...(await argsToRun('app/main.ts', of))).err, /app\/main\.ts:3/);
  });

  it('are not built of faulty sources, and those built before are not taken for them', async () => {
    await builtProgram('app/main.ts', of);
    write('word.ts', `export const word = ;\n`);
    await assert.rejects(argsToRun('app/main.ts', of), /word\.ts:1:20: ERROR: Unexpected ";"/);
    assert.equal(builds().length, 1);
  });

  it('are told without a build where those of the present sources are kept', async () => {
    assert.equal(keptProgram('app/main.ts', of), undefined);
    const file = await builtProgram('app/main.ts', of);
    assert.equal(keptProgram('app/main.ts', of), file);
    write('word.ts', `export const word: string = 'second';\n`);
    assert.equal(keptProgram('app/main.ts', of), undefined);
    assert.equal(builds().length, 1);
  });

  it('have the packages of the workspaces in them, whose sources are TypeScript too', async () => {
    const exported = { name: '@gpu-rental/word', type: 'module', exports: { '.': './word.ts' } };
    write('node_modules/@gpu-rental/word/package.json', JSON.stringify(exported));
    write('node_modules/@gpu-rental/word/word.ts', `export const word: string = 'of a package';\n`);
    write('app/main.ts', `import { word } from '@gpu-rental/word';\nconsole.log(word);\n`);
    assert.equal(run(await builtProgram('app/main.ts', of)).out, 'of a package');
  });

  it('are those of its own folder in a copy that brought the builds of its original', async () => {
    await builtProgram('app/main.ts', of);
    const copy = mkdtempSync(join(tmpdir(), 'gpu-rental-copied-'));
    try {
      cpSync(of.projectDir, copy, { recursive: true });
      const args = await argsToRun('app/main.ts', { ...of, projectDir: copy });
      assert.equal(run(...args).out, `first ${pathToFileURL(join(copy, 'app', 'main.ts')).href} undefined`);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  it('run under tsx where no build can be kept', async () => {
    writeFileSync(join(of.projectDir, 'node_modules', '.cache'), 'a file in the way');
    assert.deepEqual(await argsToRun('app/main.ts', of), ['--import', 'tsx', 'app/main.ts']);
  });

  it('stay for an hour and three builds, as another process may be about to start one', async () => {
    const first = dirname(dirname(await builtProgram('app/main.ts', of)));
    for (const word of ['b', 'c', 'd']) {
      write('word.ts', `export const word: string = '${word}';\n`);
      await builtProgram('app/main.ts', of);
    }
    assert.equal(builds().length, 4);
    const twoHoursAgo = Date.now() / 1_000 - 7_200;
    utimesSync(first, twoHoursAgo, twoHoursAgo);
    write('word.ts', `export const word: string = 'e';\n`);
    await builtProgram('app/main.ts', of);
    assert.equal(builds().length, 4);
    assert.ok(!existsSync(first));
  });
});

describe('lab/run.mjs', () => {
  const { projectDir } = ourPrograms;
  const run = (...words: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, ['lab/run.mjs', ...words], {
      ...{ cwd: projectDir, encoding: 'utf8', timeout: 60_000 },
    });

  it('runs a program with its arguments, whether it is built or kept', () => {
    for (const time of ['first', 'second']) {
      const { status, stdout, stderr } = run('clients/cli/src/main.ts', '--version');
      assert.equal(status, 0, stderr);
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/, time);
    }
  });

  it('names what it can not run', () => {
    const { status, stderr } = run('lab/no-such.ts');
    assert.equal(status, 1);
    assert.match(stderr, /lab\/no-such\.ts is none of the programs that are built/);
  });
});
