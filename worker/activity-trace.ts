import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import { findOrigin } from '../adapters/tracing/origin.js';
import { spanned } from '../adapters/tracing/spans.js';

/**
 * Makes a span of each activity that a request has led to, in the request's own trace; the workflow between them is named
 * by its ids. Loops and what no request waits for have none: their statements never end.
 */
export function traceActivities({ info }: Context): ActivityInterceptors {
  return {
    inbound: {
      execute(input, next) {
        const parent = findOrigin(input.args)?.traceparent;
        if (parent === undefined) return next(input);
        const attributes = {
          'temporal.workflow.id': info.workflowExecution?.workflowId ?? '',
          'temporal.run.id': info.workflowExecution?.runId ?? '',
          'temporal.attempt': info.attempt,
        };
        return spanned(`activity ${info.activityType}`, { attributes, parent }, () => next(input));
      },
    },
  };
}
