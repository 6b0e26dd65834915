import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ApiClient } from '../../support/http/api.js';
import { argsToTest } from '../../support/programs.js';
import { until } from '../../support/until.js';

/** Modules that take seconds to load, or do not belong in memory. */
const heavy = /node_modules\/(knex|pg|stripe|nodemailer|@temporalio)\//;

describe('npm run mock', () => {
  const started: ChildProcess[] = [];

  after(() => {
    for (const child of started) child.kill('SIGKILL');
  });

  function start(...args: string[]): ChildProcess & { readonly lines: () => Promise<string[]> } {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    started.push(child);
    const lines = async (): Promise<string[]> => {
      const all: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) all.push(line);
      return all;
    };
    return Object.assign(child, { lines });
  }

  async function serving(...options: string[]) {
    const child = start(...(await argsToTest('lab/mock/main.ts')), '--port', '0', ...options);
    const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
    return { child, url: /http:\/\/127\.0\.0\.1:\d+/.exec(line)![0] };
  }

  it('says where it is, answers there, and ends when it is asked to', async () => {
    const { child, url } = await serving();
    assert.equal((await fetch(`${url}/v1/openapi.json`)).status, 200);
    assert.equal((await fetch(`${url}/docs`)).status, 200);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  // Everybody on this computer reaches the port and signs in as they like: a shell is given only when asked for.
  for (const [options, host] of [
    [[], '203.0.113.'],
    [['--machines'], '127.0.0.'],
  ] as const) {
    it(`rents machines at ${host}x with ${options.join(' ') || 'no options'}`, async () => {
      const { child, url } = await serving(...options);
      const person = new ApiClient(url);
      await person.post('/v1/auth/verify-code', { email: 'ann@example.com', code: '123456' });
      const { checkoutUrl } = (await person.post('/v1/billing/checkout', { amountCents: 1_000 })).body;
      await fetch(checkoutUrl);
      const { id } = (await person.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 })).body;
      const found = await until('it has an address', async () => {
        const { body } = await person.get(`/v1/rentals/${id}`);
        return body.status === 'running' && body;
      });
      assert.ok(found.host?.startsWith(host), String(found.host));
      await person.post(`/v1/rentals/${id}/stop`);
      child.kill('SIGTERM');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
  }

  it('loads neither database nor Temporal nor processor, so that it is up within a second', async () => {
    const script = `
      await import('./lab/mock/server.ts');
      const { createRequire } = await import('node:module');
      for (const file of Object.keys(createRequire(process.cwd() + '/x.js').cache)) console.log(file);`;
    const files = await start('--import', 'tsx', '--input-type=module', '-e', script).lines();
    assert.ok(files.some((file) => file.includes('node_modules/koa/')));
    assert.deepEqual(
      files.filter((file) => heavy.test(file)),
      [],
    );
  });

  it('explains its options and headers', async () => {
    const help = (await start(...(await argsToTest('lab/mock/main.ts')), '--help').lines()).join('\n');
    for (const word of [
      '--port',
      '--latency',
      '--machines',
      'X-Mock-Failure',
      'temporarily_unavailable',
      'X-Mock-Rental',
    ]) {
      assert.ok(help.includes(word), word);
    }
  });

  it('refuses options that make no sense', async () => {
    const child = start(...(await argsToTest('lab/mock/main.ts')), '--latency', 'long');
    assert.deepEqual(await once(child, 'exit'), [2, null]);
  });
});
