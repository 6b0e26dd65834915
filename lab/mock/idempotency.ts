import { keyIdOf, type ApiContext } from '../../api/context.js';
import {
  hashOf,
  idempotencyKeyOf,
  recordedOf,
  replayedAnswer,
  type RecordedAnswer,
} from '../../api/http/idempotency.js';
import { Refusal, refusalStatus } from '../../domain/refusal.js';
import type { Account } from './account.js';
import { refusalByCode } from './refuse.js';

const nameOf = (ctx: ApiContext, endpoint: string, key: string): string =>
  `${endpoint} ${keyIdOf(ctx) ?? ''} ${key}`;

/** Tells of an id whether a list shows it that is filtered by an Idempotency-Key; without a key it shows all. */
export function madeUnder(
  ctx: ApiContext,
  account: Account,
  endpoint: string,
  key: string | undefined,
): (id: string) => boolean {
  if (key === undefined) return () => true;
  const answer = account.kept.get(nameOf(ctx, endpoint, key))?.answer;
  const made = (answer && ('body' in answer ? answer.body : answer.refused.details)) as
    | { readonly id?: string; readonly topupId?: string }
    | undefined;
  return (id) => id === (made?.topupId ?? made?.id);
}

/**
 * Answers a creating call, once per Idempotency-Key (decision 6, "Idempotent retries"): a retry gets the first answer
 * again.
 * @throws Refusal idempotency_conflict when the key came with another body
 */
export function answerOnce<Answer extends object>(
  ctx: ApiContext,
  account: Account,
  endpoint: string,
  body: unknown,
  create: () => Answer,
): Answer {
  const key = idempotencyKeyOf(ctx);
  const name = nameOf(ctx, endpoint, key ?? '');
  const bodyHash = hashOf(body).toString('hex');
  const kept = key === undefined ? undefined : account.kept.get(name);
  if (kept && kept.bodyHash !== bodyHash) throw refusalByCode('idempotency_conflict');
  if (kept) return replayedAnswer(ctx, kept.answer) as Answer;
  const keep = (answer: RecordedAnswer): void => {
    if (key === undefined) return;
    // What is answered may change later, and this answer must not.
    const copy = JSON.parse(JSON.stringify(answer)) as RecordedAnswer;
    account.kept.set(name, { bodyHash, answer: copy });
  };
  try {
    const answer = create();
    keep({ body: answer });
    return answer;
  } catch (error) {
    // An answer that says "later" is not kept: the client asks again.
    if (error instanceof Refusal && refusalStatus[error.code] < 429)
      keep(recordedOf(error, ctx.state.requestId));
    throw error;
  }
}
