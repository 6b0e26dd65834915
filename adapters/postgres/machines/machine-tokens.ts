import type { MachinePurpose } from '../../../domain/machines/calls.js';
import type { Database } from '../database.js';

/** What becomes of a report: kept, there already, or one too many in a minute; null where its token reports nothing. */
export type Reported = 'kept' | 'repeated' | 'too_many' | null;

/** What becomes of a report of use, and when its machine stops for being idle, as its renter was warned. */
export type UseReported = {
  readonly outcome: NonNullable<Reported> | 'unreadable';
  readonly stopsAtMs?: number | null;
} | null;

/** What becomes of a machine's wish to be kept alive, and until when it is; null where its token tells no use. */
export type KeptAlive = {
  readonly outcome: 'kept' | 'unguarded' | 'ending' | 'too_many' | 'unreadable';
  readonly untilMs?: number;
} | null;

export interface NewMachineToken {
  readonly hash: Buffer;
  readonly attemptId: number;
  readonly purpose: MachinePurpose;
  /** What a bundle's token opens; null for the others. */
  readonly sealed: Buffer | null;
  /** Whether a bundle stays sealed here once it is acknowledged: its machine may be started again. Absent: no. */
  readonly isKept?: boolean;
}

/** Puts a token of an attempt's machine on record. The same one again, by a purchase that is repeated, changes nothing. */
export async function insertMachineToken(
  db: Database,
  { hash, attemptId, purpose, sealed, isKept = false }: NewMachineToken,
): Promise<void> {
  const row = { token_sha256: hash, attempt_id: attemptId, purpose, sealed, kept: isKept };
  await db('machine_tokens').insert(row).onConflict('token_sha256').ignore();
}

/**
 * The five things that the listener of machines may ask its database, each by the hash of a token. Every limit is the
 * database's own.
 */
export interface MachineDesk {
  /** The sealed bundle; null for every token that opens nothing now. */
  bundle(hash: Buffer): Promise<Buffer | null>;
  /** Ends a bundle's token. @returns whether there was a bundle to acknowledge */
  acknowledge(hash: Buffer): Promise<boolean>;
  report(hash: Buffer, body: string): Promise<Reported>;
  use(hash: Buffer, body: string): Promise<UseReported>;
  keepAlive(hash: Buffer, minutes: number): Promise<KeptAlive>;
}

/** Asks as the role of the listener. */
export function createMachineDesk(db: Database): MachineDesk {
  async function call<T>(statement: string, bindings: readonly (Buffer | string | number)[]): Promise<T> {
    const { rows } = await db.raw<{ rows: { answer: T }[] }>(statement, [...bindings]);
    const row = rows[0];
    if (!row) throw new Error('a function of the database answered no row');
    return row.answer;
  }
  return {
    bundle: (hash) => call('select machine_bundle(?) as answer', [hash]),
    acknowledge: (hash) => call('select machine_acknowledge(?) as answer', [hash]),
    report: (hash, body) => call('select machine_report(?, ?) as answer', [hash, body]),
    use: (hash, body) => call('select machine_use(?, ?) as answer', [hash, body]),
    keepAlive: (hash, minutes) => call('select machine_keep_alive(?, ?) as answer', [hash, minutes]),
  };
}
