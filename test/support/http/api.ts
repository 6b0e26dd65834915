import type { AddressInfo } from 'node:net';
import { schemaSteps } from '../../../migrations/migrate.js';
import { createApp } from '../../../api/app.js';
import type { ApiDeps } from '../../../api/context.js';
import { startServer, type ApiServer, type ServerTimeouts } from '../../../api/server.js';
import { defaultSettings, type ApiSettings } from '../../../api/settings.js';
import { createTemporalGate, type TemporalGate } from '../../../adapters/temporal/gate.js';
import { createLog } from '../../../adapters/log.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../../adapters/postgres/deadlines.js';
import type { IdentityProvider } from '../../../adapters/identity/identity.js';
import type { Processor } from '../../../adapters/processor/processor.js';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { createWebhookVerifier } from '../../../adapters/processor/webhook.js';
import { databaseRoles } from '../../../migrations/grants.js';
import type { UserRow } from '../../../adapters/postgres/rows/tables.js';
import type { Answer, AnswerBody } from './answers.js';
import { createTestDatabase } from '../servers/database.js';
import { checkDescribed } from './described.js';
import { insertSessionOf, insertUser } from '../money/factories.js';

export const webhookSecret = 'whsec_of_the_api_tests';

/** The API over real HTTP on loopback, with a database of its own. */
export interface TestApi {
  readonly url: string;
  /** As the owner, for what a test prepares and looks at; the API itself works as its own role. */
  readonly db: Database;
  readonly databaseUrl: string;
  readonly deps: ApiDeps;
  readonly server: ApiServer;
  /** Everything that was logged, as parsed lines. */
  readonly logged: Record<string, unknown>[];
  /** A client that nobody is signed in with. */
  stranger(): ApiClient;
  /** A client signed in as a user of its own. */
  signIn(): Promise<SignedIn>;
  stop(): Promise<void>;
}

export interface SignedIn extends ApiClient {
  readonly user: UserRow;
}

export interface ApiOptions {
  readonly settings?: Partial<ApiSettings>;
  /** host:port of Temporal; by default nobody listens there, which is Temporal being away. */
  readonly temporalAddress?: string;
  readonly namespace?: string;
  readonly timeouts?: ServerTimeouts;
  readonly logLevel?: string;
  /** Another database than a fresh one, to be dropped by who made it. */
  readonly databaseUrl?: string;
  /** The payment processor, asked for when it is used; by default it refuses every call. */
  readonly processor?: () => Processor;
  /** Whom people can sign in with; nobody unless told. */
  readonly identityProviders?: readonly IdentityProvider[];
}

const disabled = createStripeProcessor({ secretKey: '', apiUrl: null });

/** Port 9 is nobody's on loopback. */
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
  const deps: ApiDeps = {
    db: ownDb,
    temporal,
    schemaSteps,
    log: createLog({
      ...{ level: options.logLevel ?? 'info', service: 'test' },
      destination: { write: (line: string) => void logged.push(parseLine(line)) },
    }),
    settings: {
      ...defaultSettings,
      secureCookie: false,
      billing: { enabled: true, publishableKey: 'pk_test_api', livemode: false },
      readyKeptMs: 0,
      codeRequestsPerClientPerHour: 1_000,
      readsPerMinute: 1_000_000,
      readsPerMinuteOfUser: 1_000_000,
      changesPerMinute: 1_000_000,
      strangersPerMinute: 1_000_000,
      ...options.settings,
    },
    get processor() {
      return options.processor?.() ?? disabled;
    },
    verifyWebhook: createWebhookVerifier({ secrets: [webhookSecret] }),
    identityProviders: options.identityProviders ?? [],
  };
  const server = await startServer(
    createApp(deps).callback(),
    { host: '127.0.0.1', port: 0 },
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
    signIn: () => signIn(url, db),
    stop: () => stopAll(server, [db, ownDb], temporal, database),
  };
}

async function signIn(url: string, db: Database): Promise<SignedIn> {
  const user = await insertUser(db);
  const client = new ApiClient(url, await insertSessionOf(db, user.id));
  return Object.assign(client, { user });
}

async function stopAll(
  server: ApiServer,
  pools: readonly Database[],
  temporal: TemporalGate,
  database: { drop(): Promise<void> } | undefined,
): Promise<void> {
  await server.stop(0);
  await Promise.all([...pools.map((pool) => pool.destroy()), temporal.close()]);
  await database?.drop();
}

function parseLine(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}

/** Calls the API as a browser would: it keeps the cookies `sid` and `browser`. */
export class ApiClient {
  /** Of the routes of sign-ins. A client that keeps no cookies sets it to undefined before each call. */
  browser: string | undefined;

  constructor(
    readonly url: string,
    public sid?: string,
    /** false: it calls a service of the test's own, whose routes the API's description does not know. */
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

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path, undefined, {});
  }

  json(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    if (body === undefined) return this.send(method, path, undefined, headers);
    return this.send(method, path, JSON.stringify(body), { 'Content-Type': 'application/json', ...headers });
  }

  /** Sends a body as it is. @throws Error when the answer is not what the API's description says */
  async send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: { ...this.cookiesFor(path), ...headers },
      ...(body !== undefined && { body }),
    });
    this.keepCookie(response.headers.getSetCookie());
    const text = await response.text();
    const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';');
    if (this.isDescribed) checkDescribed({ method, path, status: response.status, contentType, text });
    return {
      status: response.status,
      headers: response.headers,
      body: (contentType === 'application/json' && text !== '' ? JSON.parse(text) : text) as AnswerBody,
    };
  }

  private cookiesFor(path: string): { Cookie?: string } {
    const cookies = [
      ...(this.sid === undefined ? [] : [`sid=${this.sid}`]),
      ...(this.browser === undefined || !path.startsWith('/v1/auth/') ? [] : [`browser=${this.browser}`]),
    ];
    return cookies.length === 0 ? {} : { Cookie: cookies.join('; ') };
  }

  private keepCookie(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      this.browser = /^browser=([^;]*)/.exec(cookie)?.[1] ?? this.browser;
      const value = /^sid=([^;]*)/.exec(cookie)?.[1];
      if (value !== undefined) this.sid = value === '' ? undefined : value;
    }
  }
}
