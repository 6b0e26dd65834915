import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { startMock } from '../../../lab/mock/server.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';

describe('gpu completion', () => {
  const user = new GpuUser('http://127.0.0.1:1');
  const scriptFor = async (shell: string): Promise<string> => (await user.type(`completion ${shell}`)).out;

  /** What bash offers for the last word. @param gpu what its function `gpu` does, which the script runs */
  async function complete(words: readonly string[], gpu = 'false'): Promise<string[]> {
    const line = `${await scriptFor('bash')}
gpu() { ${gpu}; }
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
compopt() { :; }
_gpu; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', line], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    return stdout.trim().split('\n');
  }

  it('completes commands, their commands and their options in bash', async () => {
    assert.deepEqual(await complete(['gpu', 'ren']), ['rent', 'rename']);
    assert.deepEqual(await complete(['gpu', 'webhooks', 'r']), ['rotate', 'redeliver']);
    assert.deepEqual(await complete(['gpu', 'events', 'training', '--f']), ['--follow']);
    assert.deepEqual(await complete(['gpu', 'api', 'POST', '--i']), ['--input', '--idempotency-key']);
    assert.deepEqual(await complete(['gpu', 'keys', 's']), ['ssh']);
    assert.deepEqual(await complete(['gpu', 'keys', 'ssh', 'a']), ['add']);
    assert.deepEqual(await complete(['gpu', 'budget', 's']), ['set']);
    assert.deepEqual(await complete(['gpu', 'budget', 'set', '50', '--h']), ['--hard']);
    assert.deepEqual(await complete(['gpu', 'rent', 'b200', '--max']), ['--max-spend', '--max-price']);
    assert.deepEqual(await complete(['gpu', '--json', 'webhooks', 'listen', '--forw']), ['--forward-to']);
    const all = await complete(['gpu', '']);
    assert.ok(all.includes('watch') && !all.includes('completion-words'));
  });

  it('completes machines, families and templates where one may stand', async () => {
    const asked = 'echo "$2"; echo no >&2';
    assert.deepEqual(await complete(['gpu', 'ssh', 'm'], asked), ['machine']);
    assert.deepEqual(await complete(['gpu', 'stop', 'm'], asked), ['machine']);
    assert.deepEqual(await complete(['gpu', 'ports', '8888', '-m', ''], asked), ['machine']);
    assert.deepEqual(await complete(['gpu', 'rent', 'f'], asked), ['family']);
    assert.deepEqual(await complete(['gpu', '--json', 'rent', '--gpus', '8', '--template', ''], asked), [
      'template',
    ]);
    assert.ok(!(await complete(['gpu', 'rent', '-'], asked)).includes('family'));
    assert.deepEqual(await complete(['gpu', 'ssh', 'm'], 'echo no >&2; return 3'), ['']);
  });

  it('gives the words that the service knows, and only those that a shell takes as they are', async () => {
    const mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
    try {
      const ann = await Person.at(mock);
      await ann.pay(20);
      const id = await ann.rent('rtx-4090 --name box');
      const { body } = await ann.elsewhere.post('/v1/rentals', {
        familyId: 'rtx-4090',
        gpuCount: 1,
        name: '$(touch x)',
      });
      const ended = await ann.rent('rtx-4090 --name ended');
      await ann.type(`stop ${ended}`);
      const { out } = await ann.type('completion-words machine');
      assert.deepEqual(
        out.trim().split('\n').toSorted(),
        ['box', id.slice(-6), body.id.slice(-6)].toSorted(),
      );
      assert.match((await ann.type('completion-words family')).out, /^h100-80gb$/m);
      assert.match((await ann.type('completion-words template')).out, /^pytorch$/m);
    } finally {
      await mock.stop();
    }
  });

  it('is silent where there is nothing to know', async () => {
    for (const kind of ['machine', 'family', 'template', 'nothing']) {
      const { code, out, err } = await user.type(`completion-words ${kind}`);
      assert.deepEqual([code, out, err], [0, '', ''], kind);
    }
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
