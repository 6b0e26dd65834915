import assert from 'node:assert/strict';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { Person } from './support/person.js';

const escape = '\u001b';

describe('gpu, from the offers to the statement', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 50, endMs: 20 } });
    ann = await Person.at(mock);
  });
  after(() => mock.stop());

  it('shows what is on offer, the cheapest first', async () => {
    const { out } = await ann.type('offers');
    assert.match(out, /^FAMILY +FROM +MACHINES\nrtx-4090 +\$0\.40 +\d+\n/);
    const machines = await ann.type('offers h100-80gb --gpus 8');
    assert.match(machines.out, /\n8 x H100 SXM 80GB +\$23\.92 +US, North Texas/);
    assert.match(machines.out, /Rent one: gpu rent h100-80gb --gpus 8\n$/);
    const { listings } = await ann.json<{ listings: { pricePerHourCents: number }[] }>('offers rtx-4090');
    const prices = listings.map(({ pricePerHourCents }) => pricePerHourCents);
    assert.deepEqual(
      prices,
      prices.toSorted((a, b) => a - b),
    );
    assert.equal((await ann.json<{ listings: object[] }>('offers rtx-4090 --limit 2')).listings.length, 2);
    assert.equal((await ann.type('offers rtx-9999')).code, exitCodes.usage);
    assert.equal((await ann.type('offers b200 --max-price 1')).code, exitCodes.notAvailable);
  });

  it('says how much is missing before it rents, and how to pay it', async () => {
    const { code, err } = await ann.type('rent h100-80gb --gpus 8 --yes');
    assert.equal(code, exitCodes.noMoney);
    assert.match(
      err,
      /cover the first hour, \$23\.92\. You need \$23\.92 more\.\nAdd money first: gpu pay 24\n/,
    );
  });

  it('pays on a page, and waits until the money is there', async () => {
    const { code, out, err } = await ann.type('pay 100', {
      onOutput: (all) => {
        const url = /http\S+checkout\S+/.exec(all)?.[0];
        if (url !== undefined && !paid.has(url)) {
          paid.add(url);
          void fetch(url, { redirect: 'manual' });
        }
      },
    });
    assert.equal(code, 0, err);
    assert.match(err, /^Pay \$100\.00 on this page:\n/);
    assert.match(out, /^Paid: \$100\.00 is in your wallet\. You now have \$100\.00 available\.\n/);
    assert.match((await ann.type('topup')).out, /\$100\.00 +paid +payment page +top_/);
    const later = await ann.json<{ checkoutUrl: string }>('pay 5 --no-wait --no-browser');
    const listed = (await ann.type('topup')).out;
    assert.ok(listed.endsWith(`\n\nPay the $5.00 on: ${later.checkoutUrl}\n`), listed);
  });
  const paid = new Set<string>();

  it('tells the worst case of a quote, with a limit and without one', async () => {
    const limited = await ann.type('quote h100-80gb --gpus 8 --hours 2');
    assert.match(limited.out, /\nAt most +\$47\.84, then it stops\n/);
    assert.match(limited.out, /Rent it within .* gpu rent --quote quo_\w+\n$/);
    const open = await ann.type('quote h100-80gb --gpus 8');
    assert.match(open.out, /\nAt most +your whole balance: it has no limit/);
    const quote = await ann.json<Record<string, unknown>>('quote h100-80gb --gpus 8 --max-spend 30');
    assert.equal(quote['worstCaseCents'], 3_000);
  });

  it('goes by the service’s clock where this computer’s is off', async () => {
    const hour = 3_600_000;
    const inHours = (hours: number): string => new Date(Date.now() + hours * hour).toISOString();
    const about = (at: string, hours: number): void =>
      assert.ok(Math.abs(Date.parse(at) - Date.now() - hours * hour) < 60_000, at);
    const bob = await Person.at(mock);
    await bob.pay(20);
    await bob.rent('rtx-4090 --name clock --stop-when-idle 30m --ignore-sessions');
    for (const off of [-30 * hour, 30 * hour]) {
      const options = { now: () => Date.now() + off, columns: 200 };
      const reached = await bob.type(`extend clock --until ${inHours(-1)}`, options);
      assert.deepEqual([reached.code, reached.out], [exitCodes.usage, ''], 'it would stop at once');
      const later = await bob.json<{ autoStopAt: string }>(`extend clock --until ${inHours(2)}`, options);
      about(later.autoStopAt, 2);
      type Kept = { idleGuard: { keepAliveUntil: string } };
      const { idleGuard } = await bob.json<Kept>('keep-alive clock --for 3h', options);
      about(idleGuard.keepAliveUntil, 3);
      const made = await bob.withCode('keys create clock --days 1 --json', options);
      about((JSON.parse(made.out) as { expiresAt: string }).expiresAt, 24);
      assert.match((await bob.type('quote rtx-4090', options)).out, /(5\d s|1 min)/);
      assert.match((await bob.type('show clock', options)).out, /\nRan +\d s\n/);
    }
  });

  it('rents, shows, extends and stops a machine', async () => {
    const rent = await ann.type(
      'rent h100-80gb --gpus 8 --name training --hours 2 --label team=vision --notes first --yes',
    );
    assert.equal(rent.code, 0, rent.err);
    assert.match(
      rent.err,
      /^Machine +8 x H100 SXM 80GB \(80 GB each\) in US, North Texas\nPrice +\$23\.92 an hour/,
    );
    assert.match(rent.out, /^Ready after \d+ s: \w{6}, 8 x H100 SXM 80GB in US, North Texas\n/);
    assert.match(rent.out, /\nLog in +gpu ssh \w{6}\n/);
    assert.match(
      (await ann.type('ls')).out,
      /^ID +NAME +GPUS .*\n\w{6} +training +8 x H100 SXM 80GB +running /,
    );
    assert.match((await ann.type('show training')).out, /\nLabels +team=vision\nNotes +first\n/);
    const { autoStopAt } = await ann.json<{ autoStopAt: string }>('show training');
    const extended = await ann.json<{ autoStopAt: string }>('extend training --by 90m');
    assert.equal(Date.parse(extended.autoStopAt) - Date.parse(autoStopAt), 5_400_000);
    const limited = await ann.json<Record<string, unknown>>('extend --max-spend 50 --no-time-limit');
    assert.deepEqual([limited['maxSpendCents'], limited['autoStopAt']], [5_000, null]);
    assert.equal((await ann.type('extend training --by 1h')).code, exitCodes.usage, 'it has no time to move');
    await until('something was charged', async () => {
      const { rentals } = await ann.json<{ rentals: { totalChargedCents: number }[] }>('ls');
      return rentals[0]!.totalChargedCents > 0;
    });
    for (const reached of ['--until 2020-01-01', '--max-spend 0.01']) {
      const { code, err } = await ann.type(`extend training ${reached}`);
      assert.equal(code, exitCodes.usage, 'a slip of the pen ends no machine');
      assert.match(err, /\w{6} would\s+stop\s+at\s+once.*gpu stop \w{6}/s);
    }
    const stop = await ann.type('stop training');
    assert.match(
      stop.out,
      /^Stopped \w{6} \(8 x H100 SXM 80GB\)\. It cost \$0\.0\d; you got back \$23\.\d\d of the hold\.\n$/,
    );
    const again = await ann.type('stop training');
    assert.deepEqual([again.code, again.out], [0, stop.out], 'who asks again reads the same figures');
    assert.match((await ann.type('show training')).out, /\nEnded +you stopped it\n/);
  });

  it('takes a quote once, however often it is asked', async () => {
    const { quoteId } = await ann.json<{ quoteId: string }>('quote rtx-4090');
    const first = await ann.json<{ id: string }>(`rent --quote ${quoteId} --no-wait`);
    const second = await ann.json<{ id: string; warnings: string[] }>(`rent --quote ${quoteId}`);
    assert.deepEqual(second.warnings, [], 'the key of this computer opens it, as when it is rented at once');
    assert.equal(second.id, first.id);
    assert.equal((await ann.type(`rent b200 --quote ${quoteId}`)).code, exitCodes.usage);
    assert.equal((await ann.type('stop --all --yes')).code, 0);
  });

  it('says that a machine did not come up, and that nothing was charged', async () => {
    const failing: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      if (request.method === 'POST' && request.url.endsWith('/rentals'))
        request.headers.set('X-Mock-Rental', 'fails');
      return fetch(request);
    };
    const { code, err } = await ann.type('rent rtx-4090 --yes', { fetch: failing });
    assert.equal(code, exitCodes.notReached);
    assert.match(err, /not charged/);
  });

  it('asks again when the price has changed meanwhile, and gives the new one', async () => {
    let changed = 0;
    const changing: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await fetch(request.clone());
      if (request.method !== 'POST' || !request.url.endsWith('/rentals') || changed > 0) return response;
      changed += 1;
      const headers = {
        authorization: request.headers.get('authorization') ?? '',
        'content-type': 'application/json',
      };
      const cookie = request.headers.get('cookie') ?? '';
      const body = JSON.stringify({ familyId: 'rtx-4090', gpuCount: 1 });
      const answer = await fetch(`${mock.url}/v1/quotes`, {
        method: 'POST',
        headers: { ...headers, cookie },
        body,
      });
      const quote = await answer.json();
      const refusal = {
        error: 'price_changed',
        message: 'Dearer now.',
        requestId: 'x',
        details: { quote, alternatives: [] },
      };
      return new Response(JSON.stringify(refusal), {
        status: 409,
        headers: { 'content-type': 'application/json' },
      });
    };
    const { code, err } = await ann.type('rent rtx-4090 --yes', { fetch: changing });
    assert.equal(code, 0, err);
    assert.match(err, /The price has changed\.\nMachine /);
    await ann.type('stop --all --yes');
  });

  it('finds a machine by a name only when it is the only one, and names them otherwise', async () => {
    const ids = [await ann.rent('rtx-4090 --name twin'), await ann.rent('rtx-4090 --name twin')];
    const { code, err } = await ann.type('show twin');
    assert.equal(code, exitCodes.usage);
    for (const id of ids) assert.ok(err.includes(`${id.slice(-6)} (twin)`), err);
    assert.equal((await ann.type('show')).code, exitCodes.usage);
    assert.equal((await ann.json<{ id: string }>(`show ${ids[1]}`)).id, ids[1]);
    assert.match((await ann.type('stop --all --yes')).out, /^Stopped \w{6} .*\nStopped \w{6} /);
    assert.equal((await ann.type('show nobody')).code, exitCodes.notFound);
    await until('both are gone', async () => (await ann.type('ls')).out.startsWith('No machines running.'));
  });

  it('shows each cent, and why', async () => {
    const { entries } = await ann.json<{ entries: { id: string; type: string }[] }>('ledger');
    // The oldest charge is the one of the dear machine.
    const charge = entries.findLast(({ type }) => type === 'rental_charge')!;
    const explained = await ann.type(`explain ${charge.id}`);
    assert.match(explained.out, /at\s+\$23\.92\s+an\s+hour/);
    assert.match(explained.out, /\nSum +\S.* = \d/);
    assert.equal((await ann.type(`explain ${charge.id.slice(-6)}`)).out, explained.out);
    assert.equal((await ann.type('explain')).code, 0, 'the newest one');
    assert.equal((await ann.type('explain ZZZZZZ')).code, exitCodes.notFound);
    assert.match((await ann.type('ledger --csv')).out, /^[a-zA-Z_,]+\r?\n/);
    const { out } = await ann.type('statement --by team');
    assert.match(out, /\nPaid in +\$100\.00\nMachines +-\$0\.\d\d\n/);
    assert.match(out, /\nteam=vision +-\$0\.0\d\n/);
    assert.equal((await ann.type('statement --from 2026-02-01 --to 2026-01-01')).code, exitCodes.usage);
  });

  const everything = [
    ...['offers', 'offers h100-80gb', 'quote rtx-4090', 'quote b200 --gpus 8', 'ls', 'ls --all', 'show long'],
    ...[
      'balance',
      'topup',
      'topup auto',
      'card',
      'budget',
      'ledger',
      'statement',
      'statement --by team',
      'explain',
      'invoices',
      'receipts',
      'billing details',
    ],
    ...[
      'keys ssh',
      'extend long --max-spend 50',
      'rename long long',
      'label long team=a note-',
      'events',
      'events long',
      'audit',
      'webhooks listen --print-secret',
    ],
  ];

  it('tells people nothing in the words of an upstream: no code of a model, no user of a machine', async () => {
    await ann.rent('h100-80gb --name upstreams');
    for (const line of ['offers', 'offers h100-80gb', 'quote h100-80gb', 'ls', 'show upstreams', 'events']) {
      const { out } = await ann.type(line);
      assert.doesNotMatch(out, /[A-Z0-9]_[A-Z0-9]|\bmock\b|root@/, line);
    }
    assert.match((await ann.type('show upstreams')).out, /\nSSH +203\.0\.113\.\d+ port 22\n/);
    assert.equal((await ann.json<{ username: string }>('show upstreams')).username, 'root');
    await ann.type('stop upstreams --yes');
  });

  it('fits a terminal of 40 columns in every output', async () => {
    await ann.rent(`rtx-4090 --name long --label note=${'x'.repeat(20)}`);
    for (const line of everything) {
      const { code, out } = await ann.type(line, { columns: 40 });
      assert.equal(code, 0, line);
      // What must be copied whole is not broken: ids, keys, fingerprints.
      const wide = out.split('\n').filter((each) => widthOf(each) > 40 && !/\S{28,}/.test(each));
      assert.deepEqual(wide, [], line);
    }
    const helps = ['--help', 'rent --help', 'keys --help', 'keys create --help', 'webhooks listen --help'];
    for (const line of helps) {
      const { out } = await ann.type(line, { columns: 40 });
      const wide = out.split('\n').filter((each) => widthOf(each) > 40);
      assert.deepEqual(wide, [], line);
    }
  });

  it('says everything as JSON too, and says it alone', async () => {
    for (const line of everything) {
      const { code, out } = await ann.type(`${line} --json`, { columns: 40 });
      assert.equal(code, 0, line);
      if (!line.includes('--print-secret')) assert.equal(typeof JSON.parse(out), 'object', line);
    }
    await ann.type('stop --all --yes');
  });

  it('has no colours where there is no terminal, under NO_COLOR, or by --no-color; and has them otherwise', async () => {
    const coloured = { NO_COLOR: '', TERM: 'xterm' };
    const piped = await ann.type('balance', { env: coloured });
    const asked = await ann.type('balance', { columns: 80, env: { NO_COLOR: '1' } });
    const option = await ann.type('balance --no-color', { columns: 80, env: coloured });
    for (const { out } of [piped, asked, option]) assert.ok(!out.includes(escape));
    const dressed = await ann.type('balance', { columns: 80, env: coloured });
    assert.ok(dressed.out.startsWith(`${escape}[2mAvailable`), dressed.out);
  });

  it('lets no name of a machine move the cursor', async () => {
    const { body } = await ann.elsewhere.post('/v1/rentals', {
      familyId: 'rtx-4090',
      gpuCount: 1,
      name: 'plain',
    });
    const evil: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
      const text = (await response.text()).replaceAll('"plain"', '"\\u001b[2Jevil\\u202e"');
      return new Response(text, { status: response.status, headers: response.headers });
    };
    for (const line of ['ls', `show ${body.id}`, `stop ${body.id}`]) {
      const { code, out, err } = await ann.type(line, { fetch: evil, columns: 80 });
      assert.equal(code, 0, err);
      assert.ok(![escape, '\u202e'].some((sign) => (out + err).includes(sign)), line);
    }
  });
});
