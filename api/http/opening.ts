import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { readClock } from '../../adapters/postgres/clock.js';
import { within } from '../../adapters/within.js';
import { renewIdempotencyKey, type KeyClaim } from '../../adapters/postgres/requests/idempotency-keys.js';
import type { LastWord } from '../../adapters/postgres/requests/last-word.js';
import { newId } from '../../adapters/ids.js';
import type { IdPrefix, UserId } from '../../domain/ids.js';
import { isRefusalCode, Refusal, refusalStatus, type RefusalDetails } from '../../domain/refusal.js';
import type { ApiContext, ApiDeps } from '../context.js';
import {
  claimKey,
  givenAnswer,
  idempotencyKeyOf,
  recordAnswer,
  recordedOf,
  replayedAnswer,
  type ClaimedKey,
  type RecordedAnswer,
} from './idempotency.js';

type IdOf<P extends IdPrefix> = `${P}_${string}`;

/**
 * The shared part of POST /v1/rentals, POST /v1/billing/checkout and PATCH /v1/rentals/:id. A workflow gets an update,
 * and its answer is awaited until a deadline that the activity keeps as well (decision 4, "Promise of a 503"), once per
 * Idempotency-Key (decision 6, "Idempotent retries").
 */
export interface Opening<P extends IdPrefix, Row, Body extends object = object> {
  readonly endpoint: string;
  readonly userId: UserId;
  /** The validated request. It tells a retry of an Idempotency-Key from its use for another request. */
  readonly body: unknown;
  /** For a request that holds secrets: keys the hash of its body. */
  readonly hashKey?: string | undefined;
  /** The prefix of the id that it opens, and that id's name in the details of a 503. */
  readonly prefix: P;
  readonly idName: 'rentalId' | 'topupId' | 'changeId';
  /** The path where its outcome can be looked up; `:id` stands for its id. */
  readonly lookAt: string;
  /**
   * Starts the workflow with its update, or attaches to the one that runs. Resolves when the update answers.
   * @throws Refusal for a request that needs no workflow to be refused
   */
  start(id: IdOf<P>, answerBefore: Date): Promise<unknown>;
  /** Finds the row that answers the request, once it is there. @param isOver the workflow says no more in time */
  find(id: IdOf<P>, isOver: boolean): Promise<Row | undefined>;
  /** Finds the row under the wallet's lock, after the deadline. */
  findUnderLock(id: IdOf<P>, answerBefore: Date): Promise<LastWord<Row>>;
  present(row: Row): Body;
  /** Adds to a final refusal what helps its caller on. Never fails. Default: nothing. */
  complete?(refusal: Refusal): Promise<Refusal>;
  /** Whether it is done without any workflow, in a transaction of this process. */
  readonly isOurs?: boolean;
}

/** One request and what it opens. */
interface Run<P extends IdPrefix, Row> {
  readonly ctx: ApiContext;
  readonly deps: ApiDeps;
  readonly opening: Opening<P, Row>;
}

/**
 * The id that a request opens, and its deadlines (decision 4, "Promise of a 503", and decision 6, "Idempotent
 * retries").
 */
interface Attempt<P extends IdPrefix> {
  readonly id: IdOf<P>;
  /** By the database's clock: the activity opens nothing later. */
  readonly answerBefore: Date;
  /** By this process's clock (Date.now): until then the API waits for the workflow's answer. */
  readonly waitUntilMs: number;
  /** True for the request that made the id; false for its twins and retries. */
  readonly isFirst: boolean;
  /** A retry stops waiting before its first request does: then the outcome is still open. */
  readonly givesUpEarly: boolean;
  readonly key: ClaimedKey | undefined;
}

/** A final answer is given to retries with the same key for a day. */
type Answer<Row> =
  | { readonly kind: 'opened'; readonly row: Row; readonly isFinal: true }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly isFinal: boolean };

/**
 * Answers the request with what the workflow opened. The process may die at any line, and the caller may hang up: each
 * step says from where a retry goes on. tellOutcomes (middleware/outcomes.ts) answers its failures.
 * @returns its id, and the body of its answer
 * @throws Refusal with the workflow's reason, or a 503
 */
