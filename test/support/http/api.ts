import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { schemaSteps } from '../../../migrations/steps.js';
import { createApp } from '../../../api/app.js';
import type { ApiDeps } from '../../../api/context.js';
import { startServer, type ApiServer, type ServerTimeouts } from '../../../api/server.js';
import { defaultSettings, type ApiSettings } from '../../../api/settings.js';
import { createTemporalGate, type TemporalGate } from '../../../adapters/temporal/gate.js';
import { createEventStreams } from '../../../api/events/service.js';
import { createLog } from '../../../adapters/log.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../../adapters/postgres/deadlines.js';
import type { IdentityProvider } from '../../../adapters/identity/identity.js';
import type { Processor } from '../../../adapters/processor/processor.js';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { createWebhookVerifier } from '../../../adapters/processor/webhook.js';
import { newSealingKeys } from '../../../adapters/sealed-secrets.js';
import { databaseRoles } from '../../../migrations/roles.js';
import type { UserRow } from '../../../adapters/postgres/rows/tables.js';
import type { Answer, AnswerBody } from './answers.js';
import { createTestDatabase } from '../servers/database.js';
import { checkDescribed } from './described.js';
import { insertSessionOf, insertUser } from '../money/factories.js';

export const webhookSecret = 'whsec_of_the_api_tests';

/** What hashes requests that hold secrets. */
export const installationKey = randomBytes(32).toString('base64');

/** What seals and opens the secrets of users' webhooks. */
export const sealingKeys = newSealingKeys();

/** The API over real HTTP on loopback, with a database of its own. */
export interface TestApi {
  readonly url: string;
  /** Connects as the owner: tests prepare and read with it. The API itself works as its own role. */
  readonly db: Database;
  readonly databaseUrl: string;
  readonly deps: ApiDeps;
  readonly server: ApiServer;
  /** All log lines, parsed. */
  readonly logged: Record<string, unknown>[];
  /** A client without a session. */
  stranger(): ApiClient;
  /** A client that sends this API key, and has no session. */
  withKey(token: string): ApiClient;
  /** Signs a new user in and returns their client. */
  signIn(): Promise<SignedIn>;
  stop(): Promise<void>;
}

export interface SignedIn extends ApiClient {
  readonly user: UserRow;
}

export interface ApiOptions {
  readonly settings?: Partial<ApiSettings>;
  /** host:port of Temporal. By default nobody listens there, as if Temporal were away. */
  readonly temporalAddress?: string;
  readonly namespace?: string;
  readonly timeouts?: ServerTimeouts;
  readonly logLevel?: string;
  /** The address of an existing database instead of a fresh one. Whoever made it drops it. */
  readonly databaseUrl?: string;
  /** Returns the payment processor; called at each use. By default it refuses every call. */
  readonly processor?: () => Processor;
  /** The identity providers to sign in with; default: none. */
  readonly identityProviders?: readonly IdentityProvider[];
  /** The folder of a built dashboard; default: none. */
  readonly dashboardFolder?: string | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
}

const disabled = createStripeProcessor({ secretKey: '', apiUrl: null });

/** Nobody listens on port 9 on loopback. */
const NOBODY = '127.0.0.1:9';

