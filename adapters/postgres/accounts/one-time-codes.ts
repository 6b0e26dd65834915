import { randomInt, timingSafeEqual } from 'node:crypto';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { DAY } from '../../../domain/durations.js';
import { isOlderSql } from '../clock.js';
import type { Transaction } from '../database.js';

/** What all mailed codes share: those of sign-ins and those that show anew whose a session is. */

/** Makes six random digits. */
export function newCode(): string {
  return randomInt(1_000_000).toString().padStart(6, '0');
}

/** The instant at which a code that is made now lapses. */
export async function readExpiry(trx: Transaction): Promise<Date> {
  const { rows } = await trx.raw<{ rows: { expires_at: Date }[] }>(
    "select clock_ms() + ? * interval '1 millisecond' as expires_at",
    [accountLimits.codeValidMs],
  );
  const row = rows[0];
  if (!row) throw new Error('the database did not tell its time');
  return row.expires_at;
}

/** A limit: so many requests of a kind in so many milliseconds. */
export type Span = readonly [what: string, nth: number, ms: number];

/** Writes limits as rows of SQL, for `waitMs`. */
export function spansSql(spans: readonly Span[]): string {
  return spans
    .map(([what, nth, ms]) => `('${what}', cast(${nth} as bigint), cast(${ms} as bigint))`)
    .join(', ');
}

/**
 * Returns the milliseconds until each of the spans lets one more request in.
 * @param requests SQL of the requests of the last day, `:since` its beginning: what they count for, and their time
 * @param spans rows of SQL: what they limit, how many, and in how many milliseconds
 */
export async function waitMs(
  trx: Transaction,
  requests: string,
  spans: string,
  bindings: Readonly<Record<string, string | number | Buffer>>,
): Promise<number> {
  const { rows } = await trx.raw<{ rows: { wait_ms: number }[] }>(
    `with clock as materialized (select clock_ms() as now),
      nth as (select what, created_at, row_number() over (partition by what order by created_at desc) as nth
                from (${requests.replaceAll(':since', `(select now - interval '1 day' from clock)`)}) r
               where not ${isOlderSql('created_at', DAY)})
     select coalesce(ceil(extract(epoch from
              max(created_at + window_ms * interval '1 millisecond') - (select now from clock)) * 1000), 0)::bigint as wait_ms
       from nth join (values ${spans}) s (what, nth, window_ms) using (what, nth)`,
    bindings,
  );
  return Math.max(0, rows[0]?.wait_ms ?? 0);
}

/** A code's row that this transaction has locked. */
export interface LockedCode {
  readonly id: number;
  readonly code_hash: Buffer;
  /** It was not used, and has not lapsed. */
  readonly alive: boolean;
}

/**
 * Tries a code: it has five tries, and works once. This transaction writes the try, so the caller must commit it
 * whatever the verdict.
 * @param counter the column that counts this one's wrong tries, and how many there were
 * @param hash of what was typed
 */
export async function tryCode(
  trx: Transaction,
  table: 'login_codes' | 'proof_codes',
  row: LockedCode,
  {
    counter,
    tries,
    hash,
  }: { readonly counter: 'tries' | 'other_tries'; readonly tries: number; readonly hash: Buffer },
): Promise<boolean> {
  if (!row.alive || tries >= accountLimits.codeMaxTries) return false;
  if (!timingSafeEqual(row.code_hash, hash)) {
    await trx(table).where({ id: row.id }).increment(counter, 1);
    return false;
  }
  await trx.raw('update ?? set used_at = clock_ms() where id = ?', [table, row.id]);
  return true;
}
