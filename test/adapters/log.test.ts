import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const log = JSON.stringify(fileURLToPath(new URL('../../adapters/log.ts', import.meta.url)));

/** A program that logs to a pipe, as under a collector of logs. */
function start(program: string, output: 'pipe' | number = 'pipe'): ChildProcess {
  const code = `import { createLog } from ${log};
    const log = createLog({ level: 'info', service: 'test' });
    ${program}`;
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', code], {
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
}

async function linesOf(child: ChildProcess): Promise<string[]> {
  const all = await text(child.stdout!);
  return all
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
}

describe('the log of a program', () => {
  it('is written without being asked for', async () => {
    const child = start("log.info('begun'); setInterval(() => {}, 1_000);");
    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
    assert.match(chunk.toString('utf8'), /"msg":"begun"/);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('is whole when the program exits, or dies of an error', async () => {
    for (const end of ['process.exit(3);', "throw new Error('the end of a test');"]) {
      const child = start(`for (let nth = 0; nth < 5; nth += 1) log.info(String(nth)); ${end}`);
      assert.deepEqual(await linesOf(child), ['0', '1', '2', '3', '4']);
    }
  });

  it('does not stop the program when nobody reads it', async () => {
    // A pipe holds 64 KiB.
    const child = start(`for (let nth = 0; nth < 5_000; nth += 1) log.info('x'.repeat(100));
      setTimeout(() => process.send('alive'), 300);`);
    const [word] = (await once(child, 'message')) as [string];
    assert.equal(word, 'alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('neither stops the program nor holds up its end when its disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    const child = start(
      `let nth = 0;
      setInterval(() => {
        log.info(String(nth));
        if (++nth === 10) process.send('alive', () => process.exit(3));
      }, 50);`,
      full,
    );
    try {
      const exited = once(child, 'exit');
      const [word] = (await Promise.race([once(child, 'message'), exited])) as [unknown];
      assert.equal(word, 'alive');
      const killed = setTimeout(() => child.kill('SIGKILL'), 20_000);
      assert.deepEqual(await exited, [3, null]);
      clearTimeout(killed);
    } finally {
      child.kill('SIGKILL');
    }
    closeSync(full);
  });
});
