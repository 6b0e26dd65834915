import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { answersOk } from '../../../lab/servers/program.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { until } from '../../support/until.js';

describe('npm run dashboard:dev', function () {
  this.timeout(120_000);
  const started: ChildProcess[] = [];
  after(() => {
    for (const child of started) child.kill('SIGKILL');
  });

  function start(...args: string[]): { child: ChildProcess; said: () => string } {
    const child = spawn(process.execPath, ['--import', 'tsx', 'lab/dashboard/dev.ts', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    const texts: string[] = [];
    for (const output of [child.stdout, child.stderr]) output.on('data', (text) => texts.push(String(text)));
    return { child, said: () => texts.join('') };
  }

  it('serves the sources at the service’s addresses, and asks the mock as its own page', async () => {
    const [port = 0] = await findFreePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const { child, said } = start('--mock', '--port', String(port));
    await until('it serves', () => answersOk(`${url}/app`));
    assert.match(said(), new RegExp(`The dashboard is at ${url}/app`));

    assert.equal((await fetch(`${url}/`, { redirect: 'manual' })).headers.get('location'), '/app');
    for (const [path, script] of [
      ['/login?error=oauth_denied', 'src/main.tsx'],
      ['/app', 'src/main.tsx'],
      ['/app/rentals/rent_01J', 'src/main.tsx'],
      ['/app/card', 'src/card/main.tsx'],
    ] as const) {
      assert.ok((await (await fetch(url + path)).text()).includes(script), path);
    }
    assert.match(await (await fetch(`${url}/app/src/main.tsx`)).text(), /createRoot/);

    const ask = (origin: string) =>
      fetch(`${url}/v1/auth/request-code`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.com' }),
      });
    assert.equal((await ask(url)).status, 200);
    assert.equal((await ask('http://elsewhere.example')).status, 403, 'other pages stay foreign');

    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('says what to do where no service answers', async () => {
    const [api = 0] = await findFreePorts(1);
    const { child, said } = start('--api', `http://127.0.0.1:${api}`);
    assert.deepEqual(await once(child, 'exit'), [1, null]);
    assert.match(said(), /Run "npm start" first, or add --mock/);
  });

  it('refuses options that make no sense', async () => {
    for (const args of [
      ['--port', 'x'],
      ['--api', 'here'],
    ]) {
      const { child } = start(...args);
      assert.deepEqual(await once(child, 'exit'), [2, null], args.join(' '));
    }
  });
});
