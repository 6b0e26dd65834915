import type { WorkflowClientInterceptor } from '@temporalio/client';
import { originNow } from '../tracing/origin.js';

/**
 * Lets the request travel with what it asks a workflow for: in the argument that the workflow hands to its activity as it
 * is, since an interceptor within workflows would change the histories of runs that go on.
 */
export const carryOrigin: WorkflowClientInterceptor = {
  startUpdateWithStart: (input, next) => {
    const { workflowStartOptions: options } = input;
    const [first, ...rest] = options.args;
    const args = [withOrigin(first), ...rest];
    return next({ ...input, workflowStartOptions: { ...options, args } });
  },
  startUpdate: (input, next) => {
    const [first, ...rest] = input.args;
    return next(input.args.length === 0 ? input : { ...input, args: [withOrigin(first), ...rest] });
  },
};

function withOrigin(arg: unknown): unknown {
  const origin = originNow();
  if (origin === undefined || typeof arg !== 'object' || arg === null) return arg;
  const { open } = arg as { open?: unknown };
  if (typeof open !== 'object' || open === null) return { ...arg, origin };
  return { ...arg, open: { ...open, origin } };
}
