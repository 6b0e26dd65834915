import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import Stripe from 'stripe';
import { BodyBudget } from '../../../api/http/middleware/body-budget.js';
import { processorEventsPath } from '../../../api/processor-events/path.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import { startApi, webhookSecret, type TestApi } from '../../support/http/api.js';
import { until } from '../../support/until.js';

const KIB = 1024;

describe('the bodies of strangers (decision 130)', () => {
  let nowMs = 0;
  const never = (): Promise<never> => new Promise(() => undefined);
  const outcomeOf = (reading: Promise<unknown>): Promise<string> =>
    reading.then(
      () => 'read',
      (error: unknown) => (error instanceof Refusal ? error.code : 'failed'),
    );
  const budgetOf = (ofAddress: number | null): BodyBudget =>
    new BodyBudget({ ofProcess: 8 * KIB, ofAddress }, () => nowMs);

  it('are bounded for an address and in all, and a body that has arrived counts no more', async () => {
    const budget = budgetOf(2 * KIB);
    assert.equal(await outcomeOf(budget.read('a', KIB, () => Promise.resolve())), 'read');
    void budget.read('a', 2 * KIB, never);
    assert.equal(await outcomeOf(budget.read('a', 1, never)), 'temporarily_unavailable');
    for (const address of ['b', 'c', 'd']) void budget.read(address, 2 * KIB, never);
    assert.equal(await outcomeOf(budget.read('e', 1, never)), 'temporarily_unavailable');
  });

  it('are bounded in all alone where addresses are a proxy’s word', async () => {
    const budget = budgetOf(null);
    for (let nth = 0; nth < 4; nth += 1) void budget.read('a', 2 * KIB, never);
    assert.equal(await outcomeOf(budget.read('b', 1, never)), 'temporarily_unavailable');
  });

  it('make room where one has not come for two seconds', async () => {
    const budget = budgetOf(2 * KIB);
    const stalled = outcomeOf(budget.read('a', 2 * KIB, never));
    nowMs += requestLimits.strangersBodyMs;
    assert.equal(await outcomeOf(budget.read('a', KIB, () => Promise.resolve())), 'read');
    assert.equal(await stalled, 'temporarily_unavailable');
  });
});

/** A connection on which the test sends its own bytes. */
class Line {
  received = '';
  closed = false;
  readonly socket: Socket;
  constructor(url: string) {
    this.socket = connect(Number(new URL(url).port), '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    this.socket.on('error', () => undefined).on('close', () => (this.closed = true));
  }

  send(...lines: readonly string[]): this {
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return this;
  }

  /** The status of each answer so far. */
  statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  }

  async status(): Promise<number> {
    return until('the answer has come', () => this.statuses()[0]);
  }
}

