import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMock, type MockServer } from '../../../lab/mock/server.js';

const project = new URL('../../../', import.meta.url);
const readme = readFileSync(new URL('clients/typescript/README.md', project), 'utf8');
const client = new URL('clients/typescript/src/index.ts', project);

describe('the examples of the typed client', () => {
  let mock: MockServer;
  let folder: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 100, tickMs: 50, endMs: 50 } });
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-examples-'));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await mock.stop();
  });

  it('run one after the other', async () => {
    const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
    assert.ok(blocks.length >= 7);
    const topUp = `
      const { checkoutUrl } = await gpu.checkout.create({ amountCents: 20_000 });
      await fetch(checkoutUrl!, { redirect: 'manual' });
    `;
    const [first = '', signIn = '', ...rest] = blocks;
    const code = [first, signIn, topUp, ...rest]
      .join('\n')
      .replaceAll(`'@gpu-rental/client'`, `'${client.href}'`);
    const output = await run(code);
    assert.match(output, /^3992 cents an hour, 7984 at worst$/m);
    assert.match(output, /^ready$/m);
    assert.match(output, /^ssh -p \d+ \w+@[\w.]+$/m);
    assert.match(output, /^it cost \d+ cents$/m);
    assert.match(output, /^\d+ rental\.stopped rent_/m);
    assert.match(output, /^evt_1 rental\.running$/m);
  });

  async function run(code: string): Promise<string> {
    const file = join(folder, 'example.mts');
    writeFileSync(file, code);
    const child = spawn(process.execPath, ['--import', 'tsx', file], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, GPU_RENTAL_URL: mock.url, GPU_RENTAL_API_KEY: undefined, MAILED_CODE: '123456' },
      timeout: 60_000,
    });
    const ended = once(child, 'close');
    const [output, faults] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
    const [status] = (await ended) as [number];
    assert.equal(status, 0, Buffer.concat(faults as Buffer[]).toString('utf8'));
    return Buffer.concat(output as Buffer[]).toString('utf8');
  }
});
