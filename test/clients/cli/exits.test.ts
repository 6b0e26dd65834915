import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { runProgram } from '../../../clients/cli/src/surroundings.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import type { Ran, RunOptions } from './support/gpu.js';
import { mailedCode, Person } from './support/person.js';
import { gpuFile, gpuLine } from './support/terminal.js';

interface Told {
  readonly error: string;
  readonly exitCode: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Something that answers in the service's place: no network, a refusal, a page of a proxy. */
type Answer = () => Promise<Response>;

const noNetwork: Answer = () =>
  Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: systemError('ENETUNREACH') }));
const cut: Answer = () =>
  Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: systemError('ECONNRESET') }));
const refused =
  (status: number, error: string): Answer =>
  () =>
    Promise.resolve(Response.json({ error, message: 'Not now.', requestId: 'req' }, { status }));

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('gpu, ended after something was bought', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 600_000, endMs: 20 } });
  });
  beforeEach(async () => {
    ann = await Person.at(mock);
    await ann.pay(100);
  });
  after(() => mock.stop());

  /** Answers in the service's place from the moment on that a request was answered. @param times how often */
  function after_(which: RegExp, answer: Answer, times = Infinity): typeof fetch {
    const state = { seen: false, left: times };
    return async (input, init) => {
      const request = new Request(input, init);
      if (state.seen && state.left > 0) {
        state.left -= 1;
        return answer();
      }
      const response = await fetch(request);
      if (which.test(`${request.method} ${new URL(request.url).pathname}`)) state.seen = true;
      return response;
    };
  }

  /** Does what is asked for, and loses its answer. */
  function losing(which: RegExp, answer: Answer): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      const response = await fetch(request);
      return which.test(`${request.method} ${new URL(request.url).pathname}`) ? answer() : response;
    };
  }

  /** Takes nothing, as a reader that has left, or a full disk. */
  const takesNothing = (code: string): Writable =>
    new Writable({ write: (_chunk, _encoding, done) => done(systemError(code)) });

  async function onlyRental(): Promise<{ id: string; status: string }> {
    const { rentals } = (await ann.elsewhere.get('/v1/rentals')).body as unknown as {
      rentals: { id: string; status: string }[];
    };
    assert.equal(rentals.length, 1);
    return rentals[0]!;
  }

  function namesIt({ code, err }: Ran, id: string): void {
    assert.equal(code, exitCodes.committed, err);
    assert.ok(err.replace(/\s+/g, ' ').includes(id), err);
  }

  const ways: Readonly<Record<string, Answer>> = {
    'the network is gone': noNetwork,
    'connections are cut': cut,
    'the key was revoked': refused(401, 'key_revoked'),
    'nobody is signed in': refused(401, 'unauthorized'),
    'the service fails': refused(500, 'internal_error'),
    'a proxy answers': () => Promise.resolve(new Response('<h1>Hello</h1>', { status: 407 })),
    'the rental is not known': refused(404, 'rental_not_found'),
  };
  for (const [way, answer] of Object.entries(ways)) {
    it(`names the machine, in text and in JSON, when ${way} while it is waited for`, async () => {
      const fetch = after_(/^POST \/v1\/rentals$/, answer);
      const text = await ann.type('rent rtx-4090 --yes', { fetch });
      const { id } = await onlyRental();
      namesIt(text, id);
      assert.match(text.err, /gpu stop/);
      const json = await ann.type(`ssh ${id} --json`, { fetch: after_(/^GET \/v1\/rentals\//, answer) });
      const told = JSON.parse(json.err) as Told;
      assert.deepEqual([json.code, told.exitCode, told.error], [12, 12, 'committed']);
      assert.equal(told.details['rentalId'], id);
      assert.ok(told.details['cause'] !== undefined);
    });
  }

  it('goes on waiting over a gap of the network, and says so', async () => {
    const quick = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
    try {
      const bob = await Person.at(quick);
      await bob.pay(100);
      const fetch = after_(/^POST \/v1\/rentals$/, noNetwork, 3);
      const { code, out, err } = await bob.type('rent rtx-4090 --yes', { fetch, gapMs: 60_000 });
      assert.equal(code, 0, err);
      assert.match(out, /^Ready/);
      assert.match(err.replace(/\s+/g, ' '), /Trying again/);
    } finally {
      await quick.stop();
    }
  });

  it('rents one machine over answers that are lost, and says what it does not know', async () => {
    const state = { lost: 0 };
    const losesTwo: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await fetch(request);
      if (request.method !== 'POST' || !request.url.endsWith('/v1/rentals') || state.lost === 2)
        return response;
      state.lost += 1;
      return cut();
    };
    const { code, err: told } = await ann.type('rent rtx-4090 --yes --no-wait', {
      fetch: losesTwo,
      gapMs: 20_000,
    });
    assert.equal(code, 0, told);
    await onlyRental();

    const loses = losing(/^POST \/v1\/rentals$/, cut);
    const { code: open, err } = await ann.type('rent rtx-4090 --yes --json', { fetch: loses });
    assert.equal(open, exitCodes.committed);
    const { details } = JSON.parse(err) as Told;
    assert.equal(details['outcome'], 'unknown');
    const again = await ann.type(`rent --quote ${String(details['quoteId'])} --no-wait --json`);
    assert.equal(again.code, 0, again.err);
  });

  /** Does the first create and loses its answer; from then on each one ends in the other way. */
  function losingFirst(then: Answer, onOther: () => void = () => undefined): typeof fetch {
    const state = { isLost: false };
    return async (input, init) => {
      const request = new Request(input, init);
      if (request.method !== 'POST' || !request.url.endsWith('/v1/rentals')) return fetch(request);
      if (state.isLost) {
        onOther();
        return then();
      }
      state.isLost = true;
      await fetch(request);
      return cut();
    };
  }

  const notDone: Answer = () => {
    const body = { error: 'temporarily_unavailable', message: 'Not now.', requestId: 'req' };
    return Promise.resolve(Response.json({ ...body, details: { outcome: 'not_done' } }, { status: 503 }));
  };
  const laterWays: Readonly<Record<string, Answer>> = {
    'the network is gone': noNetwork,
    'it asked too often': refused(429, 'rate_limited'),
    'the service has not begun it': notDone,
    'the key was revoked': refused(401, 'key_revoked'),
    'the key may not come from there': refused(403, 'key_address'),
  };
  for (const [way, answer] of Object.entries(laterWays)) {
    it(`knows of what it may have rented when ${way} after an answer was lost`, async () => {
      const ids = new Set<string>();
      // Sent again by the command, and by the client itself.
      for (const again of [{ gapMs: 100 }, { retries: 1 }]) {
        const fetch = losingFirst(answer);
        const { code, err } = await ann.type('rent rtx-4090 --yes --json', { fetch, ...again });
        assert.equal(code, exitCodes.committed, err);
        const { details } = JSON.parse(err) as Told;
        assert.equal(details['outcome'], 'unknown');
        const repeated = await ann.type(`rent --quote ${String(details['quoteId'])} --no-wait --json`);
        ids.add((JSON.parse(repeated.out) as { id: string }).id);
      }
      const { rentals } = (await ann.elsewhere.get('/v1/rentals')).body;
      assert.deepEqual([ids.size, rentals.length], [2, 2], 'each repetition found its own');
    });
  }

  it('knows of it also at ctrl-C', async () => {
    const stopping = new AbortController();
    const fetch = losingFirst(noNetwork, () => stopping.abort(new Error('Cancelled.')));
    const { signal } = stopping;
    const { code, err } = await ann.type('rent rtx-4090 --yes', { fetch, gapMs: 60_000, signal });
    await onlyRental();
    assert.equal(code, exitCodes.committed, err);
    assert.match(err, /quo_\w+/);
    assert.match(err, /gpu stop/);
  });

  it('believes a refusal that says what became of the one before', async () => {
    const { quoteId } = await ann.json<{ quoteId: string }>('quote rtx-4090');
    const body = { error: 'quote_expired', message: 'Nothing was rented.', requestId: 'req' };
    const details = { quoteId, expiresAt: new Date().toISOString(), quote: null, alternatives: [] };
    const expired: Answer = () => Promise.resolve(Response.json({ ...body, details }, { status: 409 }));
    const fetch = losingFirst(expired);
    const { code, err } = await ann.type(`rent --quote ${quoteId} --yes --json`, { fetch, gapMs: 100 });
    assert.notEqual(code, exitCodes.committed, err);
    assert.equal((JSON.parse(err) as Told).error, 'quote_expired');
  });

  it('keeps the id that the service told, whatever comes later', async () => {
    const state = { quoteId: '' };
    const rentalId = `rent_${'1'.repeat(26)}`;
    const told = (request: Request): Answer => {
      const body = { error: 'temporarily_unavailable', message: 'Wait.', requestId: 'req' };
      return async () => {
        state.quoteId = ((await request.json()) as { quoteId: string }).quoteId;
        const details = { outcome: 'unknown', rentalId };
        return Response.json({ ...body, details }, { status: 503 });
      };
    };
    const answers: ((request: Request) => Answer)[] = [told, () => cut, () => noNetwork];
    const fetch_: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const { pathname } = new URL(request.url);
      if (request.method === 'POST' && pathname === '/v1/rentals')
        return (answers.length > 1 ? answers.shift()! : answers[0]!)(request)();
      return pathname.startsWith('/v1/rentals/') ? refused(403, 'key_scope')() : fetch(request);
    };
    const { code, err } = await ann.type('rent rtx-4090 --yes --json', { fetch: fetch_, gapMs: 100 });
    assert.equal(code, exitCodes.committed, err);
    const { quoteId } = state;
    const { details } = JSON.parse(err) as Told;
    assert.deepEqual([details['quoteId'], details['rentalId']], [quoteId, rentalId]);
  });

  it('names what exists to whoever does not take its results, or can’t', async () => {
    for (const code of ['EPIPE', 'ENOSPC']) {
      const gone = { stdout: takesNothing(code) };
      const rent = await ann.type('rent rtx-4090 --yes --no-wait', gone);
      const { id } = await onlyRental();
      namesIt(rent, id);
      namesIt(await ann.type(`extend ${id} --max-spend 50`, { stdout: takesNothing(code) }), id);
      const stop = await ann.type(`stop ${id} --json`, { stdout: takesNothing(code) });
      assert.deepEqual((JSON.parse(stop.err) as Told).details['stopped'], [id]);
      namesIt(stop, id);
      const { body } = await ann.elsewhere.get(`/v1/rentals/${id}`);
      assert.notEqual((body as unknown as { status: string }).status, 'provisioning');
      const key = await ann.type('keys create ci', { stdout: takesNothing(code), types: mailedCode });
      const { apiKeys } = (await ann.elsewhere.get('/v1/api-keys')).body as unknown as {
        apiKeys: { id: string; name: string }[];
      };
      namesIt(key, apiKeys.find(({ name }) => name === 'ci')!.id);
      ann = await Person.at(mock);
      await ann.pay(100);
    }
  });

  it('ends as it should where nothing was bought: quietly after a reader, in words at a full disk', async () => {
    const left = await ann.type('topup', { stdout: takesNothing('EPIPE') });
    assert.deepEqual([left.code, left.err], [0, '']);
    const full = await ann.type('topup', { stdout: takesNothing('ENOSPC') });
    assert.equal(full.code, exitCodes.fault);
    assert.match(full.err, /could not be written: the disk is full\./);
  });

  it('does not take a part of its output for the whole, at a disk that is nearly full', async () => {
    const file = join(ann.home, 'offers.json');
    const line = `trap "" XFSZ; ulimit -f 2; exec ${await gpuLine()} offers --json > ${file}`;
    const { code, stderr } = await runProgram('env', [
      ...[`HOME=${ann.home}`, `GPU_API_URL=${mock.url}`, `GPU_API_KEY=${ann.apiKey ?? ''}`],
      ...['bash', '-c', line],
    ]);
    assert.equal(statSync(file).size, 2_048);
    assert.equal(code, exitCodes.fault, stderr);
    assert.match(stderr, /The output could not be written/);
  });

  it('names the payment when nobody can wait for it', async () => {
    for (const answer of [noNetwork, refused(401, 'key_revoked'), refused(500, 'internal_error')]) {
      const fetch = after_(/^POST \/v1\/billing\/checkout$/, answer);
      const { code, err } = await ann.type('pay 20 --json --no-browser', { fetch });
      const topups = (await ann.elsewhere.get('/v1/billing/topups')).body as unknown as {
        topups: { id: string }[];
      };
      const { details } = JSON.parse(err) as Told;
      assert.deepEqual([code, details['topupId']], [exitCodes.committed, topups.topups[0]!.id]);
      assert.match(String(details['checkoutUrl']), /^http/);
    }
  });

  it('says of each machine whether it was stopped, when some were and some were not', async () => {
    const ids = [await ann.rent('rtx-4090 --no-wait'), await ann.rent('rtx-4090 --no-wait')];
    const one = new RegExp(`^POST /v1/rentals/${ids[0]!}/stop$`);
    const { code, err } = await ann.type('stop --all --yes --json', { fetch: losing(one, cut) });
    assert.equal(code, exitCodes.committed);
    const { details } = JSON.parse(err) as Told;
    assert.deepEqual([details['stopped'], details['unknown'], details['running']], [[ids[1]], [ids[0]], []]);
  });

  it('says what it does not know of a change whose answer is lost', async () => {
    const id = await ann.rent('rtx-4090 --no-wait');
    const fetch = losing(/^PATCH /, cut);
    namesIt(await ann.type(`extend ${id} --max-spend 50`, { fetch }), id);
    const never = await ann.type(`extend ${id} --max-spend 50`, {
      fetch: async (input, init) => {
        const request = new Request(input, init);
        return request.method === 'PATCH' ? noNetwork() : fetch(request);
      },
    });
    assert.equal(never.code, exitCodes.network, 'nothing was sent');
  });

  describe('with a change of what may be spent', () => {
    const lines: Readonly<Record<string, { line: string; which: RegExp; named?: string }>> = {
      'how long a machine is kept': { line: 'keep-alive ID --for 2h', which: /keep-alive$/ },
      'the budget': { line: 'budget set 50', which: /^PUT .*budget$/, named: 'budget' },
      'automatic top-ups': { line: 'topup auto off', which: /^PUT .*auto/, named: 'top-ups' },
      'the cap of a key': { line: 'keys change ci --spend-cap 50', which: /^PATCH .*api-keys/, named: 'ci' },
    };
    for (const [what, { line, which, named }] of Object.entries(lines)) {
      it(`says what it does not know of ${what}, also at ctrl-C`, async () => {
        const id = await ann.rent('rtx-4090 --no-wait --stop-when-idle 30m --ignore-sessions');
        await ann.elsewhere.post('/v1/api-keys', { name: 'ci', scopes: ['read'] });
        const typed = line.replace('ID', id);
        namesIt(await ann.withCode(typed, { fetch: losing(which, cut) }), named ?? id);

        const stopping = new AbortController();
        const leaving = losing(which, () => {
          stopping.abort(new Error('Cancelled.'));
          return cut();
        });
        const { signal } = stopping;
        namesIt(await ann.withCode(typed, { fetch: leaving, signal }), named ?? id);

        const never: typeof fetch = (input, init) => {
          const { method, url } = new Request(input, init);
          return which.test(`${method} ${new URL(url).pathname}`) ? noNetwork() : fetch(input, init);
        };
        assert.equal(
          (await ann.withCode(typed, { fetch: never })).code,
          exitCodes.network,
          'nothing was sent',
        );
      });
    }
  });

  it('prints its failures as one object, and nothing beside it, whatever goes wrong', async () => {
    const lines: readonly (readonly [string, RunOptions?])[] = [
      ...['', 'frobnicate', 'rent --gpus x', 'keys ssh frob', 'webhooks', 'ledger --csv'].map(
        (line) => [line] as const,
      ),
      ['pay'],
      ['rent rtx-4090'],
      ['balance', { fetch: noNetwork, gapMs: 1 }],
      ['watch', { fetch: refused(500, 'internal_error') }],
      ['balance', { env: { GPU_API_KEY: 'é' } }],
      ['balance', { env: { GPU_API_URL: 'ftp://x' } }],
      ['balance', { env: { HTTPS_PROXY: 'ftp://x' } }],
    ];
    for (const [line, options] of lines) {
      const { code, out, err } = await ann.run([...line.split(' ').filter(Boolean), '--json'], options);
      assert.ok(code > 0, line);
      assert.equal(out, '', line);
      assert.equal((JSON.parse(err) as Told).exitCode, code, line);
    }
  });

  it('ends a pipe whose reader has left with the code of something that was bought', async () => {
    const line = `"$GPU" rent rtx-4090 --yes --no-wait | true; echo "code \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await runProgram('env', [
      ...[`HOME=${ann.home}`, `GPU=${gpuFile}`, `GPU_API_URL=${mock.url}`, `GPU_API_KEY=${ann.apiKey ?? ''}`],
      ...['bash', '-c', line],
    ]);
    assert.equal(stdout, `code ${exitCodes.committed}\n`, stderr);
    assert.match(stderr, /rent_\w{26}/);
  });
});
