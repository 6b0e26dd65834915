import { ApplicationFailure, CompleteAsyncError, type Context } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import { ProcessorError } from '../adapters/processor/processor.js';
import { ProviderError } from '../adapters/providers/provider.js';

/**
 * Keeps the words of errors out of workflows' histories (decision 89, "Words kept from Temporal"), because an upstream,
 * the processor, the mail server and the database quote their input. Only the error's name crosses; its words are in
 * the worker's log, under the workflow's id. Refusals and other failures that are made for workflows cross as they are.
 */
export function withoutWords(log: Logger): (context: Context) => ActivityInterceptors {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (isMadeForWorkflows(error)) throw error;
          const { workflowExecution, activityType, attempt } = context.info;
          const line = { workflowId: workflowExecution?.workflowId, activityType, attempt, err: error };
          log.warn(line, 'an activity failed; Temporal is told which error it was, and tries again');
          throw ApplicationFailure.create({
            type: error instanceof Error ? error.name : typeof error,
            message: `${nameOf(error)} (its words are in the worker's log, under this workflow's id)`,
          });
        }
      },
    },
  });
}

function isMadeForWorkflows(error: unknown): boolean {
  return error instanceof TemporalFailure || error instanceof CompleteAsyncError;
}

/** Names an error by its class and codes. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof ProviderError) return `${error.name}: ${error.briefly}`;
  if (error instanceof ProcessorError) {
    return [error.name, error.kind, error.details.code, error.details.status].filter(Boolean).join(' ');
  }
  return [error.name, textOf(error, 'code'), textOf(error, 'constraint')].filter(Boolean).join(' ');
}

function textOf(error: Error, field: string): string | undefined {
  const value = (error as unknown as Record<string, unknown>)[field];
  return typeof value === 'string' ? value : undefined;
}
