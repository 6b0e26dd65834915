import { ApplicationFailure, Context } from '@temporalio/activity';
import { Refusal, refusalStatus } from '../domain/refusal.js';

/**
 * Turns a refusal into a failure that crosses Temporal as an answer. It is not retried, its type is the refusal's code
 * and its first detail holds the facts. Everything else is thrown as it came, and retried.
 */
export async function answeringRefusals<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw ApplicationFailure.create({
      type: error.code,
      message: error.message,
      nonRetryable: true,
      details: [error.details ?? null],
    });
  }
}

/**
 * Adds `outcome: not_done` to a 503 of an opening where that is certain (decision 4, "Promise of a 503"): the first try
 * decided it and committed nothing. A later try can't know whether an earlier one, which was given up, goes on,
 * unless it has seen so under the lock (`refuseWhenLate`).
 */
export async function tellingNothingDone<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || refusalStatus[error.code] < 500) throw error;
    if (Context.current().info.attempt > 1) throw error;
    throw new Refusal(error.code, error.message, { ...error.details, outcome: 'not_done' });
  }
}
