import { ApplicationFailure } from '@temporalio/activity';
import { Refusal } from '../domain/refusal.js';

/**
 * Lets a refusal cross Temporal as what it is: an answer that is not retried, whose failure type is its code and
 * whose first detail holds its facts. Everything else is thrown as it came, and retried.
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
