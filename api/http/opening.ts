import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { LastWord } from '../../adapters/postgres/requests/last-word.js';
import { isRefusalCode, Refusal, refusalStatus, type RefusalDetails } from '../../domain/refusal.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { idempotencyKeyOf, keepAnswer, replayAnswer } from './idempotency.js';
import { beginAttempt, renewAttempt, type Attempt, type Opening } from './opening-attempt.js';

/**
 * Answers the request with what the workflow opened. Its failures are told by tellOutcomes (middleware/outcomes.ts).
 * @returns its id
 * @throws Refusal with the workflow's reason, or a 503
 */
export async function answerOpening<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
): Promise<Id> {
  const begun = await beginAttempt(deps, opening, idempotencyKeyOf(ctx), (id) => noteId(ctx, opening, id));
  const kept = begun.key?.claim.response;
  if (begun.isFirst && !(await deps.temporal.isReachable(deps.settings.reachMs))) throw neverLeft();
  if (!begun.isFirst && kept) {
    replayAnswer(ctx, kept.body);
    return begun.id;
  }
  const { attempt, answer } = await settled(ctx, deps, opening, begun);
  // The answer of an earlier request, or of a twin that was first.
  if (!attempt.isFirst && answer.isFinal) ctx.set('Idempotent-Replayed', 'true');
  if (answer.kind === 'refused') {
    if (answer.isFinal) await keepIfPossible(ctx, deps, attempt, answer.refusal);
    throw answer.refusal;
  }
  const body = opening.present(answer.row);
  await keepIfPossible(ctx, deps, attempt, body);
  ctx.body = body;
  return attempt.id;
}

/** From here on the request is about an id, of which a failure tells. */
function noteId<Id extends string, Row>(ctx: ApiContext, opening: Opening<Id, Row>, id: Id): void {
  const hasLeft = ctx.state.opening?.hasLeft ?? false;
  ctx.state.opening = { idName: opening.idName, id, lookAt: opening.lookAt(id), hasLeft };
}

/** It is decided already: without the kept answer a retry asks the workflow again, and gets the same one. */
async function keepIfPossible<Id extends string>(
  ctx: ApiContext,
  deps: ApiDeps,
  attempt: Attempt<Id>,
  outcome: object,
): Promise<void> {
  try {
    await keepAnswer(deps.db, attempt.key, attempt.id, outcome);
  } catch (error) {
    ctx.state.log.warn({ err: error, id: attempt.id }, 'an answer could not be kept for retries');
  }
}

/** Final is what a retry with the same key is answered with for a day. */
type Answer<Row> =
  | { readonly kind: 'opened'; readonly row: Row; readonly isFinal: true }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly isFinal: boolean };

interface Settled<Id extends string, Row> {
  readonly attempt: Attempt<Id>;
  readonly answer: Answer<Row>;
}

async function settled<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  begun: Attempt<Id>,
): Promise<Settled<Id, Row>> {
  const answer = await askOrLook(ctx, deps, opening, begun);
  // Not after a 503: only when its deadline is over is it certain that the old id never comes (opening-attempt.ts).
  if (begun.isFirst || answer.kind !== 'refused' || refusalStatus[answer.refusal.code] !== 429) {
    return { attempt: begun, answer };
  }
  return askAgain(ctx, deps, opening, { attempt: begun, answer });
}

/** A retry of a request that was refused with "later" is that later: it gets a new id, once. */
async function askAgain<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  refused: Settled<Id, Row>,
): Promise<Settled<Id, Row>> {
  let attempt: Attempt<Id>;
  try {
    attempt = await renewAttempt(deps, opening, refused.attempt);
  } catch (error) {
    // Nothing was sent for the new id, if it is there: whoever comes with the key next sends it.
    ctx.state.log.warn({ err: error, id: refused.attempt.id }, 'no new id could be put in for a retry');
    return refused;
  }
  noteId(ctx, opening, attempt.id);
  return { attempt, answer: await askOrLook(ctx, deps, opening, attempt) };
}

const ASK_AGAIN_MS = 250;

/**
 * Asks the workflow until it answers or the time is over, and then looks for the last time. Asking again is harmless:
 * the workflow's id and the update's id stay the same, so whoever asks gets the first answer.
 */
