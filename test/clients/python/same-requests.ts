import assert from 'node:assert/strict';
import { ApiError, GpuRental, leavesEarlierOpen } from '@gpu-rental/client';
import { refusalStatus, type RefusalCode } from '../../../domain/refusal.js';
import { clientCalls } from '../../contract/through-client.js';
import { describedOperations } from '../../support/http/described.js';
import { ScriptedApi, dies, refusal, type Reply } from '../typescript/support/scripted-api.js';
import { Program } from './support/city.js';
import { installedPython, PythonDriver } from './support/python.js';

const unknown = { outcome: 'unknown', lookAt: '/v1/rentals/rent_1', rentalId: 'rent_1' };
const whole = { status: 200, body: { ok: true, events: [], lastSeq: 0, nextCursor: null } };

/** What goes wrong before an answer comes. */
const troubles: Readonly<Record<string, Reply>> = {
  'a lost answer': dies,
  'a 500': refusal(500, 'internal_error'),
  'a 502 of something between': { status: 502, body: 'Bad Gateway' },
  'a 503 of what was not done': refusal(503, 'temporarily_unavailable', { outcome: 'not_done' }),
  'a 429': refusal(429, 'rate_limited', undefined, { 'Retry-After': '0' }),
  'a 409 in progress': refusal(409, 'idempotency_in_progress', { rentalId: 'rent_1' }),
  'a 404': refusal(404, 'not_found'),
};

