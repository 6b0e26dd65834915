import assert from 'node:assert/strict';
import { CommanderError, type Command } from 'commander';
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
  it('shows examples of each command', async () => {
    assert.ok(commands.length > 40 && groups.includes('webhooks'));
    assert.deepEqual(
      Object.keys(examples).toSorted(),
      commands.filter((path) => !groups.includes(path)).toSorted(),
    );
    for (const [path, lines] of Object.entries(examples)) {
      const { code, out } = await user.type(`${path} --help`, { columns: 100 });
      assert.equal(code, 0, path);
      assert.ok(out.endsWith(`\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`), out);
    }
  });

  it('shows what can be typed: the command reads each example', async () => {
    for (const [path, lines] of Object.entries(examples)) {
      for (const line of lines) {
        // What stands around it belongs to the shell.
        const words = /(?:^|\()gpu (.*?)(?: [<>|] .*|\))?$/.exec(line)?.[1]?.split(' ') ?? [];
        assert.equal(await read(words), path, line);
      }
    }
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
