import { isDatabaseAway } from './postgres/availability.js';
import { MINUTE } from '../domain/durations.js';

/** How long lines of one kind are counted instead of written, in milliseconds. */
const COUNTED_FOR_MS = MINUTE;
/** The most kinds that are remembered. */
const KINDS_MAX = 500;

/** As gRPC numbers them: DEADLINE_EXCEEDED, UNAVAILABLE. */
const awayCodes = new Set<unknown>([4, 14]);

/** Tells whether an error says that a whole peer (PostgreSQL, Temporal) is away. */
export function isOutage(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if (isDatabaseAway(at) || ('code' in at && awayCodes.has(at.code))) return true;
  }
  return false;
}

/**
 * Counts the lines of an outage. While a peer is away, each request and each activity says the same: the first line of
 * a kind is written, and then one a minute with how many were left out.
 * @param now a clock that never jumps, in milliseconds
 */
export function countOutageLines(now = () => performance.now()) {
  const kinds = new Map<string, { writtenMs: number; leftOut: number }>();
  /**
   * @param kind the line's words, without what differs from line to line
   * @returns undefined: leave it out. Else how many were left out since the last one
   */
  return (kind: string): number | undefined => {
    const known = kinds.get(kind);
    if (known && now() - known.writtenMs < COUNTED_FOR_MS) {
      known.leftOut += 1;
      return undefined;
    }
    // The oldest are forgotten first: a Map keeps the order of insertion.
    kinds.delete(kind);
    if (kinds.size >= KINDS_MAX) kinds.delete(kinds.keys().next().value ?? '');
    kinds.set(kind, { writtenMs: now(), leftOut: 0 });
    return known?.leftOut ?? 0;
  };
}
