import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from '@koa/router';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import Koa from 'koa';
import { pino } from 'pino';
import { newId } from '../../adapters/ids.js';
import { findRental } from '../../adapters/postgres/rental-reads.js';
import type { RentalRow } from '../../adapters/postgres/tables.js';
import { readUnderWalletLock } from '../../adapters/postgres/wallet-reads.js';
import type { ApiDeps, ApiState } from '../../api/context.js';
import { errors } from '../../api/middleware/errors.js';
import { requestId } from '../../api/middleware/request-id.js';
import { answerOpening } from '../../api/opening.js';
import { createTemporalGate } from '../../api/temporal.js';
import type { RentalId, UserId } from '../../domain/ids.js';
import { ApiClient, type Answer, startApi, type TestApi } from '../support/api.js';
import { insertRental, insertUser } from '../support/factories.js';
import { getTemporal } from '../support/servers.js';

/** What stands for the workflow here: it opens the rental, refuses, fails, or says nothing. */
type Workflow = (id: RentalId, answerBefore: Date) => Promise<unknown>;

/** The opening of an entity over HTTP, with real Postgres and a reachable Temporal, the workflow being the test's. */
describe('opening an entity', () => {
  let api: TestApi;
  let deps: ApiDeps;
  let server: Server;
  let url: string;
  let userId: UserId;
  let asked: RentalId[];
  let workflow: Workflow;

  before(async () => {
    api = await startApi();
    const { address } = await getTemporal();
    deps = {
      ...api.deps,
      temporal: createTemporalGate({ address, namespace: 'default' }),
      settings: {
        ...api.deps.settings,
        answerWithinMs: 500,
        answerGraceMs: 100,
        lockWaitMs: 100,
        idempotencyWaitMs: 300,
      },
    };
    server = await serve(() => deps);
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(async () => {
    userId = (await insertUser(api.db)).id;
    asked = [];
    workflow = opens;
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await deps.temporal.close();
    await api.stop();
  });

  function serve(current: () => ApiDeps): Promise<Server> {
    const router = new Router<ApiState>();
    router.post('/open/:body', (ctx) =>
      answerOpening<RentalId, RentalRow>(ctx, current(), {
        endpoint: 'test',
        userId,
        body: { what: ctx.params['body'] },
        newId: () => newId('rent'),
        start: (id, answerBefore) => {
          asked.push(id);
          return workflow(id, answerBefore);
        },
        find: (id) => findRental(api.db, userId, id),
        findUnderLock: (id, answerBefore) =>
          readUnderWalletLock(api.db, userId, answerBefore, current().settings.lockWaitMs, (trx) =>
            findRental(trx, userId, id),
          ),
        present: (row) => ({ id: row.id }),
        idName: 'rentalId',
        lookAt: (id) => `/v1/rentals/${id}`,
      }),
    );
    const app = new Koa<ApiState, object>();
    app.use(requestId(pino({ level: 'silent' })));
    app.use(errors());
    app.use(router.routes());
    const handle = app.callback();
    const made = createServer((request, response) => void handle(request, response));
    made.listen(0, '127.0.0.1');
    return once(made, 'listening').then(() => made);
  }

  function open(key?: string, body = 'a'): Promise<Answer> {
    return new ApiClient(url).post(
      `/open/${body}`,
      undefined,
      key === undefined ? {} : { 'Idempotency-Key': key },
    );
  }

  async function opens(id: RentalId): Promise<void> {
    if (!(await findRental(api.db, userId, id))) await insertRental(api.db, userId, { id });
  }

  function refuses(code: string, details?: object): Workflow {
    return () =>
      Promise.reject(
        new WorkflowUpdateFailedError(
          'Workflow Update failed',
          ApplicationFailure.create({
            type: code,
            message: `refused: ${code}`,
            nonRetryable: true,
            details: [details ?? null],
          }),
        ),
      );
  }

  const saysNothing: Workflow = async () => {
    await sleep(700);
    throw new Error('no answer');
  };

  async function rentalsOf(user: UserId): Promise<number> {
    return (await api.db('rentals').where({ user_id: user })).length;
  }

  describe('without an Idempotency-Key', () => {
    it('answers with the row', async () => {
      const answer = await open();
      assert.deepEqual([answer.status, answer.body], [200, { id: asked[0] }]);
    });

    it('makes a new one each time', async () => {
      await open();
      await open();
      assert.equal(await rentalsOf(userId), 2);
    });

    it('passes a refusal on with its code, message and details', async () => {
      workflow = refuses('insufficient_balance', { requiredCents: 100, availableCents: 99 });
      const answer = await open();
      assert.equal(answer.status, 403);
      assert.deepEqual(answer.body, {
        error: 'insufficient_balance',
        message: 'refused: insufficient_balance',
        details: { requiredCents: 100, availableCents: 99 },
        requestId: answer.body.requestId,
      });
    });

    it('sets Retry-After on a 429', async () => {
      workflow = refuses('rate_limited', { retryAfterSeconds: 5 });
      const answer = await open();
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '5']);
    });

    it('asks again after a failure that is no answer, under the same id', async () => {
      let calls = 0;
      workflow = (id) => (++calls === 1 ? Promise.reject(new Error('UNAVAILABLE')) : opens(id));
      assert.equal((await open()).status, 200);
      assert.equal(asked.length, 2);
      assert.equal(new Set(asked).size, 1);
    });

    it('answers with a row that is there although the workflow’s answer was lost', async () => {
      workflow = async (id) => {
        await opens(id);
        throw new Error('the answer was lost');
      };
      assert.equal((await open()).status, 200);
    });

    it('answers with a row that is there although the workflow said 503', async () => {
      workflow = async (id, answerBefore) => {
        await opens(id);
        await refuses('temporarily_unavailable')(id, answerBefore);
      };
      assert.equal((await open()).status, 200);
    });

    it('names the id in a 503 of the workflow', async () => {
      workflow = refuses('temporarily_unavailable');
      const answer = await open();
      assert.equal(answer.status, 503);
      assert.deepEqual(answer.body.details, { rentalId: asked[0], lookAt: `/v1/rentals/${asked[0]}` });
    });

    it('is a 503 within the limit after silence, and says that it never will be', async () => {
      workflow = saysNothing;
      const startMs = Date.now();
      const answer = await open();
      assert.ok(Date.now() - startMs < 2_500);
      assert.equal(answer.status, 503);
      assert.deepEqual(answer.body.details, { rentalId: asked[0], outcome: 'not_done' });
    });

    it('finds a row under the wallet’s lock that is committed at the last moment', async () => {
      const before = deps;
      deps = { ...deps, settings: { ...deps.settings, lockWaitMs: 2_000 } };
      // The activity holds the lock while the deadline passes, and commits after it.
      let committed: Promise<void> | undefined;
      workflow = async (id, answerBefore) => {
        committed = api.db.transaction(async (trx) => {
          await trx.raw('select 1 from wallets where user_id = ? for no key update', [userId]);
          await sleep(900);
          await insertRental(trx, userId, { id });
        });
        await saysNothing(id, answerBefore);
      };
      try {
        assert.equal((await open()).status, 200);
        assert.equal(asked.length, 1);
      } finally {
        deps = before;
        await committed;
      }
    });

    it('says that the outcome is unknown, and where to look, when the lock is not to be had', async () => {
      workflow = saysNothing;
      const held = await api.db.transaction();
      await held.raw('select 1 from wallets where user_id = ? for no key update', [userId]);
      try {
        const answer = await open();
        assert.equal(answer.status, 503);
        assert.deepEqual(answer.body.details, {
          rentalId: asked[0],
          outcome: 'unknown',
          lookAt: `/v1/rentals/${asked[0]}`,
        });
      } finally {
        await held.rollback();
      }
    });
  });

  describe('with an Idempotency-Key', () => {
    it('replays the answer, marked, and makes nothing new', async () => {
      const first = await open('k');
      const again = await open('k');
      assert.equal(first.headers.get('idempotent-replayed'), null);
      assert.deepEqual([again.status, again.body], [200, first.body]);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal(await rentalsOf(userId), 1);
      assert.equal(asked.length, 1);
    });

    it('replays a final refusal', async () => {
      workflow = refuses('model_unavailable', { familyId: 'x' });
      const first = await open('k');
      workflow = opens;
      const again = await open('k');
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [400, 'true']);
      assert.deepEqual({ ...again.body, requestId: '' }, { ...first.body, requestId: '' });
    });

    it('replays also while Temporal is away', async () => {
      const first = await open('k');
      const there = deps;
      deps = { ...deps, temporal: api.deps.temporal };
      try {
        assert.deepEqual((await open('k')).body, first.body);
        assert.equal((await open('other')).status, 503);
      } finally {
        deps = there;
      }
    });

    it('is per user, and per key', async () => {
      await open('k');
      await open('other');
      assert.equal(await rentalsOf(userId), 2);
      const second = (await insertUser(api.db)).id;
      userId = second;
      assert.equal((await open('k')).headers.get('idempotent-replayed'), null);
      assert.equal(await rentalsOf(second), 1);
    });

    it('refuses another body under the same key', async () => {
      await open('k', 'a');
      const answer = await open('k', 'b');
      assert.deepEqual([answer.status, answer.body.error], [409, 'idempotency_conflict']);
      assert.equal(await rentalsOf(userId), 1);
    });

    it('attaches twins to one entity', async () => {
      workflow = async (id) => {
        await sleep(100);
        await opens(id).catch(() => undefined);
      };
      const answers = await Promise.all(Array.from({ length: 5 }, () => open('k')));
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
      assert.equal(new Set(answers.map((answer) => answer.body.id as string)).size, 1);
      assert.equal(new Set(asked).size, 1);
      assert.equal(await rentalsOf(userId), 1);
    });

    it('is idempotency_in_progress when the twin takes longer than a retry waits', async () => {
      workflow = saysNothing;
      const first = open('k');
      await sleep(50);
      const twin = await open('k');
      assert.deepEqual([twin.status, twin.body.error], [409, 'idempotency_in_progress']);
      assert.equal(twin.body.details.rentalId, asked[0]);
      assert.equal((await first).status, 503);
    });

    it('puts a new id in after a final 503, and keeps no 5xx', async () => {
      workflow = saysNothing;
      const first = await open('k');
      assert.equal(first.body.details.outcome, 'not_done');
      workflow = opens;
      const retry = await open('k');
      assert.deepEqual([retry.status, retry.headers.get('idempotent-replayed')], [200, null]);
      assert.notEqual(retry.body.id, first.body.details.rentalId);
      assert.equal(await rentalsOf(userId), 1);
    });

    it('lets one of several retries put the new id in', async () => {
      workflow = saysNothing;
      await open('k');
      asked = [];
      workflow = async (id) => {
        await sleep(100);
        await opens(id).catch(() => undefined);
      };
      const retries = await Promise.all(Array.from({ length: 4 }, () => open('k')));
      assert.deepEqual(new Set(retries.map((answer) => answer.status)), new Set([200]));
      assert.equal(new Set(asked).size, 1);
      assert.equal(await rentalsOf(userId), 1);
    });

    it('answers with the old row when it was there after all', async () => {
      workflow = saysNothing;
      const first = await open('k');
      // The process that wrote it died before it could tell, as could the one that answered 503.
      await insertRental(api.db, userId, { id: first.body.details.rentalId as RentalId });
      const retry = await open('k');
      assert.deepEqual([retry.status, retry.body.id], [200, first.body.details.rentalId]);
      assert.equal(await rentalsOf(userId), 1);
    });

    it('tries anew after a 429, which is kept by nobody', async () => {
      workflow = refuses('rate_limited');
      assert.equal((await open('k')).status, 429);
      const refused = asked[0];
      workflow = (id, answerBefore) =>
        id === refused ? refuses('rate_limited')(id, answerBefore) : opens(id);
      const retry = await open('k');
      assert.equal(retry.status, 200);
      assert.notEqual(retry.body.id, refused);
    });

    it('forgets a key after 24 hours', async () => {
      const first = await open('k');
      await api.db.raw("update idempotency_keys set created_at = created_at - interval '25 hours'");
      const answer = await open('k', 'b');
      assert.equal(answer.status, 200);
      assert.notEqual(answer.body.id, first.body.id);
    });
  });
});
