import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { isRefusalCode, Refusal, refusalStatus, type RefusalDetails } from '../domain/refusal.js';
import type { ApiContext, ApiDeps } from './context.js';
import { idempotencyKeyOf, keepAnswer, replayAnswer } from './idempotency.js';
import { beginAttempt, renewAttempt, type Attempt, type Opening } from './opening-attempt.js';

/**
 * Answers the request with what the workflow opened.
 * @returns its id
 * @throws Refusal with the workflow's reason, or a 503
 */
export async function answerOpening<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
): Promise<Id> {
  const begun = await beginAttempt(deps, opening, idempotencyKeyOf(ctx));
  const kept = begun.key?.claim.response;
  if (begun.isFirst && !(await deps.temporal.isReachable(deps.settings.reachMs))) throw neverLeft();
  if (!begun.isFirst && kept) {
    replayAnswer(ctx, kept.body);
    return begun.id;
  }
  const { attempt, answer } = await askAgainWhenLater(ctx, deps, opening, begun);
  if (answer.kind === 'refused') {
    if (!saysLater(answer.refusal)) await keepAnswer(deps.db, attempt.key, attempt.id, answer.refusal);
    throw answer.refusal;
  }
  const row = answer.kind === 'opened' ? answer.row : await lastLook(opening, attempt);
  const body = opening.present(row);
  await keepAnswer(deps.db, attempt.key, attempt.id, body);
  ctx.body = body;
  return attempt.id;
}

type Answer<Row> =
  | { readonly kind: 'opened'; readonly row: Row }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'silent' };

/** A retry of a request that was refused with "later" is that later: it gets a new id, once. */
async function askAgainWhenLater<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  begun: Attempt<Id>,
): Promise<{ attempt: Attempt<Id>; answer: Answer<Row> }> {
  const answer = await askWorkflow(ctx, deps, opening, begun);
  // Not after a 503: only when its deadline is over is it certain that the old id never comes (opening-attempt.ts).
  if (begun.isFirst || answer.kind !== 'refused' || refusalStatus[answer.refusal.code] !== 429) {
    return { attempt: begun, answer };
  }
  const attempt = await renewAttempt(deps, opening, begun);
  return { attempt, answer: await askWorkflow(ctx, deps, opening, attempt) };
}

const ASK_AGAIN_MS = 250;

/**
 * Asks the workflow until it answers or the time is over. Asking again is harmless: the workflow's id and the
 * update's id stay the same, so whoever asks gets the first answer.
 */
async function askWorkflow<Id extends string, Row>(
  ctx: ApiContext,
  deps: ApiDeps,
  opening: Opening<Id, Row>,
  attempt: Attempt<Id>,
): Promise<Answer<Row>> {
  for (;;) {
    const leftMs = attempt.waitUntilMs - Date.now();
    if (leftMs <= 0) return { kind: 'silent' };
    try {
      await deps.temporal.within(leftMs, () => opening.start(attempt.id, attempt.answerBefore));
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal) return await refusedOrThere(opening, attempt.id, refusal);
      ctx.state.log.warn({ err: error, [opening.idName]: attempt.id }, 'no answer from the workflow yet');
    }
    const row = await opening.find(attempt.id);
    if (row !== undefined) return { kind: 'opened', row };
    await sleep(Math.max(0, Math.min(ASK_AGAIN_MS, attempt.waitUntilMs - Date.now())));
  }
}

/** A 503 promises nothing: what it is about may be there all the same (decision 4). */
async function refusedOrThere<Id extends string, Row>(
  opening: Opening<Id, Row>,
  id: Id,
  refusal: Refusal,
): Promise<Answer<Row>> {
  if (refusalStatus[refusal.code] < 500) return { kind: 'refused', refusal };
  const row = await opening.find(id);
  if (row !== undefined) return { kind: 'opened', row };
  const details = { ...refusal.details, [opening.idName]: id, lookAt: opening.lookAt(id) };
  return { kind: 'refused', refusal: new Refusal(refusal.code, refusal.message, details) };
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

/** After silence: the row under the wallet's lock tells whether it happened (decision 4). */
async function lastLook<Id extends string, Row>(
  opening: Opening<Id, Row>,
  attempt: Attempt<Id>,
): Promise<Row> {
  const { id } = attempt;
  if (attempt.givesUpEarly) {
    throw new Refusal(
      'idempotency_in_progress',
      'The first request with this Idempotency-Key is still being worked on. Try again in a few seconds.',
      { [opening.idName]: id },
    );
  }
  const word = await opening.findUnderLock(id, attempt.answerBefore);
  if (word.kind === 'there') return word.row;
  if (word.kind === 'never') {
    throw new Refusal(
      'temporarily_unavailable',
      'This could not be done in time. Nothing was done, and nothing will be: try again.',
      { [opening.idName]: id, outcome: 'not_done' },
    );
  }
  throw new Refusal(
    'temporarily_unavailable',
    `It is not known yet whether this was done. Look at ${opening.lookAt(id)} in a minute.`,
    { [opening.idName]: id, outcome: 'unknown', lookAt: opening.lookAt(id) },
  );
}

function neverLeft(): Refusal {
  return new Refusal(
    'temporarily_unavailable',
    'The service can’t take this on right now. Nothing was done: try again in a few seconds.',
    { outcome: 'not_done' },
  );
}