export async function answerOpening<P extends IdPrefix, Row, Body extends object>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<P, Row, Body>,
): Promise<{ readonly id: IdOf<P>; readonly body: Body }> {
  const run: Run<P, Row> = { ctx, deps, opening };

  // Before the call: the key is committed with a new id, or shows the id of an earlier request with it.
  let attempt = await claimAttempt(run, idempotencyKeyOf(ctx));

  // A retry after silence: once the old id certainly never comes, a new one takes its place.
  if (await neverComes(run, attempt)) attempt = await renewAttempt(run, attempt);

  // Nothing was sent for a new id, so this refusal promises that nothing was done.
  if (attempt.isFirst && opening.isOurs !== true) await refuseWhenUnreachable(deps);

  // A retry after the answer was recorded: it is given again.
  const recorded = recordedFor(attempt);
  if (recorded) {
    // What stands under a key is what this route answered.
    return { id: attempt.id, body: replayedAnswer(ctx, recorded.body as RecordedAnswer) as Body };
  }

  // The call. After silence the row decides, and after the deadline the row under the wallet's lock.
  let answer = await askUntilAnswered(run, attempt);

  // A retry of a refusal that said "later" gets a new id and its own call, once.
  const renewed = await renewWhenLater(run, attempt, answer);
  if (renewed) {
    attempt = renewed;
    answer = await askUntilAnswered(run, attempt);
  }

  // After the call: a final answer is recorded under the key for retries. Every answer is given.
  const body = await giveAnswer(run, attempt, answer);
  return { id: attempt.id, body: body as Body };
}

/** Returns a new id, or the one that stands under the request's Idempotency-Key. */
async function claimAttempt<P extends IdPrefix, Row>(
  run: Run<P, Row>,
  idempotencyKey: string | undefined,
): Promise<Attempt<P>> {
  const { deps, opening } = run;
  const id = newId(opening.prefix);
  if (idempotencyKey === undefined)
    return about(run, firstAttempt(deps, id, await readClock(deps.db), undefined));
  const key = await claimKey(run.ctx, deps.db, opening, idempotencyKey, id);
  const { fresh, claimedAt } = key.claim;
  return about(run, fresh ? firstAttempt(deps, id, claimedAt, key) : laterAttempt<P>(deps, key));
}

/** Returns whether a retry's id can't be made any more: its time is over, and nothing is there under the lock. */
async function neverComes<P extends IdPrefix, Row>(run: Run<P, Row>, attempt: Attempt<P>): Promise<boolean> {
  const { isFirst, waitUntilMs, key } = attempt;
  if (isFirst || key?.claim.response !== null || waitUntilMs > Date.now()) return false;
  const word = await readLastWord(run, attempt);
  return !(word instanceof Refusal) && word.kind === 'never';
}

function recordedFor<P extends IdPrefix>({ isFirst, key }: Attempt<P>): KeyClaim['response'] {
  return isFirst || key === undefined ? null : key.claim.response;
}

/** Replaces an id that can't happen any more by a new one. One of several retries succeeds; the others follow it. */
async function renewAttempt<P extends IdPrefix, Row>(
  run: Run<P, Row>,
  { id: oldId, key }: Attempt<P>,
): Promise<Attempt<P>> {
  if (!key) throw new Error('only a request with an Idempotency-Key is ever renewed');
  const { deps, opening } = run;
  const id = newId(opening.prefix);
  const renewedAt = await renewIdempotencyKey(deps.db, key.name, oldId, id);
  if (renewedAt) return about(run, firstAttempt(deps, id, renewedAt, key));
  return about(run, laterAttempt<P>(deps, await claimKey(run.ctx, deps.db, opening, key.name.key, id)));
}

/**
 * Makes a new id for a retry that was refused with 429; undefined for all else. A 503 gets none: the old id may still
 * come until its deadline is over.
 */
async function renewWhenLater<P extends IdPrefix, Row>(
  run: Run<P, Row>,
  attempt: Attempt<P>,
  answer: Answer<Row>,
): Promise<Attempt<P> | undefined> {
  if (attempt.isFirst || answer.kind !== 'refused' || refusalStatus[answer.refusal.code] !== 429)
    return undefined;
  try {
    return await renewAttempt(run, attempt);
  } catch (error) {
    // Nothing was sent for the new id, if it is there: the next request with the key sends it.
    run.ctx.state.log.warn({ err: error, id: attempt.id }, 'no new id could be put in for a retry');
    return undefined;
  }
}

