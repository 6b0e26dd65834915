import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from '@koa/router';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import Koa from 'koa';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { findRental } from '../../../adapters/postgres/rentals/rental-reads.js';
import { readUnderWalletLock } from '../../../adapters/postgres/requests/last-word.js';
import type { ApiDeps, ApiState } from '../../../api/context.js';
import { errors } from '../../../api/http/middleware/errors.js';
import { tellOutcomes } from '../../../api/http/middleware/outcomes.js';
import { requestId } from '../../../api/http/middleware/request-id.js';
import { answerOpening } from '../../../api/http/opening.js';
import { createTemporalGate } from '../../../adapters/temporal/gate.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { ApiClient, startApi, type TestApi } from '../../support/http/api.js';
import { insertRental, insertUser } from '../../support/money/factories.js';
import { getTemporal } from '../../support/servers/servers.js';

/** Stands in for the workflow: it opens the rental, refuses, fails, or stays silent. */
export type Workflow = (id: RentalId, answerBefore: Date) => Promise<unknown>;

const HURRIED_MS = 500;

/** The opening of an entity over HTTP, with real Postgres, a reachable Temporal, and a workflow of the test's own. */
export class OpeningBench {
  userId!: UserId;
  /** The ids for which the workflow was started, in order. */
  asked: RentalId[] = [];
  readonly opens = async (id: RentalId): Promise<void> => {
    if (await findRental(this.api.db, this.userId, id)) return;
    await insertRental(this.api.db, this.userId, { id });
  };
  workflow: Workflow = this.opens;
  /** The next requests wait for half a second alone, since their test is of what comes after the deadline. */
  isHurried = false;
  /** Runs right before the last look for the row under the lock, and before the answer is made. */
  beforeLastLook: () => void = () => undefined;
  whenPresented: () => void = () => undefined;
  /** A database at an address where nobody listens. */
  private readonly away = openDatabase('postgres://nobody@127.0.0.1:9/none', 1, 'away');
  private isAway = false;
  private presented = 0;

  private constructor(
    readonly api: TestApi,
    /** The dependencies of the next request. */
    public deps: ApiDeps,
    private readonly server: Server,
  ) {}

  /** The database as the API reaches it. */
  get db(): Database {
    return this.isAway ? this.away : this.api.deps.db;
  }

  databaseGoesAway(): void {
    this.isAway = true;
  }

  databaseComesBack(): void {
    this.isAway = false;
  }

  static async start(): Promise<OpeningBench> {
    const api = await startApi();
    const { address } = await getTemporal();
    const deps: ApiDeps = {
      ...api.deps,
      get db() {
        return bench.db;
      },
      temporal: createTemporalGate({ address, namespace: 'default' }),
      settings: {
        ...api.deps.settings,
        reachMs: 2_000,
        get answerWithinMs() {
          return bench.isHurried ? HURRIED_MS : 20_000;
        },
        answerGraceMs: 100,
        lockWaitMs: 100,
        idempotencyWaitMs: 300,
      },
    };
    const server = createServer();
    const bench: OpeningBench = new OpeningBench(api, deps, server);
    const handle = bench.createApp().callback();
    server.on('request', (request, response) => void handle(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return bench;
  }

  /** Begins with a workflow that opens every rental; default: as a new user. */
  async begin(userId?: UserId): Promise<void> {
    this.userId = userId ?? (await insertUser(this.api.db)).id;
    this.asked = [];
    this.workflow = this.opens;
    this.isAway = false;
    this.isHurried = false;
    this.beforeLastLook = this.whenPresented = () => undefined;
  }

  /** Works with other settings, or another connection to Temporal. */
  async with(
    deps: Partial<Pick<ApiDeps, 'settings' | 'temporal'>>,
    work: () => Promise<void>,
  ): Promise<void> {
    const before = this.deps;
    this.deps = Object.create(before, Object.getOwnPropertyDescriptors(deps)) as ApiDeps;
    try {
      await work();
    } finally {
      this.deps = before;
    }
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await Promise.all([this.deps.temporal.close(), this.away.destroy()]);
    await this.api.stop();
  }

  open(key?: string, body = 'a'): Promise<Answer> {
    const { port } = this.server.address() as AddressInfo;
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    const client = new ApiClient(`http://127.0.0.1:${port}`, undefined, false);
    return client.post(`/open/${body}`, undefined, headers);
  }

  refuses(code: string, details?: object): Workflow {
    const cause = ApplicationFailure.create({
      type: code,
      message: `refused: ${code}`,
      nonRetryable: true,
      details: [details ?? null],
    });
    return () => Promise.reject(new WorkflowUpdateFailedError('Workflow Update failed', cause));
  }

  /** Has the workflow stay silent for longer than the requests wait. */
  staysSilent(): void {
    this.isHurried = true;
    this.workflow = this.saysNothing;
  }

  readonly saysNothing: Workflow = async () => {
    await sleep(HURRIED_MS + 200);
    throw new Error('no answer');
  };

  async countRentals(userId = this.userId): Promise<number> {
    return (await this.api.db('rentals').where({ user_id: userId })).length;
  }

  private createApp(): Koa<ApiState, object> {
    const { deps } = this.api;
    const router = new Router<ApiState>();
    router.post('/open/:body', async (ctx) => {
      const { userId } = this;
      const { body } = await answerOpening(ctx, this.deps, {
        endpoint: 'test',
        userId,
        body: { what: ctx.params['body'] },
        prefix: 'rent',
        start: (id, answerBefore) => {
          this.asked.push(id);
          return this.workflow(id, answerBefore);
        },
        find: (id) => findRental(this.db, userId, id),
        findUnderLock: (id, answerBefore) => {
          this.beforeLastLook();
          return readUnderWalletLock(this.db, userId, answerBefore, this.deps.settings.lockWaitMs, (trx) =>
            findRental(trx, userId, id),
          );
        },
        present: (row) => {
          this.whenPresented();
          // No two presentations are alike, and their fields stand in no order of their own.
          this.presented += 1;
          return { zone: 'a', id: row.id, presented: this.presented, at: { b: 1, a: 2 } };
        },
        idName: 'rentalId',
        lookAt: '/v1/rentals/:id',
      });
      ctx.body = body;
    });
    const app = new Koa<ApiState, object>();
    app.use(requestId(deps.log));
    app.use(errors(null));
    app.use(tellOutcomes(['a', 'b'].map((body) => ({ path: `/open/${body}`, lookAt: '/v1/rentals' }))));
    app.use(router.routes());
    return app;
  }
}
