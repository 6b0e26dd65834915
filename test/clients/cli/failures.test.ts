import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { refusalStatus } from '../../../domain/refusal.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';

describe('gpu, when something fails', () => {
  let mock: MockServer;
  let ann: Person;
  const servers: Server[] = [];

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 100, endMs: 20 } });
    ann = await Person.at(mock);
  });
  after(async () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await mock.stop();
  });

  async function serve(answer: { status: number; type?: string; body: string }): Promise<string> {
    const server = createServer((_request, response) => {
      response
        .writeHead(answer.status, { 'content-type': answer.type ?? 'application/json' })
        .end(answer.body);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Asks the mock for a refusal. */
  const refusing =
    (code: string): typeof fetch =>
    (input, init) => {
      const request = new Request(input, init);
      request.headers.set('X-Mock-Failure', code);
      return fetch(request);
    };

  it('says that nobody is signed in, and how to sign in', async () => {
    const { code, out, err } = await new GpuUser(mock.url).type('balance');
    assert.equal(code, exitCodes.signedOut);
    assert.equal(out, '');
    assert.equal(err, `You are not signed in at ${mock.url}.\nSign in with: gpu login\n`);
  });

  it('says that there is no network, and what to check', async () => {
    const url = await serve({ status: 200, body: '' });
    const [server] = servers.splice(-1);
    await new Promise((resolve) => server!.close(resolve));
    const { code, err } = await new GpuUser(url, 'gpur_x').type('balance');
    assert.equal(code, exitCodes.network);
    assert.ok(err.startsWith(`No connection to ${url}: nothing listens there.\nCheck your network`), err);
    const nameless = await new GpuUser('https://gpu.invalid', 'gpur_x').type('balance');
    assert.equal(nameless.code, exitCodes.network);
    assert.match(
      nameless.err,
      /^No connection to https:\/\/gpu\.invalid: (there is no such host|names are not resolved)\./,
    );
  });

  it('tells the id of the request that a 503 refused, for people and for programs', async () => {
    const options = { fetch: refusing('temporarily_unavailable') };
    const { code, err } = await ann.type('balance', options);
    assert.equal(code, exitCodes.server);
    assert.match(err, /\nTry again in .*\nRequest [A-Za-z0-9._-]+\n$/);
    const told = JSON.parse((await ann.type('balance --json', options)).err) as Record<string, unknown>;
    assert.equal(told['error'], 'temporarily_unavailable');
    assert.equal(told['exitCode'], exitCodes.server);
    assert.match(String(told['requestId']), /^[A-Za-z0-9._-]+$/);
    assert.match(String(told['next']), /^Try again in /);
  });

  it('names support where a person’s help is needed, and nowhere else', async () => {
    for (const refusal of ['blocked', 'billing_disabled', 'rate_limited', 'internal_error']) {
      const { err } = await ann.type('balance', { fetch: refusing(refusal) });
      assert.match(err, /\nSupport support@example\.com\n$/, refusal);
      const told = JSON.parse((await ann.type('balance --json', { fetch: refusing(refusal) })).err) as object;
      assert.equal((told as { support?: string }).support, 'support@example.com');
    }
    const { err } = await ann.type('balance', { fetch: refusing('insufficient_balance') });
    assert.doesNotMatch(err, /Support/);
  });

  it('knows a proxy’s 502, a page and a redirect from answers of the service', async () => {
    const cases = [
      [{ status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' }, exitCodes.server],
      [{ status: 200, type: 'text/html', body: '<h1>Welcome</h1>' }, exitCodes.network],
      [{ status: 404, type: 'text/html', body: '<h1>Nothing</h1>' }, exitCodes.network],
    ] as const;
    for (const [answer, expected] of cases) {
      const { code, err } = await new GpuUser(await serve(answer), 'gpur_x').type('balance');
      assert.equal(code, expected, `${answer.status}: ${err}`);
      assert.ok(err.split('\n').length >= 2, err);
    }
  });

  it('gives each refusal of the service an exit code and a next step', async () => {
    for (const refusal of Object.keys(refusalStatus)) {
      const { code, out, err } = await ann.type('balance', { fetch: refusing(refusal) });
      assert.equal(out, '', refusal);
      assert.ok(code >= 2 && code <= 9, `${refusal}: ${code}`);
      const { err: json } = await ann.type('balance --json', { fetch: refusing(refusal) });
      const { message, next } = JSON.parse(json) as { message: string; next?: string };
      assert.match(message, /[.?]$/, refusal);
      assert.ok(next !== undefined && next.length > 10, `${refusal}: no next step\n${err}`);
      assert.match(err, /\nRequest \S+\n(Support support@example\.com\n)?$/, refusal);
      // What only programs can use is no help here.
      assert.doesNotMatch(err, /\/v1\/|\b(?!requestId)[a-z]+[A-Z]/, refusal);
    }
  });

  it('tells kinds of failures apart by the exit code', async () => {
    const kinds = {
      unauthorized: 'signedOut',
      insufficient_balance: 'noMoney',
      card_declined: 'noMoney',
      model_unavailable: 'notAvailable',
      price_changed: 'notAvailable',
      blocked: 'refused',
      rental_not_found: 'notFound',
      validation_failed: 'usage',
      unknown_family: 'usage',
      rate_limited: 'server',
      internal_error: 'server',
    } as const;
    for (const [refusal, kind] of Object.entries(kinds)) {
      const { code } = await ann.type('balance', { fetch: refusing(refusal) });
      assert.equal(code, exitCodes[kind], refusal);
    }
  });

  it('refuses a wrong command line before anything is asked, and leads to the help', async () => {
    const wrong = [
      'frobnicate',
      'rent b200 --gpus 3',
      'rent b200 --max-spend much',
      'extend --by soon',
      'extend',
      'extend --ignore-sessions',
      'extend --by 2h --no-stop-when-idle --ignore-sessions',
      'ports 0',
      'cp a b',
      'cp :a :b',
      'ledger --type none',
      'webhooks listen --forward-to nowhere',
      'webhooks listen --secret none',
      'completion tcsh',
      'balance too much',
      'balance --frob',
      'quote b200 --label nothing',
    ];
    const unused = (): never => assert.fail('nothing may be asked');
    for (const line of wrong) {
      const { code, out, err } = await ann.type(line, { fetch: unused });
      assert.equal(code, exitCodes.usage, `${line}: ${err}`);
      assert.equal(out, '', line);
      assert.ok(err.length > 20, line);
    }
  });

  it('leads from a wrong command line to the help and an example of that command', async () => {
    const lines: Record<string, string> = {
      rnt: 'See the help: gpu --help\n',
      'keys ssh ad': 'See the help: gpu keys ssh --help\n',
      'rent --gpus x':
        'See the help: gpu rent --help\nFor example: gpu rent h100-80gb --gpus 8 --hours 2 --name training\n',
      'extend --by tomorrow':
        'See the help: gpu extend --help\nFor example: gpu extend training --stop-when-idle 30m --ignore-sessions\n',
      // What the service finds wrong, and what has no words of its own about what to do.
      'budget set 100000000': 'See the help: gpu budget set --help\nFor example: gpu budget set 50\n',
      'keys create ci --setup --agent':
        'See the help: gpu keys create --help\nFor example: gpu keys create ci --days 30\n',
    };
    for (const [line, hint] of Object.entries(lines)) {
      const { code, err } = await ann.withCode(line, { columns: 100 });
      assert.equal(code, exitCodes.usage, line);
      assert.ok(err.includes(hint), `${line}: ${err}`);
    }
    const { err } = await ann.type('rent --gpus x --json');
    const { next } = JSON.parse(err) as { next: string };
    assert.match(next, /^See the help: gpu rent --help\n/);
  });

  it('names the option that another one needs', async () => {
    const { err } = await ann.type('extend --ignore-sessions');
    assert.match(err, /^--ignore-sessions needs --stop-when-idle\./);
  });

  it('guesses what was meant by a mistyped command', async () => {
    assert.match((await ann.type('rnt')).err, /Unknown command 'rnt'\.\n\(Did you mean rent\?\)/);
    const guesses = {
      'keys crate': /^keys has no command "crate"\. Did you mean create\?\n/,
      'keys ssh ad': /^keys ssh has no command "ad"\. Did you mean add\?\n/,
      'topup auto of': /^topup auto has no command "of"\. Did you mean off\?\n/,
      'keys frobnicate': /^keys has no command "frobnicate"\.\nSee the help: gpu keys --help\n$/,
      'webhooks lisen': /\(Did you mean listen\?\)/,
      'rent --templat x': /\(Did you mean --template\?\)/,
    };
    for (const [line, guess] of Object.entries(guesses)) {
      const { code, err } = await ann.type(line);
      assert.equal(code, exitCodes.usage, line);
      assert.match(err, guess, line);
    }
  });

  it('guesses what was meant by a family or a machine', async () => {
    const lines = {
      'quote h100': /^There is no family "h100"\.\nDid you mean h100-80gb\? See what is available/,
      'rent H100-80 --yes': /\nDid you mean h100-80gb\? /,
      'quote h200': /\nDid you mean h200-141gb\? /,
      'offers rtx-4900': /\nDid you mean rtx-4090\? /,
      'rent nothing-like-it': /^There is no family "nothing-like-it"\.\nSee what is available/,
    };
    for (const [line, guess] of Object.entries(lines)) {
      const { code, err } = await ann.type(line);
      assert.equal(code, exitCodes.usage, line);
      assert.match(err, guess, line);
    }
    const { err } = await ann.type('quote h100 --json');
    const told = JSON.parse(err) as Record<string, unknown>;
    assert.deepEqual([told['error'], told['details']], ['unknown_family', { familyId: 'h100' }]);
    const bob = await Person.at(mock);
    await bob.pay(10);
    await bob.rent('rtx-4090 --name training');
    const shown = await bob.type('show trainign');
    assert.equal(shown.code, exitCodes.notFound);
    assert.match(shown.err, /\nDid you mean training\? See your rentals/);
  });

  it('never sends a key over a network in the clear', async () => {
    const { code, err } = await new GpuUser('http://gpu.example.com', 'gpur_x').type('balance');
    assert.equal(code, exitCodes.usage);
    assert.match(err, /not encrypted.*\nUse https:\/\/gpu\.example\.com instead\./);
  });

  it('asks nothing where nobody can answer, and says how a script answers', async () => {
    const lines = {
      login: /GPU_API_KEY/,
      pay: /gpu pay 20/,
      rent: /gpu rent h100-80gb/,
      'keys create x': /code that we email you/,
    };
    for (const [line, next] of Object.entries(lines)) {
      const { code, out, err } = await ann.type(line);
      assert.ok(code === exitCodes.usage || code === exitCodes.refused, `${line}: ${code}`);
      assert.equal(out, '');
      assert.match(err, next, line);
      assert.ok(!err.includes('\u001b'));
    }
    await ann.pay(10);
    const rent = await ann.type('rent rtx-4090');
    assert.equal(rent.code, exitCodes.usage);
    assert.match(rent.err, /--yes/);
    assert.deepEqual(await ann.json('ls --all'), { rentals: [] });
  });

  it('names options, once each, and leads to a step that helps', async () => {
    const bob = await Person.at(mock);
    await bob.pay(10);
    await bob.rent('rtx-4090 --name plain');
    const lines = {
      'quote rtx-4090 --env A=1':
        /^No provider with such a machine can do all of this:\n--env: mock gives this[^:]*: add a[^:]*them\.\nChange/,
      'quote rtx-4090 --stop-when-idle 5m': /^--stop-when-idle must be at least 15 minutes\./,
      'quote rtx-4090 --port web:22/tcp': /^--port: port can’t be 22: choose another\./,
      'quote rtx-4090 --max-price 0.10': /--gpus\s1\s--region\sUS\s\(.*--gpus\s1\s--region\sRO\s\(/s,
      'proof none': /^month must be a month, such as 2026-10\./,
      'proof 2099-01': /\nAsk for it then, or for an earlier month\.\n/,
      'keep-alive plain --for 1h':
        /^This machine has no idle guard.*\nSet one with: gpu extend --stop-when-idle 30m\n/s,
    };
    for (const [line, told] of Object.entries(lines)) {
      assert.match((await bob.type(line)).err.replace(/(?<=\S)\n(?=[a-z(])/g, ' '), told, line);
    }
    const ofOne = 'This machine was rented without a reporter, so it can’t be guarded now.';
    const misfits = [{ field: 'stopWhenIdleMinutes', providerCode: 'vast', message: 'tells nothing' }];
    const body = { error: 'idle_guard_unsupported', message: ofOne, details: { misfits }, requestId: 'r' };
    const refused: typeof fetch = async (asked, init) =>
      new Request(asked, init).method === 'PATCH' ? Response.json(body, { status: 422 }) : fetch(asked, init);
    const { err } = await bob.type('extend plain --stop-when-idle 30m', { fetch: refused });
    assert.match(err, new RegExp(`^${ofOne}`), 'its provider may well do it for others');
  });

  it('has a row for each exit code in docs/cli.md', () => {
    const rows = [...readFileSync('docs/cli.md', 'utf8').matchAll(/^\| (\d+) +\|/gm)].map(([, code]) =>
      Number(code),
    );
    assert.deepEqual(rows, Object.values(exitCodes));
  });
});