/** The typed client and the Python one send the same, whatever becomes of it. */
export function describeSameRequests(): void {
  describe('the requests of the Python client', function () {
    this.timeout(300_000);
    let api: ScriptedApi;
    let driver: PythonDriver;
    let python: string;

    before(async () => {
      api = await ScriptedApi.start();
      python = await installedPython();
      driver = new PythonDriver(python);
    });
    after(async () => {
      driver.stop();
      await api.stop();
    });

    /** What arrived, and whether requests with a key had one key. */
    function arrived(): unknown {
      const keys = new Set(api.arrived.map(({ headers }) => headers['idempotency-key']));
      const sent = api.arrived.map(({ method, path, body, headers }) => ({
        ...{
          method,
          path: decodeURIComponent(path),
          body: body === '' ? null : (JSON.parse(body) as unknown),
        },
        ...{ isKeyed: headers['idempotency-key'] !== undefined, type: headers['content-type'] },
      }));
      return { sent, keys: keys.size };
    }

    const operations = [...describedOperations()].flatMap(([name, { operationId }]) => {
      const operation = name.replace(/^\w+/, (method) => method.toUpperCase());
      return Object.hasOwn(clientCalls, operation) ? [{ operation, operationId }] : [];
    });

    async function askBoth(
      operation: string,
      operationId: string,
      replies: readonly Reply[],
    ): Promise<unknown[]> {
      const body = /^(POST|PUT|PATCH)/.test(operation) ? bodyOf(operation) : undefined;
      const query = queryOf(operation);
      const asked = {
        id: 'rent_1',
        name: 'notebook',
        query: query as never,
        body: body as never,
        options: {},
      };
      api.script(...replies);
      const gpu = new GpuRental({ baseUrl: api.url, apiKey: 'gpur_1', pauseMs: 1 });
      await Promise.resolve(clientCalls[operation]!(gpu, asked)).catch(() => undefined);
      const first = arrived();
      const outcomes = [first];
      for (const waits of [true, false]) {
        api.script(...replies);
        await driver.ask({
          ...{ operationId, method: operation.split(' ')[0]!, path: '', waits },
          ...{ id: 'rent_1', name: 'notebook', query, body: body ?? null },
          options: { base_url: api.url, api_key: 'gpur_1', first_pause: 0.001 },
        });
        outcomes.push(arrived());
      }
      return outcomes;
    }

    for (const [what, trouble] of Object.entries(troubles)) {
      it(`are those of the typed client after ${what}, for each operation`, async () => {
        assert.ok(operations.length > 60);
        for (const { operation, operationId } of operations) {
          const [expected, ...others] = await askBoth(operation, operationId, [trouble, whole]);
          const sameBody = (one: unknown): unknown => withoutBodies(one, operation);
          for (const other of others) assert.deepEqual(sameBody(other), sameBody(expected), operation);
        }
      });
    }

    it('look up what a create has made whose outcome the service could not tell', async () => {
      const rental = { id: 'rent_1', status: 'provisioning', host: null, port: null, pricePerHourCents: 1 };
      const found = {
        status: 200,
        body: { ...rental, startedAt: '2026-11-01T09:31:07.000Z', warnings: [], more: 1 },
      };
      const replies = [refusal(503, 'temporarily_unavailable', unknown), found];
      const [expected, ...others] = await askBoth('POST /v1/rentals', 'createRental', replies);
      for (const other of others) assert.deepEqual(other, expected);
      assert.deepEqual(
        api.arrived.map(({ method, path }) => `${method} ${path}`),
        ['POST /v1/rentals', 'GET /v1/rentals/rent_1'],
      );
    });

    it('tell of a lost answer after a refusal that says nothing of it, as the typed client judges', async () => {
      const stands = (Object.keys(refusalStatus) as RefusalCode[]).filter(
        (code) => refusalStatus[code] < 500 && !/^(rate_limited|idempotency_in_progress)$/.test(code),
      );
      for (const code of stands) {
        const status = refusalStatus[code];
        api.script(dies, refusal(status, code));
        const { noAnswer } = await driver.ask({
          ...{ operationId: 'createRental', method: 'POST', path: '', waits: false },
          ...{ id: '', query: {}, body: {} },
          options: { base_url: api.url, first_pause: 0.001 },
        });
        const refused = new ApiError({
          ...{ status, code, message: '', requestId: '', retryAfterSeconds: undefined, details: undefined },
        });
        assert.deepEqual([code, noAnswer !== undefined], [code, leavesEarlierOpen(refused)]);
      }
    });

    it('give the figures of a stop whose answer was lost', async () => {
      const details = { status: 'stopped', finalChargedCents: 7, refundedCents: 3 };
      api.script(dies, refusal(409, 'already_stopped', details));
      const { value } = await driver.ask({
        ...{
          operationId: 'stopRental',
          method: 'POST',
          path: '',
          waits: true,
          id: 'rent_1',
          query: {},
          body: null,
        },
        options: { base_url: api.url, first_pause: 0.001 },
      });
      assert.deepEqual(value, { id: 'rent_1', ...details });
    });

    it('follow the stream over lost connections, from the last event on', async () => {
      const event = (seq: number): string =>
        `id: ${seq}\nevent: rental.running\ndata: {"seq":${seq},"type":"rental.running","entityId":"rent_1"}\n\n`;
      const stream = (...parts: string[]): Reply => ({
        ...{ status: 200, headers: { 'Content-Type': 'text/event-stream' } },
        body: ['retry: 10\n\n', 'event: ready\ndata: {"afterSeq":0,"lastSeq":2}\n\n', ...parts].join(''),
      });
      const newer = 'event: a.newer.word\ndata: {"x":1}\n\n: alive\n\n';
      const replies = [
        stream(event(1), event(2)),
        refusal(503, 'temporarily_unavailable', undefined, { 'Retry-After': '0' }),
        dies as Reply,
        stream(newer, event(3)),
        refusal(401, 'unauthorized'),
      ];
      const requests = (): unknown =>
        api.arrived.map(({ path, headers }) => [path, headers['last-event-id'], headers['accept']]);
      api.script(...replies);
      const seqs: number[] = [];
      const gpu = new GpuRental({ baseUrl: api.url, apiKey: 'gpur_1' });
      await assert.rejects(async () => {
        for await (const item of gpu.events.stream({ after: 0, types: ['rental.running'] })) {
          if (item.kind === 'event') seqs.push(item.event.seq);
        }
      }, /unauthorized/);
      const expected = requests();
      assert.deepEqual(seqs, [1, 2, 3]);
      const follow = `import gpu_rental as gpu, asyncio
def told(item):
    if isinstance(item, gpu.Happened): print(item.event["seq"])
asked = {"after": 0, "types": ["rental.running"]}
async def main():
    async for item in gpu.AsyncClient().stream_events(**asked): told(item)
def plain():
    for item in gpu.Client().stream_events(**asked): told(item)
`;
      for (const how of ['asyncio.run(main())', 'plain()']) {
        api.script(...replies);
        const program = new Program(python, `${follow}${how}\n`, {
          ...process.env,
          ...{ GPU_API_URL: api.url, GPU_API_KEY: 'gpur_1' },
        });
        await program.ended;
        assert.match(program.err, /UnauthorizedError: it is unauthorized/);
        assert.equal(program.out, '1\n2\n3\n');
        assert.deepEqual(requests(), expected);
      }
    });
  });
}

/** What the query must hold. */
function queryOf(operation: string): object {
  if (/\/(statement|spending)$/.test(operation)) return { from: '2026-10-01', to: '2026-10-02' };
  return operation.endsWith('/proof') ? { month: '2026-10' } : {};
}

/** A body that the typed client may take apart. */
function bodyOf(operation: string): object {
  if (operation.endsWith('/keep-alive')) return { until: '2026-11-02T00:00:00.000Z' };
  return operation.startsWith('PATCH /v1/auth/passkeys') ? { name: 'ü' } : { a: 'ü' };
}

/** What is asked of the typed client as a body it may not take; it is the number and the kind of requests that count. */
function withoutBodies(outcome: unknown, operation: string): unknown {
  const { sent, keys } = outcome as {
    sent: { method: string; path: string; isKeyed: boolean }[];
    keys: number;
  };
  const takesNone = /\/(stop|logout|end-others|setup-intent|ping|rotate-secret)$/.test(operation);
  return takesNone
    ? { keys, sent: sent.map(({ method, path, isKeyed }) => ({ method, path, isKeyed })) }
    : outcome;
}