/** Starts the API on a free port. Call `stop` in an `after` hook. */
export async function startApi(options: ApiOptions = {}): Promise<TestApi> {
  const database = options.databaseUrl === undefined ? await createTestDatabase() : undefined;
  const databaseUrl = options.databaseUrl ?? database!.url;
  const db = openDatabase(databaseUrl, 10, 'api-test');
  const ownDb = openDatabase(databaseUrl, 10, 'api', databaseRoles.api, databaseDeadlines.api);
  const temporal = createTemporalGate({
    address: options.temporalAddress ?? NOBODY,
    namespace: options.namespace ?? 'default',
  });
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    ...{ level: options.logLevel ?? 'info', service: 'test' },
    destination: { write: (line: string) => void logged.push(parseLine(line)) },
  });
  const streams = createEventStreams({ db: ownDb, log });
  const deps: ApiDeps = {
    db: ownDb,
    temporal,
    schemaSteps,
    log,
    streams,
    settings: {
      ...defaultSettings,
      secureCookie: false,
      billing: { enabled: true, publishableKey: 'pk_test_api', livemode: false, simulatorUrl: null },
      readyKeptMs: 0,
      codeRequestsPerClientPerHour: 1_000,
      readsPerMinute: 1_000_000,
      readsPerMinuteOfUser: 1_000_000,
      changesPerMinute: 1_000_000,
      strangersPerMinute: 1_000_000,
      ownSoftware: { graceMs: 120_000, installationKey },
      webhooks: { publicKey: sealingKeys.publicKey, allowPrivate: true, ownHosts: [] },
      ...options.settings,
    },
    get processor() {
      return options.processor?.() ?? disabled;
    },
    verifyWebhook: createWebhookVerifier({ secrets: [webhookSecret] }),
    identityProviders: options.identityProviders ?? [],
    dashboardFolder: options.dashboardFolder,
  };
  const server = await startServer(
    createApp(deps).callback(),
    { host: '127.0.0.1', port: options.port ?? 0 },
    options.timeouts,
  );
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  return {
    url,
    db,
    databaseUrl,
    deps,
    server,
    logged,
    stranger: () => new ApiClient(url),
    withKey: (key) => Object.assign(new ApiClient(url), { key }),
    signIn: () => signIn(url, db),
    stop: () => stopAll(server, streams, [db, ownDb], temporal, database),
  };
}

async function signIn(url: string, db: Database): Promise<SignedIn> {
  const user = await insertUser(db);
  const client = new ApiClient(url, await insertSessionOf(db, user.id));
  return Object.assign(client, { user });
}

async function stopAll(
  server: ApiServer,
  streams: ApiDeps['streams'],
  pools: readonly Database[],
  temporal: TemporalGate,
  database: { drop(): Promise<void> } | undefined,
): Promise<void> {
  await streams.close();
  await server.stop(0);
  await Promise.all([...pools.map((pool) => pool.destroy()), temporal.close()]);
  await database?.drop();
}

/** The first piece of an answer that does not end by itself. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString('utf8');
}

function parseLine(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}

/** Calls the API as a browser would: it keeps the cookies `sid` and `browser`. */
export class ApiClient {
  /** The cookie of the sign-in routes. A client that keeps no cookies sets it to undefined before each call. */
  browser: string | undefined;
  /** The API key that it sends with each call, beside its cookies. */
  key: string | undefined;

  constructor(
    readonly url: string,
    public sid?: string,
    /** false: the client calls a service of the test's own, whose routes are not in the API's description. */
    private readonly isDescribed = true,
  ) {}

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.json('POST', path, body, headers);
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.json('PUT', path, body);
  }

  patch(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.json('PATCH', path, body, headers);
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path, undefined, {});
  }

  json(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    if (body === undefined) return this.send(method, path, undefined, headers);
    return this.send(method, path, JSON.stringify(body), { 'Content-Type': 'application/json', ...headers });
  }

  /** Sends a body unchanged. @throws Error when the answer does not match the API's description */
  async send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...this.cookiesFor(path),
        ...(this.key !== undefined && { Authorization: `Bearer ${this.key}` }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    this.keepCookie(response.headers.getSetCookie());
    const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';');
    const text = contentType === 'text/event-stream' ? await beginningOf(response) : await response.text();
    if (this.isDescribed) checkDescribed({ method, path, status: response.status, contentType, text });
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (contentType === 'application/json' && text !== '' ? JSON.parse(text) : text) as AnswerBody,
    };
  }

  protected cookiesFor(path: string): { Cookie?: string } {
    const cookies = [
      ...(this.sid === undefined ? [] : [`sid=${this.sid}`]),
      ...(this.browser === undefined || !path.startsWith('/v1/auth/') ? [] : [`browser=${this.browser}`]),
    ];
    return cookies.length === 0 ? {} : { Cookie: cookies.join('; ') };
  }

  protected keepCookie(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      this.browser = /^browser=([^;]*)/.exec(cookie)?.[1] ?? this.browser;
      const value = /^sid=([^;]*)/.exec(cookie)?.[1];
      if (value !== undefined) this.sid = value === '' ? undefined : value;
    }
  }
}
