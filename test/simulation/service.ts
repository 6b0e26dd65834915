import { unnamedSeller } from '../../domain/payments/receipt.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Context } from '@temporalio/activity';
import { inject } from 'light-my-request';
import type Koa from 'koa';
import { createActivities } from '../../activities/index.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { compareWatermarks } from '../../activities/ask-first.js';
import { startLongLived } from '../../activities/upkeep/long-lived.js';
import { createLog } from '../../adapters/log.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../adapters/postgres/deadlines.js';
import { createWebhookVerifier } from '../../adapters/processor/webhook.js';
import { createOddityBook } from '../../adapters/providers/upstream/oddity-book.js';
import { createSecretOpener, newSealingKeys } from '../../adapters/sealed-secrets.js';
import { createApp } from '../../api/app.js';
import { createEventStreams } from '../../api/events/service.js';
import { defaultSettings } from '../../api/settings.js';
import { closingLimits } from '../../domain/accounts/closing.js';
import { ledgerLimits } from '../../domain/ledger/limits.js';
import { databaseRoles } from '../../migrations/roles.js';
import { withoutWords } from '../../worker/plain-failures.js';
import { keepIdle } from './database.js';
import type { Chance } from './kernel/chance.js';
import type { Kernel } from './kernel/kernel.js';
import type { Loop } from './kernel/loop.js';
import { SimProcess, within } from './kernel/scope.js';
import type { Statements } from './kernel/statements.js';
import { ensureSchedules } from '../../adapters/temporal/schedules.js';
import { createClient, createGate } from './temporal/client.js';
import type { SimulatedServer } from './temporal/server.js';
import type { ActivityCode } from './temporal/tasks.js';
import { idleFrom } from './world/use.js';
import type { World } from './world/world.js';

/** The answer of the API to one request. */
export interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly cookies: readonly { readonly name: string; readonly value: string }[];
}

export interface Asking {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** The connection of a request was lost before its answer came. */
export class RequestLost extends Error {
  override readonly name = 'RequestLost';
}

interface LiveApi {
  readonly process: SimProcess;
  readonly app: Koa;
  readonly lost: Set<() => void>;
}

export const webhookSecret = 'whsec_of_the_simulation';

// Each run has many seals, and readers that cross them.
Object.assign(ledgerLimits, { sealEntries: 5, sealRestMs: 0 });
// A closing ends within a run.
const minutesOf = (minutes: number): number => minutes * 60_000;
Object.assign(closingLimits, {
  ...{ waitMs: minutesOf(20), quietMs: minutesOf(15), lateAnswerMs: minutesOf(10), mailMs: minutesOf(10) },
});

/** Recognizes the mailboxes and cards of closed accounts. */
const installationKey = Buffer.alloc(32, 7).toString('base64');

/** The service's own processes, which crash and come again: the API and workers, each with pools of its own. */
export class Service {
  readonly counts = { crashes: 0, requests: 0, logged: 0 };
  /** Lines of the log from the level "error" on, newest last. */
  readonly errors: string[] = [];
  /** Requests as they were sent, such as "GET /v1/rentals". */
  readonly asked = new Set<string>();
  readonly #keys = newSealingKeys();
  #apis: LiveApi[] = [];
  #workers: SimProcess[] = [];
  #no = 0;
  #isDown = false;
  /** The number of the newest event that loops were woken for. */
  #numbered = '0';

  constructor(
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      readonly statements: Statements;
      readonly server: SimulatedServer;
      readonly world: World;
      readonly databaseUrl: string;
    },
  ) {}

