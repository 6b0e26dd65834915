import type { Router, RouterContext } from '@koa/router';
import type { Logger } from 'pino';
import type { ApiKeyScope } from '../domain/accounts/api-keys.js';
import type { IdentityProvider } from '../adapters/identity/identity.js';
import type { LiveApiKey } from '../adapters/postgres/accounts/api-keys.js';
import type { Session } from '../adapters/postgres/accounts/sessions.js';
import type { AnsweredRequest } from '../adapters/metrics/requests.js';
import type { Database } from '../adapters/postgres/database.js';
import type { ReadAhead } from '../adapters/postgres/prepared.js';
import type { Processor } from '../adapters/processor/processor.js';
import type { WebhookVerifier } from '../adapters/processor/webhook.js';
import type { ApiKeyId } from '../domain/ids.js';
import type { Refusal } from '../domain/refusal.js';
import type { EventStreams } from './events/service.js';
import type { ApiSettings } from './settings.js';
import type { TemporalGate } from '../adapters/temporal/gate.js';

/** Everything that the API works with. The composition root (index.ts) makes it, tests make their own. */
export interface ApiDeps {
  readonly db: Database;
  readonly temporal: TemporalGate;
  readonly log: Logger;
  /** Counts answered requests. */
  readonly observeRequest?: (request: AnsweredRequest) => void;
  /** The schema's steps that this code needs (migrations/steps.ts), for /readyz; default: not checked. */
  readonly schemaSteps?: readonly string[];
  readonly settings: ApiSettings;
  /** The streams of events that this process holds. */
  readonly streams: EventStreams;
  /** Asked directly only to begin the saving of a card; calls that move money go through workflows. */
  readonly processor: Processor;
  /** Checks the signature of a webhook call over its raw bytes; null when billing is disabled. */
  readonly verifyWebhook: WebhookVerifier | null;
  /** The enabled ones, in the order in which they are shown (decision 11, "Sign-in elsewhere"). */
  readonly identityProviders: readonly IdentityProvider[];
  /** The folder of the built dashboard; undefined: plain pages stand in. */
  readonly dashboardFolder?: string | undefined;
}

/** The middleware's findings about a request. */
export interface ApiState {
  requestId: string;
  /** The request whose refusal is given again: the body names it, as it did at first. */
  answeredAs?: string;
  log: Logger;
  /** The body as it arrived; empty when there was none. */
  rawBody: Buffer;
  /** The parsed JSON body; undefined when there was none. */
  body: unknown;
  /** Who may call the route of the request; undefined: anybody. */
  access?: Access | undefined;
  /** Who asks; undefined until limitRequests has looked them up, and for nobody known. */
  caller?: Caller;
  /** What the caller's session is known by. */
  sessionToken?: string;
  /** Asks whether that session still has this token. */
  holdsToken?: () => Promise<boolean>;
  /** What was read with the look-up of the caller, in the hope that it is what the request asks for. */
  ahead?: ReadAhead;
  /** Why the API key, or the sessions, that were sent do not hold. Routes that need a caller throw it. */
  refusedKey?: Refusal;
  /**
   * Ends the request's turn (decision 97, "Requests under way"). A handler calls it before it waits for anybody but the
   * database, so that the caller's other requests go on meanwhile. Undefined where requests take no turns.
   */
  passTurn?: () => void;
  /** The opening that the request asks for; undefined until it has an id. */
  opening?: OpeningProgress;
}

/** Who may call a route: sessions alone, or keys of a scope as well. */
export type Access = ApiKeyScope | 'session';

/** Who asks, in the name of a user: their session, or a key of theirs (decision 108, "API keys"). */
export type Caller = ({ readonly kind: 'session' } & Session) | ({ readonly kind: 'key' } & LiveApiKey);

/** The progress of an opening; the answer to its failure depends on it (decision 4, "Promise of a 503"). */
export interface OpeningProgress {
  readonly idName: 'rentalId' | 'topupId' | 'changeId';
  id: string;
  lookAt: string;
  /** Whether anything was sent that may open it. */
  hasLeft: boolean;
}

export type ApiContext = RouterContext<ApiState>;
export type ApiRouter = Router<ApiState>;

/** Who asks, behind requireCaller or requireSession. */
export function callerOf(ctx: ApiContext): Caller {
  if (!ctx.state.caller) throw new Error(`${ctx.path} asks for a caller that no middleware looked up`);
  return ctx.state.caller;
}

/** The session of a request behind requireSession. */
export function sessionOf(ctx: ApiContext): Session {
  const caller = callerOf(ctx);
  if (caller.kind !== 'session') throw new Error(`${ctx.path} asks for the session of an API key`);
  return caller;
}

/**
 * The key whose rentals alone a caller sees and changes: that of a request by a key with a cap (decision 109, "Caps and
 * budgets"). Undefined for all others: they see those of their user.
 */
export function onlyOf({ state: { caller } }: { readonly state: ApiState }): ApiKeyId | undefined {
  return caller?.kind === 'key' && caller.isCapped ? caller.keyId : undefined;
}

/** The API key of a request; undefined for a session, and for nobody known. */
export function keyIdOf({ state: { caller } }: { readonly state: ApiState }): ApiKeyId | undefined {
  return caller?.kind === 'key' ? caller.keyId : undefined;
}