/** Makes the request one about this id, which the answer to a failure names. */
function about<P extends IdPrefix, Row>({ ctx, opening }: Run<P, Row>, attempt: Attempt<P>): Attempt<P> {
  const { id } = attempt;
  const hasLeft = ctx.state.opening?.hasLeft ?? false;
  ctx.state.opening = { idName: opening.idName, id, lookAt: opening.lookAt.replace(':id', id), hasLeft };
  return attempt;
}

function firstAttempt<P extends IdPrefix>(
  deps: ApiDeps,
  id: IdOf<P>,
  from: Date,
  key: ClaimedKey | undefined,
): Attempt<P> {
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

function laterAttempt<P extends IdPrefix>(deps: ApiDeps, key: ClaimedKey): Attempt<P> {
  const { answerWithinMs, answerGraceMs, idempotencyWaitMs } = deps.settings;
  const leftMs = answerWithinMs + answerGraceMs - key.claim.ageMs;
  return {
    // The id under a key was minted for this endpoint, by firstAttempt's callers.
    id: key.claim.targetId as IdOf<P>,
    answerBefore: new Date(key.claim.claimedAt.getTime() + answerWithinMs),
    waitUntilMs: Date.now() + Math.min(leftMs, idempotencyWaitMs),
    isFirst: false,
    givesUpEarly: idempotencyWaitMs < leftMs,
    key,
  };
}

const ASK_AGAIN_MS = 250;

/**
 * Asks the workflow until it answers or the time is over, and then looks for the last time. Asking again is harmless:
 * the workflow's id and the update's id stay the same, so every asker gets the first answer.
 */
async function askUntilAnswered<P extends IdPrefix, Row>(
  run: Run<P, Row>,
  attempt: Attempt<P>,
): Promise<Answer<Row>> {
  const { ctx, deps, opening } = run;
  if (ctx.state.opening) ctx.state.opening.hasLeft = true;
  ctx.state.passTurn?.();
  for (let isOver = true; ; isOver = true) {
    const leftMs = attempt.waitUntilMs - Date.now();
    if (leftMs <= 0) return lookForTheLastTime(run, attempt);
    try {
      await deps.temporal.within(leftMs, () => opening.start(attempt.id, attempt.answerBefore));
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal) return await refusedOrThere(run, attempt, refusal);
      ctx.state.log.warn({ err: error, [opening.idName]: attempt.id }, 'no answer from the workflow yet');
      isOver = false;
    }
    const there = await lookFor(run, attempt, isOver);
    if (there) return there;
    await sleep(Math.max(0, Math.min(ASK_AGAIN_MS, attempt.waitUntilMs - Date.now())));
  }
}

/** A 503 by itself promises nothing: the opening may have happened all the same (decision 4, "Promise of a 503"). */
async function refusedOrThere<P extends IdPrefix, Row>(
  run: Run<P, Row>,
  attempt: Attempt<P>,
  refusal: Refusal,
): Promise<Answer<Row>> {
  if (refusalStatus[refusal.code] < 500) return refused(refusal);
  if (refusal.details?.['outcome'] === 'not_done') return refused(refusal);
  return (await lookFor(run, attempt)) ?? refused(refusal);
}

/** The least time of any look, and the last look's time beyond its wait for the lock. */
const MIN_LOOK_MS = 2_000;

/**
 * Reads what the row says by now; undefined when there is none yet, or the database can't tell just now. A failed look
 * proves nothing about what was sent.
 */
async function lookFor<P extends IdPrefix, Row>(
  { ctx, opening }: Run<P, Row>,
  attempt: Attempt<P>,
  isOver = true,
): Promise<Answer<Row> | undefined> {
  const leftMs = Math.max(MIN_LOOK_MS, attempt.waitUntilMs - Date.now());
  try {
    const row = await within(leftMs, opening.find(attempt.id, isOver), noAnswerIn(leftMs));
    return row === undefined ? undefined : opened(row);
  } catch (error) {
    if (error instanceof Refusal) return refused(error);
    ctx.state.log.warn({ err: error, [opening.idName]: attempt.id }, 'its row could not be looked for');
    return undefined;
  }
}

