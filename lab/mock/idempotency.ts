import { keyIdOf, type ApiContext } from '../../api/context.js';
import { hashOf, idempotencyKeyOf, replayAnswer, type RecordedAnswer } from '../../api/http/idempotency.js';
import { Refusal, refusalStatus } from '../../domain/refusal.js';
import type { Account } from './account.js';
import { refusalOf } from './refuse.js';

/**
 * Answers a creating call, once per Idempotency-Key (decision 6, "Idempotent retries"): a retry gets the first answer
 * again.
 * @throws Refusal idempotency_conflict when the key came with another body
 */
export function answerOnce(
  ctx: ApiContext,
  account: Account,
  endpoint: string,
  body: unknown,
  create: () => object,
): void {
  const key = idempotencyKeyOf(ctx);
  const name = `${endpoint} ${keyIdOf(ctx) ?? ''} ${key ?? ''}`;
  const bodyHash = hashOf(body).toString('hex');
  const kept = key === undefined ? undefined : account.kept.get(name);
  if (kept && kept.bodyHash !== bodyHash) throw refusalOf('idempotency_conflict');
  if (kept) {
    replayAnswer(ctx, kept.answer);
    return;
  }
  const keep = (answer: RecordedAnswer): void => {
    if (key !== undefined) account.kept.set(name, { bodyHash, answer });
  };
  try {
    const answer = create();
    keep({ body: answer });
    ctx.body = answer;
  } catch (error) {
    // An answer that says "later" is not kept: the client asks again.
    if (error instanceof Refusal && refusalStatus[error.code] < 429) keep({ refused: error });
    throw error;
  }
}
