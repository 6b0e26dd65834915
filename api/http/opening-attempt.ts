import { readClock } from '../../adapters/postgres/clock.js';
import { renewIdempotencyKey } from '../../adapters/postgres/requests/idempotency-keys.js';
import type { LastWord } from '../../adapters/postgres/requests/last-word.js';
import type { UserId } from '../../domain/ids.js';
import type { ApiDeps } from '../context.js';
import { claimKey, type KeptKey } from './idempotency.js';

/**
 * What POST /v1/rentals and POST /v1/billing/checkout share: a workflow is started with an update, and its answer
 * is waited for with a deadline that the activity keeps as well (decision 4), once per Idempotency-Key (decision 6).
 */
export interface Opening<Id extends string, Row> {
  readonly endpoint: string;
  readonly userId: UserId;
  /** The validated request, by which an Idempotency-Key is told from its use for another one. */
  readonly body: unknown;
  newId(): Id;
  /** Starts the workflow with its update, or attaches to the one that runs. Resolves when the update answers. */
  start(id: Id, answerBefore: Date): Promise<unknown>;
  /** The row that answers the request, once it is there. */
  find(id: Id): Promise<Row | undefined>;
  /** The same under the wallet's lock, after the deadline. */
  findUnderLock(id: Id, answerBefore: Date): Promise<LastWord<Row>>;
  present(row: Row): object;
  /** What a 503 calls the id in its details, and where the outcome can be looked up. */
  readonly idName: 'rentalId' | 'topupId';
  lookAt(id: Id): string;
}

/** Which id a request opens, and how long it may take (decisions 4, 6). */
export interface Attempt<Id extends string> {
  readonly id: Id;
  /** By the database's clock: the activity opens nothing after it. */
  readonly answerBefore: Date;
  /** By this process's clock (Date.now): until then the workflow's answer is waited for. */
  readonly waitUntilMs: number;
  /** True for the request that put the id in; false for its twins and retries. */
  readonly isFirst: boolean;
  /** A retry stops waiting before its first request does: then the outcome is still open. */
  readonly givesUpEarly: boolean;
  readonly key: KeptKey | undefined;
}

/**
 * A new id, or the one that stands under the request's Idempotency-Key. When the time of that one is over and it
 * is not there under the wallet's lock, it never will be, and a new one takes its place.
 * @param noteId is told of the id as soon as the request is about it
 */
export async function beginAttempt<Id extends string, Row>(
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  idempotencyKey: string | undefined,
  noteId: (id: Id) => void,
): Promise<Attempt<Id>> {
  const id = opening.newId();
  if (idempotencyKey === undefined) {
    const attempt = firstAttempt(deps, id, await readClock(deps.db), undefined);
    noteId(id);
    return attempt;
  }
  const key = await claimKey(deps.db, opening, idempotencyKey, id);
  const attempt = key.claim.fresh
    ? firstAttempt(deps, id, key.claim.claimedAt, key)
    : laterAttempt<Id>(deps, key);
  noteId(attempt.id);
  if (attempt.isFirst || key.claim.response !== null || attempt.waitUntilMs > Date.now()) return attempt;
  const word = await opening.findUnderLock(attempt.id, attempt.answerBefore);
  if (word.kind !== 'never') return attempt;
  const renewed = await renewAttempt(deps, opening, attempt);
  noteId(renewed.id);
  return renewed;
}

/** Puts a new id in for one that can't happen any more. Of several retries one succeeds, the others follow it. */
export async function renewAttempt<Id extends string, Row>(
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  attempt: Attempt<Id>,
): Promise<Attempt<Id>> {
  const { key } = attempt;
  if (!key) throw new Error('only a request with an Idempotency-Key is ever renewed');
  const id = opening.newId();
  const renewedAt = await renewIdempotencyKey(deps.db, key.name, attempt.id, id);
  if (renewedAt) return firstAttempt(deps, id, renewedAt, key);
  return laterAttempt(deps, await claimKey(deps.db, opening, key.name.key, id));
}

function firstAttempt<Id extends string>(
  deps: ApiDeps,
  id: Id,
  from: Date,
  key: KeptKey | undefined,
): Attempt<Id> {
  const { answerWithinMs, answerGraceMs } = deps.settings;
  return {
    id,
    answerBefore: new Date(from.getTime() + answerWithinMs),
    waitUntilMs: Date.now() + answerWithinMs + answerGraceMs,
    isFirst: true,
    givesUpEarly: false,
    key,
  };
}

function laterAttempt<Id extends string>(deps: ApiDeps, key: KeptKey): Attempt<Id> {
  const { answerWithinMs, answerGraceMs, idempotencyWaitMs } = deps.settings;
  const leftMs = answerWithinMs + answerGraceMs - key.claim.ageMs;
  return {
    // What stands under a key was minted for this endpoint, by firstAttempt's callers.
    id: key.claim.targetId as Id,
    answerBefore: new Date(key.claim.claimedAt.getTime() + answerWithinMs),
    waitUntilMs: Date.now() + Math.min(leftMs, idempotencyWaitMs),
    isFirst: false,
    givesUpEarly: idempotencyWaitMs < leftMs,
    key,
  };
}
