import type { Router, RouterContext } from '@koa/router';
import type { Logger } from 'pino';
import type { IdentityProvider } from '../adapters/identity/identity.js';
import type { Session } from '../adapters/postgres/accounts/sessions.js';
import type { AnsweredRequest } from '../adapters/metrics/requests.js';
import type { Database } from '../adapters/postgres/database.js';
import type { Processor } from '../adapters/processor/processor.js';
import type { WebhookVerifier } from '../adapters/processor/webhook.js';
import type { ApiSettings } from './settings.js';
import type { TemporalGate } from '../adapters/temporal/gate.js';

/** Everything that the API works with. The composition root (index.ts) makes it, tests make their own. */
export interface ApiDeps {
  readonly db: Database;
  readonly temporal: TemporalGate;
  readonly log: Logger;
  /** Counts what was answered. */
  readonly observeRequest?: (request: AnsweredRequest) => void;
  /** The steps of the schema that this code needs (migrations/migrate.ts), for /readyz; not checked unless told. */
  readonly schemaSteps?: readonly string[];
  readonly settings: ApiSettings;
  /** Asked directly only to begin the saving of a card: what moves money goes through workflows. */
  readonly processor: Processor;
  /** Checks the signature of a webhook call over its raw bytes; null when billing is disabled. */
  readonly verifyWebhook: WebhookVerifier | null;
  /** Those that are enabled, in the order in which they are shown (decision 11, "Sign-in elsewhere"). */
  readonly identityProviders: readonly IdentityProvider[];
}

/** What the middleware found out about a request. */
export interface ApiState {
  requestId: string;
  log: Logger;
  /** The body as it arrived; empty when there was none. */
  rawBody: Buffer;
  /** The parsed JSON body; undefined when there was none. */
  body: unknown;
  /** Who asks; undefined until limitRequests found out. */
  session?: Session;
  /**
   * Ends the request's turn (decision 97, "Requests under way"): called before somebody else than the database is
   * waited for, so that the caller's other requests go on meanwhile. Undefined where requests take no turns.
   */
  passTurn?: () => void;
  /** What the request opens; undefined until that has an id. */
  opening?: OpeningProgress;
}

/** How far an opening has come, by which its failure is told (decision 4, "Promise of a 503"). */
export interface OpeningProgress {
  readonly idName: 'rentalId' | 'topupId';
  id: string;
  lookAt: string;
  /** Whether anything that may do it was sent. */
  hasLeft: boolean;
}

export type ApiContext = RouterContext<ApiState>;
export type ApiRouter = Router<ApiState>;

/** The session of a route behind requireSession. */
export function sessionOf(ctx: ApiContext): Session {
  if (!ctx.state.session) throw new Error(`${ctx.path} asks for a session that no middleware looked up`);
  return ctx.state.session;
}
