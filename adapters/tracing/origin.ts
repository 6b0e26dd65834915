import { AsyncLocalStorage } from 'node:async_hooks';
import { currentSpan } from './spans.js';

/** The request that a piece of work began with, as it travels to a workflow and on to its activities. */
export interface Origin {
  readonly requestId: string;
  /** W3C Trace Context; absent where nothing is traced. */
  readonly traceparent?: string;
}

const requests = new AsyncLocalStorage<string>();

/** Runs what a request asks for, so that `originNow` tells it. */
export function withinRequest<T>(requestId: string, work: () => T): T {
  return requests.run(requestId, work);
}

/** The request that is being answered; undefined outside of one. */
export function originNow(): Origin | undefined {
  const requestId = requests.getStore();
  if (requestId === undefined) return undefined;
  const span = currentSpan();
  return { requestId, ...(span && { traceparent: span.traceparent }) };
}

const saneId = /^[A-Za-z0-9._-]{1,64}$/;
const saneParent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Reads an origin from an activity's arguments, two levels deep. Anybody may have written it: what is not sane is left out. */
export function findOrigin(args: readonly unknown[], depth = 2): Origin | undefined {
  for (const arg of args) {
    if (typeof arg !== 'object' || arg === null) continue;
    const found = 'origin' in arg ? saneOf(arg.origin) : undefined;
    const inside = found ?? (depth > 1 ? findOrigin(Object.values(arg), depth - 1) : undefined);
    if (inside) return inside;
  }
  return undefined;
}

function saneOf(origin: unknown): Origin | undefined {
  const { requestId, traceparent } = (origin ?? {}) as Record<string, unknown>;
  if (typeof requestId !== 'string' || !saneId.test(requestId)) return undefined;
  const isSane = typeof traceparent === 'string' && saneParent.test(traceparent);
  return { requestId, ...(isSane && { traceparent }) };
}
