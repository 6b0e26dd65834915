import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { hashOfMachineToken, machineTokenOf, sealBundle } from '../../adapters/machine-bundles.js';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import { insertAttempt, moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import { insertMachineToken, type MachineDesk } from '../../adapters/postgres/machines/machine-tokens.js';
import type { AllocationAttemptRow } from '../../adapters/postgres/rows/tables.js';
import { startTestListener, type TestListener } from '../support/http/listener.js';
import { insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

const key = randomBytes(32).toString('base64');
const script = '#!/bin/sh\necho “planted-script”\n';
const routes = [
  ['GET', '/v1/machine/bundle', undefined],
  ['POST', '/v1/machine/bundle/acknowledged', undefined],
  ['POST', '/v1/machine/reports', 'report'],
  ['POST', '/v1/machine/use', 'report'],
  ['POST', '/v1/machine/use/keep-alive', '2h'],
] as const;

interface Machine {
  readonly attempt: AllocationAttemptRow;
  readonly bundle: string;
  readonly report: string;
  readonly use: string;
}

describe('the listener of machines', () => {
  let database: MoneyDatabase;
  let db: Database;
  let listener: TestListener;
  /** Statements that went to the database. */
  let asked = 0;
  const counting = (desk: MachineDesk): MachineDesk => ({
    bundle: (hash) => ((asked += 1), desk.bundle(hash)),
    acknowledge: (hash) => ((asked += 1), desk.acknowledge(hash)),
    report: (hash, body) => ((asked += 1), desk.report(hash, body)),
    use: (hash, body) => ((asked += 1), desk.use(hash, body)),
    keepAlive: (hash, minutes) => ((asked += 1), desk.keepAlive(hash, minutes)),
  });

  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    listener = await startTestListener(database.url, { wrapDesk: counting });
  });
  after(async () => {
    await listener.stop();
    await database.close();
  });

  async function insertMachine(): Promise<Machine> {
    const rental = await insertRental(db, (await insertUser(db)).id);
    const attempt = await insertAttempt(db, {
      ...{ rentalId: rental.id, deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
      ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
    const bundle = machineTokenOf(key, 'bundle', attempt.tag);
    const report = machineTokenOf(key, 'report', attempt.tag);
    const use = machineTokenOf(key, 'use', attempt.tag);
    for (const [purpose, token] of [
      ['bundle', bundle],
      ['report', report],
      ['use', use],
    ] as const) {
      const sealed = purpose === 'bundle' ? sealBundle(token, script) : null;
      await insertMachineToken(db, {
        hash: hashOfMachineToken(token),
        attemptId: attempt.id,
        purpose,
        sealed,
      });
    }
    return { attempt, bundle, report, use };
  }

  interface Told {
    readonly status: number;
    readonly headers: string;
    readonly text: string;
  }

  /** An answer whole, but for the instant. */
  async function ask(
    method: string,
    path: string,
    authorization: string | null,
    body?: string | Buffer,
    at = listener,
  ): Promise<Told> {
    const headers = authorization === null ? {} : { authorization };
    const answer = await fetch(`${at.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
    const told = [...answer.headers].filter(([name]) => name !== 'date');
    return { status: answer.status, headers: JSON.stringify(told), text: await answer.text() };
  }
  const fetchBundle = (token: string) => ask('GET', routes[0][1], `Bearer ${token}`);
  const acknowledge = (token: string) => ask('POST', routes[1][1], `Bearer ${token}`);
  const report = (token: string, body: string | Buffer) => ask('POST', routes[2][1], `Bearer ${token}`, body);

  it('hands out what the token opens, until it is acknowledged', async () => {
    const { bundle } = await insertMachine();
    for (const answer of [await fetchBundle(bundle), await fetchBundle(bundle)]) {
      assert.deepEqual([answer.status, answer.text], [200, script]);
      assert.match(answer.headers, /no-store/);
    }
    assert.equal((await acknowledge(bundle)).status, 204);
    assert.equal((await fetchBundle(bundle)).status, 401);
  });

  it('gives every token that does nothing now one answer, byte for byte', async () => {
    const stolen = await insertMachine();
    await fetchBundle(stolen.bundle);
    await acknowledge(stolen.bundle);
    const spent = await insertMachine();
    for (let time = 0; time < 5; time += 1) assert.equal((await fetchBundle(spent.bundle)).status, 200);
    const condemned = await insertMachine();
    await moveAttempt(db, condemned.attempt.id, 'open', 'condemned');
    const alive = await insertMachine();
    const none = randomBytes(32).toString('hex');
    const useless: Record<(typeof routes)[number][1], (string | null)[]> = {
      '/v1/machine/bundle': [stolen.bundle, spent.bundle, condemned.bundle, alive.report, none, null],
      '/v1/machine/bundle/acknowledged': [
        stolen.bundle,
        condemned.bundle,
        alive.bundle,
        alive.report,
        none,
        null,
      ],
      '/v1/machine/reports': [condemned.report, alive.bundle, alive.use, none, null],
      '/v1/machine/use': [condemned.use, alive.bundle, alive.report, none, null],
      '/v1/machine/use/keep-alive': [condemned.use, alive.bundle, alive.report, none, null],
    };
    const answers = new Set<string>();
    for (const [method, path, body] of routes) {
      for (const token of useless[path]) {
        answers.add(JSON.stringify(await ask(method, path, token && `Bearer ${token}`, body)));
      }
      for (const header of [
        'Bearer',
        'Bearer x',
        `Basic ${alive.bundle}`,
        `bearer ${alive.bundle}`,
        `Bearer ${alive.bundle} `.repeat(2),
      ]) {
        answers.add(JSON.stringify(await ask(method, path, header, body)));
      }
    }
    assert.equal(answers.size, 1, [...answers].join('\n'));
    const [only] = [...answers].map((text) => JSON.parse(text) as Told);
    assert.equal(only?.status, 401);
  });

  it('keeps a report once, and refuses it in words afterwards', async () => {
    const { report: token, attempt } = await insertMachine();
    assert.equal((await report(token, 'gpu 0: ok')).status, 204);
    const again = await report(token, 'gpu 0: ok');
    assert.deepEqual(
      [again.status, (JSON.parse(again.text) as { error: string }).error],
      [409, 'report_repeated'],
    );
    for (let no = 2; no <= 10; no += 1) assert.equal((await report(token, `report ${no}`)).status, 204);
    const late = await report(token, 'report 11');
    assert.equal(late.status, 429);
    assert.match(late.headers, /\["retry-after","60"\]/);
    assert.equal((await db('machine_reports').where({ attempt_id: attempt.id })).length, 10);
  });

  it('takes a report of use each six seconds, and says when the machine stops', async () => {
    const { use: token, attempt } = await insertMachine();
    const rental = await db('rentals').where({ id: attempt.rental_id }).first('no');
    const tellUse = (uptime: number | string) =>
      ask('POST', '/v1/machine/use', `Bearer ${token}`, `gpu-use 1 ${uptime} 1 2 3 0`);
    const age = () => db('machine_uses').update({ received_at: new Date(0) });
    const first = await tellUse(60);
    assert.deepEqual([first.status, first.text], [204, '']);
    assert.equal((await tellUse(66)).status, 429);
    await age();
    assert.equal((await tellUse(60)).status, 409);
    const wrong = await tellUse('long');
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /begins with gpu-use 1 and the uptime/);
    await db('idle_guards').insert({
      ...{ rental_no: rental?.no ?? 0, minutes: 15, stops_at: new Date('2026-11-01T10:32:40Z') },
    });
    const warned = await tellUse(66);
    assert.deepEqual(
      [warned.status, warned.text],
      [200, 'This machine is idle and stops at 10:32 UTC. Use it, or run on your computer: gpu keep-alive\n'],
    );
  });

  it('takes a report of 4 KiB of text, and asks the database for no other', async () => {
    const { report: token } = await insertMachine();
    const before = asked;
    for (const [body, status] of [
      ['x'.repeat(4_097), 413],
      ['', 400],
      ['a\0b', 400],
      [Buffer.from([0xff, 0xfe]), 400],
    ] as const) {
      assert.equal((await report(token, body)).status, status);
    }
    assert.equal(asked, before);
    assert.equal((await report(token, 'x'.repeat(4_096))).status, 204);
  });

  it('does not wait for a body that never ends, however long it is said to be', async () => {
    const { report: token } = await insertMachine();
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${listener.url}/v1/machine/reports`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-length': '100000000' },
      });
      sent.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.write('x');
    });
    assert.equal(status, 413);
  });

  it('has nothing but its routes, for any method', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/v1/machine/bundle/'],
      ['POST', '/v1/machine/bundle'],
      ['GET', '/v1/machine/reports'],
      ['GET', '/v1/rentals'],
    ] as const) {
      assert.equal((await ask(method, path, null)).status, 404, `${method} ${path}`);
    }
  });

  it('tells monitors whether it lives, and whether its database answers', async () => {
    assert.equal((await ask('GET', '/healthz', null)).status, 200);
    const looks = ['/readyz', '/v1/machine/ready'];
    for (const path of looks) assert.equal((await ask('GET', path, null)).status, 200, path);
    const nobody = new URL(database.url);
    nobody.port = '9';
    const lone = await startTestListener(nobody.toString());
    try {
      assert.equal((await ask('GET', '/healthz', null, undefined, lone)).status, 200);
      for (const path of looks)
        assert.equal((await ask('GET', path, null, undefined, lone)).status, 503, path);
      const answer = await ask('GET', routes[0][1], `Bearer ${'a'.repeat(64)}`, undefined, lone);
      assert.deepEqual([answer.status, answer.headers.includes('retry-after')], [503, true]);
    } finally {
      await lone.stop();
    }
  });

  it('tells nobody what a bundle is that its token does not open', async () => {
    const { bundle, attempt } = await insertMachine();
    const sealed = sealBundle(machineTokenOf(key, 'bundle', 'other'), script);
    await db('machine_tokens').where({ attempt_id: attempt.id, purpose: 'bundle' }).update({ sealed });
    const answer = await fetchBundle(bundle);
    assert.equal(answer.status, 500);
    assert.doesNotMatch(answer.text, /planted|unable|decrypt/i);
  });

  it('writes no token and no bundle into its log', () => {
    const lines = listener.logged.join('');
    assert.ok(listener.logged.length > 30);
    assert.doesNotMatch(lines, /[0-9a-f]{64}|planted|Bearer/);
  });

  it('writes no line for each look whether it hears machines', async () => {
    const before = listener.logged.length;
    for (const path of ['/healthz', '/readyz', '/v1/machine/ready'])
      assert.equal((await ask('GET', path, null)).status, 200);
    assert.equal((await ask('GET', '/elsewhere', null)).status, 404);
    const lines = listener.logged.slice(before).filter((line) => line.includes('"msg":"request"'));
    assert.equal(lines.length, 1, lines.join(''));
  });

  describe('bounds an address', () => {
    let small: TestListener;
    beforeEach(async () => {
      small = await startTestListener(database.url, {
        ...{ wrapDesk: counting, perMinuteOfAddress: 3, perMinuteOfToken: 5, trustProxy: true },
      });
    });
    afterEach(() => small.stop());

    const guess = async (from: string): Promise<number> => {
      const authorization = `Bearer ${randomBytes(32).toString('hex')}`;
      const headers = { authorization, 'x-forwarded-for': from };
      const answer = await fetch(`${small.url}${routes[0][1]}`, { headers });
      await answer.text();
      return answer.status;
    };

    it('before any query, whatever it sends', async () => {
      const before = asked;
      const statuses: number[] = [];
      for (let time = 0; time < 6; time += 1) statuses.push(await guess('192.0.2.1'));
      assert.deepEqual(statuses, [401, 401, 401, 429, 429, 429]);
      assert.equal(asked - before, 3);
      assert.equal(await guess('192.0.2.2'), 401, 'another one is not held up');
    });

    const tell = async (token: string, body: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' };
      const answer = await fetch(`${small.url}${routes[2][1]}`, { method: 'POST', headers, body });
      await answer.text();
      return answer.status;
    };

    it('and refuses no token that is known for the noise beside it', async () => {
      const { report: told } = await insertMachine();
      assert.equal(await tell(told, 'first'), 204);
      for (let time = 0; time < 6; time += 1) await guess('192.0.2.1');
      assert.equal(await guess('192.0.2.1'), 429);
      assert.equal(await tell(told, 'second'), 204);
      assert.equal(await tell(told, 'second'), 409);
    });

    it('and a token that is known as well', async () => {
      const { report: told } = await insertMachine();
      const statuses: number[] = [];
      for (let time = 0; time < 7; time += 1) statuses.push(await tell(told, `report ${time}`));
      // The first counts for its address.
      assert.deepEqual(statuses, [204, 204, 204, 204, 204, 204, 429]);
    });

    it('and knows no token any more that does nothing now', async () => {
      const { report: told, attempt } = await insertMachine();
      assert.equal(await tell(told, 'first'), 204);
      await moveAttempt(db, attempt.id, 'open', 'condemned');
      assert.equal(await tell(told, 'second'), 401);
      for (let time = 0; time < 3; time += 1) await guess('192.0.2.1');
      const before = asked;
      assert.equal(await tell(told, 'third'), 429);
      assert.equal(asked, before);
    });

    it('and takes no token for known because it asked whether the listener lives', async () => {
      const token = randomBytes(32).toString('hex');
      const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' };
      for (const path of ['/healthz', '/readyz', '/readyz']) {
        assert.equal((await fetch(`${small.url}${path}`, { headers })).status, 200, path);
      }
      assert.equal((await fetch(`${small.url}/healthz`, { headers })).status, 429);
    });

    it('and what brings no token apart from what brings one', async () => {
      for (let time = 0; time < 5; time += 1) {
        const headers = { 'x-forwarded-for': '192.0.2.1' };
        await (await fetch(`${small.url}/elsewhere`, { headers })).text();
      }
      assert.equal(await guess('192.0.2.1'), 401);
    });

    it('but for workers that look whether machines are heard, all by one query', async () => {
      const before = asked;
      for (let time = 0; time < 20; time += 1) {
        assert.equal((await ask('GET', '/v1/machine/ready', null, undefined, small)).status, 200);
      }
      assert.ok(asked - before < 5, `${asked - before} queries`);
    });

    it('as the proxy tells it, and a whole /64 as one', async () => {
      for (let time = 0; time < 3; time += 1) {
        // What the caller wrote itself comes first.
        assert.equal(await guess(`10.0.0.${time}, 2001:db8::${time}`), 401);
      }
      assert.equal(await guess('2001:db8::ffff'), 429);
    });
  });
});
