import { Context } from '@temporalio/activity';
import { operationLimits } from '../../domain/operations/limits.js';

/**
 * Returns what could not be done, once it was tried often enough: a person must look at it.
 * @throws Error before that: the others are done, and all are tried again
 */
export function undoneAtLast(told: readonly string[]): string[] {
  if (told.length > 0 && Context.current().info.attempt < operationLimits.quickTries) {
    throw new Error(`not all could be done, which is tried again: ${told.join(', ')}`);
  }
  return [...told];
}
