import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { GpuUser } from './support/gpu.js';

describe('gpu completion', () => {
  const user = new GpuUser('http://127.0.0.1:1');
  const scriptFor = async (shell: string): Promise<string> => (await user.type(`completion ${shell}`)).out;

  it('completes commands, their commands and their options in bash', async () => {
    const script = await scriptFor('bash');
    const complete = (words: readonly string[]): string[] => {
      const line = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
compopt() { :; }
_gpu; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', line], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      return stdout.trim().split('\n');
    };
    assert.deepEqual(complete(['gpu', 'ren']), ['rent', 'rename']);
    assert.deepEqual(complete(['gpu', 'webhooks', 'r']), ['rotate', 'redeliver']);
    assert.deepEqual(complete(['gpu', 'events', 'training', '--f']), ['--follow']);
    assert.deepEqual(complete(['gpu', 'api', 'POST', '--i']), ['--input', '--idempotency-key']);
    assert.deepEqual(complete(['gpu', 'keys', 's']), ['ssh']);
    assert.deepEqual(complete(['gpu', 'keys', 'ssh', 'a']), ['add']);
    assert.deepEqual(complete(['gpu', 'budget', 's']), ['set']);
    assert.deepEqual(complete(['gpu', 'budget', 'set', '50', '--h']), ['--hard']);
    assert.deepEqual(complete(['gpu', 'rent', 'b200', '--max']), ['--max-spend', '--max-price']);
    assert.deepEqual(complete(['gpu', '--json', 'webhooks', 'listen', '--forw']), ['--forward-to']);
    assert.ok(complete(['gpu', '']).includes('watch'));
  });

  for (const shell of ['zsh', 'fish']) {
    it(`gives ${shell} a script that it takes`, async function () {
      const script = await scriptFor(shell);
      assert.match(script, /gpu/);
      assert.ok(script.includes('max-spend') && script.includes('listen'));
      const { error, status, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
      // The shell is not a part of Node nor of npm: where it is missing, nobody can ask it.
      if (error) return this.skip();
      assert.equal(status, 0, stderr);
    });
  }
});
