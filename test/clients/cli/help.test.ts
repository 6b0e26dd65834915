import assert from 'node:assert/strict';
import { CommanderError, type Command } from 'commander';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import type { Act } from '../../../clients/cli/src/command.js';
import { examples } from '../../../clients/cli/src/examples.js';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { allOf, createProgram, pathOf } from '../../../clients/cli/src/program.js';
import { GpuUser } from './support/gpu.js';

const user = new GpuUser('http://127.0.0.1:1');

/** Reads a command line as `gpu` does, and does nothing. @returns the command that would run */
async function read(words: readonly string[]): Promise<string | undefined> {
  const state: { path: string | undefined } = { path: undefined };
  const act: Act =
    () =>
    async (...given) => {
      state.path = pathOf(given.at(-1) as Command);
      return Promise.resolve();
    };
  await createProgram(act, { stdout: new PassThrough() }).parseAsync([...words], { from: 'user' });
  return state.path;
}

const idle: Act = () => () => Promise.resolve();
const commands = allOf(createProgram(idle, { stdout: new PassThrough() })).map(pathOf);
/** Those that do nothing by themselves. */
const groups = await groupsOf(commands);

async function groupsOf(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const error: unknown = await read(path.split(' ')).catch((failure: unknown) => failure);
      return error instanceof CommanderError && error.code === 'commander.help' ? [path] : [];
    }),
  );
  return found.flat();
}

describe('the help of gpu', () => {
  it('has each command in the table of docs/cli.md', () => {
    const table = readFileSync('docs/cli.md', 'utf8')
      .split('\n## ')
      .find((part) => part.startsWith('Commands'));
    const told = new Set([...(table ?? '').matchAll(/`([a-z-]+)/g)].map(([, name]) => name));
    // Shells call the hidden one.
    told.add('completion-words');
    const roots = new Set(commands.map((path) => path.split(' ')[0]!));
    assert.deepEqual(
      [...roots].filter((name) => !told.has(name)),
      [],
    );
  });

  it('shows examples of each command, which it reads as they are', async () => {
    assert.ok(commands.length > 40 && groups.includes('webhooks'));
    const unknown = Object.keys(examples).filter((path) => !commands.includes(path));
    assert.deepEqual(unknown, [], 'each is of a command');
    for (const path of commands.filter((each) => !groups.includes(each))) {
      const { code, out } = await user.type(`${path} --help`, { columns: 100 });
      assert.equal(code, 0, path);
      const shown = out.split(/\nExamples?:\n/)[1] ?? '';
      const lines = shown
        .replaceAll(' \\\n      ', ' ')
        .split('\n')
        .filter((line) => /^ {2}[^#]/.test(line));
      assert.ok(lines.length > 0, `${path} shows no example`);
      for (const line of lines) {
        // What stands around it belongs to the shell.
        const words = /^ {2}(?:.*\()?gpu (.*?)(?: [<>|] .*|\))?$/.exec(line)?.[1]?.split(' ') ?? [];
        assert.equal(await read(words), path, line);
      }
    }
  });

  it('names no option whose value is a secret', () => {
    const taking = allOf(createProgram(idle, { stdout: new PassThrough() })).flatMap((command) =>
      command.options
        .filter(({ required, optional }) => required || optional)
        .map(({ long }) => `${pathOf(command)} ${long ?? ''}`),
    );
    assert.ok(taking.includes('rent --ssh-key'));
    // Ids, and what a caller makes up.
    const named = taking.filter((each) => /key|secret|token|password|code$/.test(each.split(' --')[1] ?? ''));
    assert.deepEqual(
      named.filter((each) => !/--(ssh|idempotency)-key$/.test(each)),
      [],
    );
  });

  it('breaks an example where it is too wide, so that a shell goes on', async () => {
    const { out } = await user.type('rent --help', { columns: 40 });
    assert.ok(out.includes('\n  gpu rent h100-80gb --gpus 8 --hours \\\n      2 --name training\n'), out);
  });

  it('is shown for a group of commands of which none is named, and is no failure', async () => {
    for (const line of ['', ...groups]) {
      const words = line.split(' ').filter(Boolean);
      const { code, out, err } = await user.run(words);
      assert.deepEqual([code, err], [exitCodes.done, ''], line);
      assert.equal(out, (await user.run([...words, '--help'])).out);
      const json = await user.run([...words, '--json']);
      assert.deepEqual([json.code, json.out], [exitCodes.usage, ''], 'a program named no command');
    }
  });
});