  get processes(): readonly SimProcess[] {
    return [...this.#apis.map(({ process }) => process), ...this.#workers];
  }

  /** Starts an API process. */
  startApi(): void {
    const process = new SimProcess(`api-${(this.#no += 1)}`, 'api');
    within({ process }, () => {
      const { world, server } = this.parts;
      const db = this.#open('api', databaseRoles.api, databaseDeadlines.api);
      const log = this.#log(process);
      const app = createApp({
        ...{ db, log, temporal: createGate(server, world.outside), processor: world.processor.port() },
        streams: createEventStreams({ db, log }),
        settings: {
          ...defaultSettings,
          secureCookie: false,
          billing: { enabled: true, publishableKey: 'pk_test', livemode: false, simulatorUrl: null },
          codeRequestsPerClientPerHour: 1_000,
          webhooks: { publicKey: this.#keys.publicKey, allowPrivate: true, ownHosts: [] },
          ownSoftware: { ...defaultSettings.ownSoftware, installationKey },
        },
        verifyWebhook: createWebhookVerifier({ secrets: [webhookSecret] }),
        identityProviders: [],
      });
      this.#apis.push({ process, app: app, lost: new Set() });
    });
  }

  /** Starts a worker process. Resolves when it polls. */
  async startWorker(): Promise<void> {
    const process = new SimProcess(`worker-${(this.#no += 1)}`, 'worker');
    try {
      await this.#beginWorker(process);
    } catch {
      // It ends with an error, and whoever keeps processes alive starts another.
      await this.crash(process);
    }
  }

  async #beginWorker(process: SimProcess): Promise<void> {
    const { server, statements } = this.parts;
    await within({ process }, async () => {
      const deps = this.#deps(process);
      this.#workers.push(process);
      await compareWatermarks(deps);
      const intercepted = plainly(createActivities(deps) as unknown as Record<string, ActivityCode>, deps);
      const beforeRest = async (loop: Loop): Promise<void> => {
        if (loop.name.startsWith('runMeter')) loop.dueMs = await dueMsOf(statements);
        const [, watched] = /^watchProvider (.+)/.exec(loop.name) ?? [];
        if (watched !== undefined) loop.dueMs = await this.#guardsDueMs(watched);
        // What a loop writes wakes no other, but for events, which are numbered and delivered by loops.
        if (/^run(Meter|Sequencer)/.test(loop.name)) await this.#wakeForEvents();
      };
      server.addWorker({ process, activities: intercepted, beforeRest });
      try {
        await ensureSchedules(deps.temporal);
        await startLongLived(deps);
      } catch {
        // A worker that can't begin ends, and is started again.
        await this.crash(process);
      }
    });
  }

  /** Reads when the next list of an upstream may tell of an idle machine that is guarded: what a rest leaves out is use. */
  async #guardsDueMs(code: string): Promise<number | undefined> {
    const { kernel, statements, world } = this.parts;
    const idle = world.machines.filter(({ provider, goneMs }) => provider === code && goneMs === undefined);
    const begins = new Map(idle.map(({ podId, use }) => [podId, idleFrom(use, kernel.nowMs)]));
    if (Math.min(...begins.values()) === Infinity) return undefined;
    const guarded = await statements.ask<{ pod: string }>(
      `select r.pod_id as pod from idle_guards g join rentals r on r.no = g.rental_no
        where r.status = 'running' and r.provider_code = $1
          and not exists (select 1 from stop_requests s where s.rental_no = r.no)`,
      [code],
    );
    const firstMs = Math.min(...guarded.map(({ pod }) => begins.get(pod) ?? Infinity));
    return firstMs === Infinity ? undefined : Math.max(firstMs, kernel.nowMs + GUARDS_LOOK_MS);
  }

