import type { RefusedStatement } from '../kernel/session.js';
import type { Machine } from '../world/upstream.js';
import type { World } from '../world/world.js';
import type { Told } from '../users/told.js';

/** What a run is judged by: what truly happened outside, what users were told, and the database. */
export interface Evidence {
  readonly ask: <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  readonly told: Told;
  readonly world: World;
  /** Every statement that was answered with an error. */
  readonly refused: readonly RefusedStatement[];
  /** Of all upstreams. */
  readonly machines: readonly Machine[];
  readonly nowMs: number;
  /** When the last fault ended, in milliseconds since 1970. */
  readonly calmSinceMs: number;
  /** When the service stood still, in milliseconds since 1970: whatever was due then it does afterwards. */
  readonly stoodStill?: { readonly fromMs: number; readonly toMs: number };
}

export const HOUR_MS = 3_600_000;

/** Judges one part of a run. @returns each violation in words; none: it is as it must be */
export type Judge = (evidence: Evidence) => Promise<string[]>;

/** The rental for which a machine was bought, by whichever try: its id, as the tag says it. */
export function rentalOf({ tag }: Machine): string {
  return tag.replace(/^[a-z]+-|-\d+$/g, '');
}

/** Returns the words when it is so. */
export function told(isSo: boolean, what: string): string[] {
  return isSo ? [what] : [];
}
