import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../../tools/demo/api.js';
import type { Rental } from '../../tools/demo/rental.js';
import { signIn } from '../../tools/demo/sign-in.js';
import type { Stage } from '../../tools/demo/stage.js';
import { checkStatement } from '../../tools/demo/statement.js';
import { answers } from '../../lab/servers/program.js';
import { removeStackData } from '../../lab/stack/data.js';
import { findStackPorts } from '../../lab/stack/ports.js';
import { findRunningStack } from '../../lab/stack/running.js';
import { readStackSettings, type StackSettings } from '../../lab/stack/settings.js';
import { startStack, type Stack } from '../../lab/stack/start.js';

describe('npm run demo', function () {
  // It takes some 40 s on two idle cores, most of them to start two stacks. A busy machine takes several times as long.
  this.timeout(400_000);

  let dataDir: string;
  let env: NodeJS.ProcessEnv;
  let settings: StackSettings;
  let played: { exitCode: number | null; output: string };
  const children: ChildProcess[] = [];
  const started: Stack[] = [];

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'gpu-rental-demo-test-'));
    // When root runs the tests, the postgres user needs access through this folder to its own below.
    chmodSync(dataDir, 0o711);
    env = {
      ...process.env,
      ...(await findStackPorts()),
      LAB_DATA_DIR: dataDir,
      DATABASE_URL: '',
      TEMPORAL_ADDRESS: '',
      TEMPORAL_NAMESPACE: '',
    };
    settings = readStackSettings(env);
  });
  after(async () => {
    for (const child of children.filter(({ exitCode, signalCode }) => (exitCode ?? signalCode) === null)) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    for (const stack of started) await stack.stop();
    removeStackData(settings);
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Runs the program of `npm run demo`. */
  async function demo(changes: NodeJS.ProcessEnv = {}): Promise<typeof played> {
    const child = spawn(process.execPath, ['lab/run.mjs', 'tools/demo/main.ts'], {
      cwd: settings.projectDir,
      env: { ...env, ...changes },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    const texts = { output: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (texts.output += chunk));
    }
    await once(child, 'close');
    return { exitCode: child.exitCode, ...texts };
  }

  it('says which port is taken, and which variable to set', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    try {
      const { port } = holder.address() as { port: number };
      const { exitCode, output } = await demo({ API_PORT: String(port) });
      assert.equal(exitCode, 1, output);
      assert.match(output, new RegExp(`Port ${port} for the API is taken .* set API_PORT`));
    } finally {
      holder.close();
    }
  });

  it('plays the story on a stack that it starts, with a real SSH login, and exits with 0', async () => {
    played = await demo();
    const { exitCode, output } = played;
    assert.equal(exitCode, 0, output);
    assert.match(output, /signed in with the code \d{6}\n/);
    assert.match(output, /the payment page is http:[^ ]+\n +paid by card; \$100\.00 available\n/);
    assert.match(output, /visa ending in 4242 is saved/);
    assert.match(output, /succeeded, charge ch_\w+; \$125\.00 available\n/);
    assert.match(output, /\n +\$ gpu ssh demo -- nvidia-smi\n/);
    assert.equal(output.match(/^ +\| +\d +NVIDIA B200 /gm)?.length, 8, output);
    assert.ok((output.match(/ rental_charge +-\$0\.0\d +balance \$/g)?.length ?? 0) >= 3, output);
    assert.match(output, /\n +\$ gpu stop demo\n +Stopped \w{6} /);
    assert.match(output, /All of it held\.\n/);
    assert.ok(output.includes(`in the dashboard: http://127.0.0.1:${settings.ports.api}/app\n`), output);
  });

  it('stops what it started', async () => {
    assert.equal(played.exitCode, 0, 'the story must have been played');
    assert.equal(await findRunningStack(dataDir), undefined);
    assert.equal(existsSync(join(dataDir, 'stack.json')), false);
    const { ports } = settings;
    const http = [ports.api, ports.provider, ports.processor, ports.mail, ports.temporalUi];
    for (const port of http) assert.equal(await answers(`http://127.0.0.1:${port}`), false, `port ${port}`);
  });

  it('leaves data with which a stack goes on: the user, the rental and every cent of the ledger', async () => {
    const email = /demo-\w+@example\.com/.exec(played.output)?.[0];
    assert.ok(email !== undefined, played.output);
    const stack = await startStack({ settings, log: () => undefined });
    started.push(stack);
    const lines: string[] = [];
    const stage: Stage = {
      urls: stack.urls,
      api: createApi(stack.urls.api),
      email,
      log: (line) => lines.push(line),
      signal: AbortSignal.timeout(120_000),
      startedAtMs: Date.now(),
    };
    await signInWhenAllowed(stage);
    const { rentals } = (await stage.api.get('/v1/rentals')) as { rentals: Rental[] };
    assert.deepEqual(
      rentals.map(({ status }) => status),
      ['stopped'],
    );
    const { entries } = await checkStatement(stage, rentals[0]!);
    const balances = played.output.match(/(?<= rental_charge .* balance ).*$/gm) ?? [];
    assert.ok(balances.length >= 3);
    assert.ok(entries.length > balances.length);
    const said = lines.filter((text) => /^ +(ok|rental_charge|processor_topup) /.test(text));
    assert.equal(said.length, 5, lines.join('\n'));
    for (const line of said) assert.ok(played.output.includes(line), `the first run did not say: ${line}`);
  });
});

/** An address gets one code in 30 seconds (decision 8, "One-time codes"): the demo has just requested one. */
async function signInWhenAllowed(stage: Stage): Promise<void> {
  for (;;) {
    try {
      await signIn(stage);
      return;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('code_request_rate_limited'))) throw error;
      await sleep(1000, undefined, { signal: stage.signal });
    }
  }
}