/** Looks after silence: the row under the wallet's lock tells whether it happened (decision 4, "Promise of a 503"). */
async function lookForTheLastTime<P extends IdPrefix, Row>(
  run: Run<P, Row>,
  attempt: Attempt<P>,
): Promise<Answer<Row>> {
  if (attempt.givesUpEarly) {
    const message =
      'The first request with this Idempotency-Key is still in progress. Try again in a few seconds.';
    return later(new Refusal('idempotency_in_progress', message, { [run.opening.idName]: attempt.id }));
  }
  const word = await readLastWord(run, attempt);
  if (word instanceof Refusal) return refused(word);
  if (word.kind === 'there') return opened(word.row);
  if (word.kind === 'never') {
    const message = 'We could not do this in time. Nothing happened, and nothing will. Try again.';
    return later(new Refusal('temporarily_unavailable', message, { outcome: 'not_done' }));
  }
  return later(
    new Refusal('temporarily_unavailable', 'We could not check this in time. Try again in a few seconds.'),
  );
}

/** Reads the last word. A look that fails, or takes for ever, knows nothing. */
async function readLastWord<P extends IdPrefix, Row>(
  { ctx, deps, opening }: Run<P, Row>,
  { id, answerBefore }: Attempt<P>,
): Promise<LastWord<Row> | Refusal> {
  try {
    const limitMs = deps.settings.lockWaitMs + MIN_LOOK_MS;
    return await within(limitMs, opening.findUnderLock(id, answerBefore), noAnswerIn(limitMs));
  } catch (error) {
    if (error instanceof Refusal) return error;
    ctx.state.log.warn({ err: error, [opening.idName]: id }, 'its outcome could not be looked up');
    return { kind: 'unknown' };
  }
}

async function giveAnswer<P extends IdPrefix, Row>(
  run: Run<P, Row>,
  attempt: Attempt<P>,
  answer: Answer<Row>,
): Promise<object> {
  const { ctx, opening } = run;
  // This is the answer of an earlier request, or of a twin that was first.
  if (!attempt.isFirst && answer.isFinal) ctx.set('Idempotent-Replayed', 'true');
  if (answer.kind === 'refused' && !answer.isFinal) throw answer.refusal;
  const outcome =
    answer.kind === 'opened'
      ? opening.present(answer.row)
      : ((await opening.complete?.(answer.refusal)) ?? answer.refusal);
  return givenAnswer(ctx, await recordIfPossible(run, attempt, outcome));
}

/**
 * Records the answer, which is decided already: without the record a retry asks the workflow again, and gets the same
 * decision in the words of then.
 * @returns what stands under the key
 */
async function recordIfPossible<P extends IdPrefix, Row>(
  { ctx, deps }: Run<P, Row>,
  { id, key }: Attempt<P>,
  outcome: object,
): Promise<RecordedAnswer> {
  const answer = recordedOf(outcome, ctx.state.requestId);
  try {
    return await recordAnswer(deps.db, key, id, answer);
  } catch (error) {
    ctx.state.log.warn({ err: error, id }, 'an answer could not be kept for retries');
    return answer;
  }
}

function opened<Row>(row: Row): Answer<Row> {
  return { kind: 'opened', row, isFinal: true };
}

/** The answer of a refusal. "Not now" is never final: the same request may well succeed a little later. */
function refused<Row>(refusal: Refusal): Answer<Row> {
  const status = refusalStatus[refusal.code];
  return { kind: 'refused', refusal, isFinal: status !== 429 && status < 500 };
}

function later<Row>(refusal: Refusal): Answer<Row> {
  return { kind: 'refused', refusal, isFinal: false };
}

/**
 * Finds the refusal in an error: the API's own, or the workflow's, which crosses Temporal as an ApplicationFailure whose
 * type is its code, inside what carried it.
 */
function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof ApplicationFailure && isRefusalCode(error.type ?? '')) {
    const details = error.details?.[0] as RefusalDetails | null | undefined;
    return new Refusal(error.type as Refusal['code'], error.message, details ?? undefined);
  }
  return error instanceof Error && error.cause !== undefined ? refusalIn(error.cause) : undefined;
}

const noAnswerIn = (limitMs: number) => (): Error =>
  new Error(`no answer of the database within ${limitMs} ms`);

/** @throws Refusal when Temporal can't be reached: the request never leaves */
async function refuseWhenUnreachable({ temporal, settings }: ApiDeps): Promise<void> {
  if (await temporal.isReachable(settings.reachMs)) return;
  throw new Refusal('temporarily_unavailable', 'We can’t do this right now. Try again in a few seconds.');
}