  async #wakeForEvents(): Promise<void> {
    const { kernel, statements } = this.parts;
    const [row] = await statements.ask<{ numbered: string; waiting: boolean }>(
      `select coalesce((select max(no) from events), 0) as numbered, exists (select 1 from event_outbox) as waiting`,
    );
    if (row === undefined || (!row.waiting && row.numbered === this.#numbered)) return;
    this.#numbered = row.numbered;
    kernel.happened();
  }

  /** Kills a process: whatever it did ends at the await where it stands. */
  async crash(process: SimProcess): Promise<void> {
    if (!process.isAlive) return;
    process.isAlive = false;
    this.counts.crashes += 1;
    const { kernel, server, statements, chance } = this.parts;
    kernel.trace.line(kernel.nowMs, `CRASH ${process.name}`);
    const api = this.#apis.find((one) => one.process === process);
    this.#apis = this.#apis.filter((one) => one !== api);
    this.#workers = this.#workers.filter((one) => one !== process);
    kernel.forget(process);
    server.loseWorker(process);
    await statements.forget(process);
    for (const tell of api?.lost ?? []) tell();
    const downMs = 500 + chance.pauseMs(8_000);
    kernel.after(
      downMs,
      `${process.kind} starts again`,
      () => {
        if (this.#isDown) return;
        if (process.kind === 'api') this.startApi();
        else void this.startWorker();
      },
      { scope: {} },
    );
  }

  /** Starts an API process and a worker. */
  start(): void {
    this.#isDown = false;
    this.startApi();
    void this.startWorker();
  }

  /** Ends all processes, and starts no other until it is started. */
  async stop(): Promise<void> {
    this.#isDown = true;
    for (const process of this.processes) await this.crash(process);
  }

  /** Sends a request to one of the API's processes. @throws RequestLost */
  async request(asking: Asking): Promise<Answered> {
    this.counts.requests += 1;
    this.asked.add(`${asking.method} ${asking.path}`);
    const api = this.#apis.length === 0 ? undefined : this.parts.chance.pick(this.#apis);
    if (api === undefined) throw new RequestLost('nobody listens');
    const { process } = api;
    // The library begins only when its answer is awaited, which must be within the process.
    const duty = `${asking.method} ${asking.path.replaceAll(/[a-z]+_[0-9A-Z]{26}|\?.*$/g, '*')}`;
    const answer = within({ process, duty }, async () => {
      return await inject(listenerOf(api.app), {
        ...{
          method: asking.method,
          url: asking.path,
          headers: { ...asking.headers },
          remoteAddress: '192.0.2.1',
        },
        ...(asking.body === undefined ? {} : { payload: asking.body }),
      });
    });
    const lost = new Promise<never>((_resolve, reject) => {
      const tell = (): void => reject(new RequestLost('the connection was lost'));
      api.lost.add(tell);
      void answer.catch(() => undefined).finally(() => api.lost.delete(tell));
    });
    const { statusCode, payload, cookies } = await Promise.race([answer, lost]);
    return {
      status: statusCode,
      body: payload.startsWith('{') ? (JSON.parse(payload) as Record<string, unknown>) : {},
      cookies: cookies,
    };
  }

  #deps(process: SimProcess): ActivityDeps {
    const { world, server } = this.parts;
    const { worker } = databaseRoles;
    const oddities = createOddityBook();
    return {
      db: this.#open('worker', worker, databaseDeadlines.worker),
      openDb: this.#open('worker-open', worker, databaseDeadlines.open),
      meterDb: this.#open('worker-meter', worker, databaseDeadlines.meter, 2),
      webhookDb: this.#open('worker-webhooks', worker, databaseDeadlines.worker, 3),
      temporal: createClient(server, world.outside),
      providers: new Map(world.upstreams.map((upstream) => [upstream.code, upstream.provider()])),
      oddities,
      prober: world.prober,
      processor: world.processor.port(),
      mail: world.mail,
      webhooks: { send: world.receivers.send, openSecret: createSecretOpener([this.#keys.privateKey]) },
      log: this.#log(process),
      settings: {
        ...{ deployment: 'sim', shards: 1, allowPrivatePods: true, operatorEmail: null },
        ...{ seller: unnamedSeller, installationKey },
        publicUrl: 'https://gpu.example',
        checkoutUrls: { success: 'https://gpu.example/ok', cancel: 'https://gpu.example/no' },
      },
    };
  }

  #open(
    name: string,
    role: string,
    deadlines: (typeof databaseDeadlines)[keyof typeof databaseDeadlines],
    max = 10,
  ): Database {
    return keepIdle(openDatabase(this.parts.databaseUrl, max, name, role, deadlines));
  }

  #log(process: SimProcess) {
    const { kernel } = this.parts;
    const write = (line: string): void => {
      this.counts.logged += 1;
      const { level, msg, err } = JSON.parse(line) as {
        level: number;
        msg: string;
        err?: { type?: string; message?: string };
      };
      if (level >= 50)
        this.errors.push(`${kernel.nowMs - kernel.startMs} ${process.name} ${msg} ${err?.message ?? ''}`);
      if (level >= 40)
        kernel.trace.line(kernel.nowMs, `${process.name} logs: ${msg.slice(0, 100)} ${err?.type ?? ''}`);
    };
    return createLog({ level: 'warn', service: process.name, destination: { write } });
  }
}

/** The library expects a listener that returns nothing. */
function listenerOf(app: Koa): (request: IncomingMessage, response: ServerResponse) => void {
  const answer = app.callback();
  return (request, response) => void answer(request, response);
}

/** Puts the worker's own layer around activities: only the names of errors cross to workflows. */
function plainly(activities: Record<string, ActivityCode>, deps: ActivityDeps): Record<string, ActivityCode> {
  const entries = Object.entries(activities).map(([name, activity]): [string, ActivityCode] => [
    name,
    async (...args) => {
      const { inbound } = withoutWords(deps.log)(Context.current());
      const next = (input: { args: unknown[] }): Promise<unknown> => activity(...input.args);
      return inbound?.execute?.({ args, headers: {} }, next);
    },
  ]);
  return Object.fromEntries(entries);
}

/** How far apart lists are at the most while a guarded machine is idle, in milliseconds: nothing is told of two minutes else. */
const GUARDS_LOOK_MS = 100_000;

/** Reads the instant at which a tick has something to charge or to end. */
async function dueMsOf(statements: Statements): Promise<number | undefined> {
  const [row] = await statements.ask<{ due: string | null; stops: boolean }>(
    `select min(due_ms) as due, exists (select 1 from stop_requests where open) as stops from meters`,
  );
  if (row?.stops === true) return 0;
  const due = row?.due ?? null;
  return due === null ? undefined : Number(due);
}
