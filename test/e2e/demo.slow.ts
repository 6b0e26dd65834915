import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../../tools/demo/api.js';
import type { Rental } from '../../tools/demo/rental.js';
import { signIn } from '../../tools/demo/sign-in.js';
import type { Stage } from '../../tools/demo/stage.js';
import { checkStatement } from '../../tools/demo/statement.js';
import { parts } from '../../tools/demo/story.js';
import { answers } from '../../lab/servers/program.js';
import { findRunningStack } from '../../lab/stack/running.js';
import { startStack, type Stack } from '../../lab/stack/start.js';
import { DemoPlace } from './demo-place.js';

describe('npm run demo', function () {
  // It takes some 40 s on two idle cores, most of them to start two stacks. A busy machine takes several times as long.
  this.timeout(400_000);

  let place: DemoPlace;
  let played: { exitCode: number | null; output: string };
  let stack: Stack | undefined;
  // Shadeform's is the one that the demo tells by itself.
  const dialects = Object.keys(parts).filter((each) => each !== 'shadeform');
  const upstreams = { LAB_PROVIDER_DIALECTS: dialects.join(',') };

  before(async () => {
    place = await DemoPlace.find();
  });
  after(async () => {
    await place.end();
    await stack?.stop();
    place.remove();
  });

  /** Starts the stack on the place's data, with the other upstreams, unless it runs. */
  async function startAgain(): Promise<Stack> {
    const { settings } = place;
    stack ??= await startStack({
      settings: { ...settings, env: { ...settings.env, ...upstreams } },
      log: () => undefined,
    });
    return stack;
  }

  it('says which port is taken, and which variable to set', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    try {
      const { port } = holder.address() as { port: number };
      const { exitCode, output } = await place.play([], { API_PORT: String(port) });
      assert.equal(exitCode, 1, output);
      assert.match(output, new RegExp(`Port ${port} for the API is taken .* set API_PORT`));
    } finally {
      holder.close();
    }
  });

  it('plays the story on a stack that it starts, with a real SSH login, and exits with 0', async () => {
    // Whatever the environment says, the upstream is the one that the story needs.
    played = await place.play([], { LAB_PROVIDER_DIALECTS: 'vast' });
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
    assert.ok(
      output.includes(`in the dashboard: http://127.0.0.1:${place.settings.ports.api}/app\n`),
      output,
    );
  });

  it('stops what it started', async () => {
    assert.equal(played.exitCode, 0, 'the story must have been played');
    assert.equal(await findRunningStack(place.settings.dataDir), undefined);
    assert.equal(existsSync(join(place.settings.dataDir, 'stack.json')), false);
    const { ports } = place.settings;
    const http = [ports.api, ports.provider, ports.processor, ports.mail, ports.temporalUi];
    for (const port of http) assert.equal(await answers(`http://127.0.0.1:${port}`), false, `port ${port}`);
  });

  it('leaves data with which a stack goes on: the user, the rental and every cent of the ledger', async () => {
    const email = /demo-\w+@example\.com/.exec(played.output)?.[0];
    assert.ok(email !== undefined, played.output);
    const { urls } = await startAgain();
    const lines: string[] = [];
    const stage: Stage = {
      urls,
      api: createApi(urls.api),
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

  describe('-- --dialect', () => {
    before(startAgain);

    /** The dialects in which machines were bought, in order. */
    async function bought(): Promise<string[]> {
      const answer = await fetch(`${stack?.urls.provider}/lab/state`);
      const { pods } = (await answer.json()) as { pods: { dialect?: string; status: string }[] };
      assert.ok(pods.every(({ status }) => status === 'deleted'));
      return pods.map(({ dialect = 'none' }) => dialect);
    }

    for (const dialect of dialects) {
      it(`${dialect} plays the whole story on a stack that runs, from the sign-in to the last cent`, async () => {
        const before = await bought();
        const { exitCode, output } = await place.play(['--dialect', dialect], upstreams);
        assert.equal(exitCode, 0, output);
        assert.match(output, /All of it held\.\n/);
        assert.match(output, new RegExp(`Rent ${parts[dialect]!.wish.words}`));
        // Each sells alone what its part rents.
        assert.deepEqual(await bought(), [...before, dialect]);
      });
    }
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