describe('what strangers ask for', () => {
  let api: TestApi;
  let lines: Line[] = [];
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  afterEach(() => {
    for (const { socket } of lines) socket.destroy();
    lines = [];
  });

  function line(): Line {
    const made = new Line(api.url);
    lines.push(made);
    return made;
  }

  const signedAt = (seconds: number): string =>
    `Stripe-Signature: t=${Math.floor(seconds)},v1=${'0'.repeat(64)}`;
  const nowS = (): number => Date.now() / 1_000;
  const deliver = (...headers: readonly string[]): Line =>
    line().send(
      `POST ${processorEventsPath} HTTP/1.1`,
      'Host: a',
      'Content-Type: application/json',
      ...headers,
    );

  /** Counts the statements that the API sends meanwhile. */
  async function statementsOf(ask: () => Promise<void>): Promise<number> {
    let count = 0;
    const note = (): number => (count += 1);
    api.deps.db.on('query', note);
    await ask();
    api.deps.db.off('query', note);
    return count;
  }

  const refusedUnread: [what: string, status: number, ask: () => Line][] = [
    ['an event without a signature', 400, () => deliver('Content-Length: 500000')],
    ['one of yesterday', 400, () => deliver('Content-Length: 500000', signedAt(nowS() - 86_400))],
    ['one of tomorrow', 400, () => deliver('Content-Length: 500000', signedAt(nowS() + 86_400))],
    ['one that is too large', 413, () => deliver('Content-Length: 600000', signedAt(nowS()))],
    [
      'a body at no route',
      404,
      () =>
        line().send(
          'POST /v1/nothing HTTP/1.1',
          'Host: a',
          `Cookie: sid=${'a'.repeat(43)}`,
          'Content-Length: 9000',
        ),
    ],
    [
      'a method that a route has not',
      405,
      () =>
        line().send(
          'PUT /v1/rentals HTTP/1.1',
          'Host: a',
          `Cookie: sid=${'a'.repeat(43)}`,
          'Content-Length: 9000',
        ),
    ],
    [
      'a link that nobody signed',
      404,
      () => line().send('GET /v1/notices/unsubscribe?token=usr_x HTTP/1.1', 'Host: a'),
    ],
  ];
  for (const [what, status, ask] of refusedUnread) {
    it(`is refused by its head, and asks nothing of the database: ${what}`, async () => {
      let answered: Line | undefined;
      const statements = await statementsOf(async () => {
        answered = ask();
        assert.equal(await answered.status(), status);
      });
      assert.equal(statements, 0);
    });
  }

  it('is refused before its body where a route needs a session, and the connection ends', async () => {
    const asked = line().send(
      'POST /v1/rentals HTTP/1.1',
      'Host: a',
      'Content-Type: application/json',
      'Content-Length: 9000',
    );
    assert.equal(await asked.status(), 401);
    await until('it is closed', () => asked.closed);
  });

  it('ends a connection that brings a body with a read', async () => {
    const asked = line().send('GET /healthz HTTP/1.1', 'Host: a', 'Content-Length: 1000000000');
    assert.equal(await asked.status(), 200);
    await until('it is closed', () => asked.closed);
  });

  it('is at most a megabyte of events at once, and the processor’s own pass by all that was refused', async () => {
    const stalled = [
      deliver('Content-Length: 520000', signedAt(nowS())),
      deliver('Content-Length: 520000', signedAt(nowS())),
    ];
    await until('both are being read', async () => {
      const third = deliver('Content-Length: 20000', signedAt(nowS()));
      return (await third.status()) === 503;
    });
    assert.equal((await api.stranger().get('/healthz')).status, 200);
    for (const { socket } of stalled) socket.destroy();
    const payload = JSON.stringify({
      ...{ id: 'evt_1', object: 'event', type: 'a.kind', created: 1, livemode: false, api_version: null },
      data: { object: { text: 'x'.repeat(20_000) } },
    });
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret });
    await until('there is room again', async () => {
      const answer = await api
        .stranger()
        .send('POST', processorEventsPath, payload, { 'Stripe-Signature': header });
      return answer.status === 200;
    });
    const many = await Promise.all(
      Array.from({ length: 100 }, () =>
        api.stranger().send('POST', processorEventsPath, payload, { 'Stripe-Signature': header }),
      ),
    );
    assert.deepEqual(new Set(many.map(({ status }) => status)), new Set([200]));
  });

  it('is answered in order where some are sent ahead on one connection', async () => {
    const asked = line();
    asked.send(
      'GET /healthz HTTP/1.1',
      'Host: a',
      '',
      'GET /v1/nothing HTTP/1.1',
      'Host: a',
      '',
      'GET /healthz HTTP/1.1',
      'Host: a',
    );
    await until('all three are answered', () => asked.statuses().length === 3);
    assert.deepEqual(asked.statuses(), [200, 404, 200]);
  });

  it('is cut where thousands are sent ahead in one write', async () => {
    const asked = line();
    asked.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5_000));
    await until('it is cut', () => asked.closed);
    assert.ok(asked.statuses().length <= requestLimits.pipelined, `${asked.statuses().length} were answered`);
  });
});