async function askOrLook<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  attempt: Attempt<Id>,
): Promise<Answer<Row>> {
  if (ctx.state.opening) ctx.state.opening.hasLeft = true;
  ctx.state.passTurn?.();
  for (;;) {
    const leftMs = attempt.waitUntilMs - Date.now();
    if (leftMs <= 0) return lastLook(ctx, deps, opening, attempt);
    try {
      await deps.temporal.within(leftMs, () => opening.start(attempt.id, attempt.answerBefore));
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal) return await refusedOrThere(ctx, opening, attempt, refusal);
      ctx.state.log.warn({ err: error, [opening.idName]: attempt.id }, 'no answer from the workflow yet');
    }
    const there = await lookFor(ctx, opening, attempt);
    if (there) return there;
    await sleep(Math.max(0, Math.min(ASK_AGAIN_MS, attempt.waitUntilMs - Date.now())));
  }
}

/**
 * What the row says by now; undefined when there is none yet, or the database can't tell just now: a failed look
 * proves nothing about what was sent.
 */
async function lookFor<Id extends string, Row>(
  ctx: ApiContext,
  opening: Opening<Id, Row>,
  attempt: Attempt<Id>,
): Promise<Answer<Row> | undefined> {
  const leftMs = Math.max(MIN_LOOK_MS, attempt.waitUntilMs - Date.now());
  try {
    const row = await within(leftMs, opening.find(attempt.id));
    return row === undefined ? undefined : opened(row);
  } catch (error) {
    if (error instanceof Refusal) return refused(error);
    ctx.state.log.warn({ err: error, [opening.idName]: attempt.id }, 'its row could not be looked for');
    return undefined;
  }
}

/** A 503 promises nothing by itself: what it is about may be there all the same (decision 4). */
async function refusedOrThere<Id extends string, Row>(
  ctx: ApiContext,
  opening: Opening<Id, Row>,
  attempt: Attempt<Id>,
  refusal: Refusal,
): Promise<Answer<Row>> {
  if (refusalStatus[refusal.code] < 500) return refused(refusal);
  if (refusal.details?.['outcome'] === 'not_done') return refused(refusal);
  return (await lookFor(ctx, opening, attempt)) ?? refused(refusal);
}

function opened<Row>(row: Row): Answer<Row> {
  return { kind: 'opened', row, isFinal: true };
}

function refused<Row>(refusal: Refusal): Answer<Row> {
  return { kind: 'refused', refusal, isFinal: !saysLater(refusal) };
}

/** A refusal crosses Temporal as an ApplicationFailure whose type is its code, inside what carried it. */
function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof ApplicationFailure && isRefusalCode(error.type ?? '')) {
    const details = error.details?.[0] as RefusalDetails | null | undefined;
    return new Refusal(error.type as Refusal['code'], error.message, details ?? undefined);
  }
  return error instanceof Error && error.cause !== undefined ? refusalIn(error.cause) : undefined;
}

/** "Not now": the same request may well be met a little later. */
function saysLater(refusal: Refusal): boolean {
  const status = refusalStatus[refusal.code];
  return status === 429 || status >= 500;
}

/** How long a look may take at least, and beyond its wait for the lock. */
const MIN_LOOK_MS = 2_000;

/** After silence: the row under the wallet's lock tells whether it happened (decision 4). */
async function lastLook<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  attempt: Attempt<Id>,
): Promise<Answer<Row>> {
  const { id } = attempt;
  if (attempt.givesUpEarly) {
    const message =
      'The first request with this Idempotency-Key is still being worked on. Try again in a few seconds.';
    return later(new Refusal('idempotency_in_progress', message, { [opening.idName]: id }));
  }
  const word = await lastWord(ctx, deps, opening, attempt);
  if (word instanceof Refusal) return refused(word);
  if (word.kind === 'there') return opened(word.row);
  if (word.kind === 'never') {
    const message = 'This could not be done in time. Nothing was done, and nothing will be: try again.';
    return later(new Refusal('temporarily_unavailable', message, { outcome: 'not_done' }));
  }
  return later(new Refusal('temporarily_unavailable', 'It could not be found out in time.'));
}

/** A look that fails, or takes for ever, knows nothing. */
async function lastWord<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  { id, answerBefore }: Attempt<Id>,
): Promise<LastWord<Row> | Refusal> {
  try {
    return await within(deps.settings.lockWaitMs + MIN_LOOK_MS, opening.findUnderLock(id, answerBefore));
  } catch (error) {
    if (error instanceof Refusal) return error;
    ctx.state.log.warn({ err: error, [opening.idName]: id }, 'its outcome could not be looked up');
    return { kind: 'unknown' };
  }
}

function later<Row>(refusal: Refusal): Answer<Row> {
  return { kind: 'refused', refusal, isFinal: false };
}

/** @throws Error when the work takes longer; it goes on all the same */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no answer of the database within ${limitMs} ms`);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    limit.catch(() => undefined);
    over.abort();
  }
}

function neverLeft(): Refusal {
  return new Refusal(
    'temporarily_unavailable',
    'The service can’t take this on right now. Try again in a few seconds.',
  );
}
