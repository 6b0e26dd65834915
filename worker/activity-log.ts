import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import { findOrigin } from '../adapters/tracing/origin.js';
import { isId, type IdPrefix } from '../domain/ids.js';

/** The fields whose ids operators use to find a line. */
const fields = {
  rentalId: 'rent',
  userId: 'usr',
  topupId: 'top',
  invoiceId: 'inv',
} as const satisfies Record<string, IdPrefix>;

/** The schedules' activities of every few minutes. Their lines appear only on failure, or at a more detailed level. */
const scheduled = new Set(['backfill']);

/** The ids of running activities, for all lines that are logged meanwhile. */
const idsOfContext = new WeakMap<Context, Record<string, string>>();

/** The fields of a line that is written while an activity runs: the activity, its workflow, and its ids. */
export function activityFields(): object {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return {};
  const { workflowExecution, activityType, attempt } = context.info;
  return {
    workflowId: workflowExecution?.workflowId,
    activityType,
    attempt,
    ...idsOfContext.get(context),
  };
}

/**
 * Logs the outcome of each activity, under the ids of its subject, and gives the SDK's own lines the same ids. Inputs
 * and results are not logged.
 */
export function logActivities(log: Logger): (context: Context) => ActivityInterceptors {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        const { workflowExecution, workflowType, activityType, attempt } = context.info;
        const workflowId = workflowExecution?.workflowId;
        const requestId = findOrigin(input.args)?.requestId;
        const ids = { ...idsOf([workflowId, ...input.args]), ...(requestId !== undefined && { requestId }) };
        idsOfContext.set(context, ids);
        const startMs = performance.now();
        const result: unknown = await next(input);
        const elapsedMs = Math.round(performance.now() - startMs);
        const line = {
          workflowId,
          activityType,
          attempt,
          ...ids,
          ...idsOf([result]),
          elapsedMs,
        };
        log[scheduled.has(workflowType ?? '') ? 'debug' : 'info'](line, 'activity done');
        return result;
      },
    },
    outbound: {
      getLogAttributes: (input, next) => next({ ...input, ...idsOfContext.get(context) }),
    },
  });
}

/** The ids in an activity's input or result: texts that are one, or hold one after a colon, two levels deep. */
function idsOf(values: readonly unknown[], depth = 2): Record<string, string> {
  const found: Record<string, string> = {};
  for (const value of values) {
    const inside =
      typeof value === 'string'
        ? idOf(value)
        : isObject(value) && depth > 0
          ? idsOf(Object.values(value), depth - 1)
          : {};
    for (const [field, id] of Object.entries(inside)) found[field] ??= id;
  }
  return found;
}

function idOf(text: string): Record<string, string> {
  const id = text.slice(text.indexOf(':') + 1);
  const field = Object.entries(fields).find(([, prefix]) => isId(prefix, id))?.[0];
  return field === undefined ? {} : { [field]: id };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
