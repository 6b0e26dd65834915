import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { limits } from '../../domain/limits.js';
import type { Transaction } from './database.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Separate lock spaces for addresses and clients: taken in this order by everybody, so nobody waits in a circle. */
const LOCK_EMAIL = 7_101;
const LOCK_CLIENT = 7_102;

export type CodeRequest =
  | { readonly outcome: 'made'; readonly id: number; readonly code: string }
  | { readonly outcome: 'limited'; readonly retryAfterMs: number };

/**
 * Makes a one-time code unless this address or this client asked too often (decision 8). The locks are held until
 * the transaction ends, so that requests at the same moment are counted one after the other.
 * @param email in lower case
 * @param clientPerHour requests that one client address may make in an hour, for whatever e-mail addresses
 */
export async function requestLoginCode(
  trx: Transaction,
  email: string,
  clientAddress: string,
  clientPerHour: number,
): Promise<CodeRequest> {
  await trx.raw('select pg_advisory_xact_lock(?, hashtext(?))', [LOCK_EMAIL, email]);
  await trx.raw('select pg_advisory_xact_lock(?, hashtext(?))', [LOCK_CLIENT, clientAddress]);
  const retryAfterMs = await waitMs(trx, email, clientAddress, clientPerHour);
  if (retryAfterMs > 0) return { outcome: 'limited', retryAfterMs };
  const code = randomInt(1_000_000).toString().padStart(6, '0');
  const expiresAt = await expiry(trx);
  const [row] = await trx('login_codes')
    .insert({
      email,
      code_hash: hashOf(email, expiresAt, code),
      client_address: clientAddress,
      expires_at: expiresAt,
    })
    .returning('id');
  if (!row) throw new Error('the code was not kept');
  return { outcome: 'made', id: row.id, code };
}

export type CodeVerdict = 'right' | 'wrong' | 'expired';

/**
 * Tries a code against the newest one that this address was sent: single use, dead after five wrong tries
 * (decision 8). The try is written by this transaction, so the caller must commit it whatever the verdict.
 * @param email in lower case
 */
export async function tryLoginCode(trx: Transaction, email: string, code: string): Promise<CodeVerdict> {
  const { rows } = await trx.raw<{ rows: CodeRow[] }>(
    `select id, code_hash, tries, expires_at, used_at, expires_at <= clock_ms() as expired
     from login_codes where email = :email order by created_at desc, id desc limit 1 for update`,
    { email },
  );
  const row = rows[0];
  if (!row) return 'wrong';
  if (row.used_at !== null || row.tries >= limits.codeMaxTries) return 'wrong';
  if (row.expired) return 'expired';
  if (!timingSafeEqual(row.code_hash, hashOf(email, row.expires_at, code))) {
    await trx('login_codes').where({ id: row.id }).increment('tries', 1);
    return 'wrong';
  }
  await trx.raw('update login_codes set used_at = clock_ms() where id = ?', [row.id]);
  return 'right';
}

interface CodeRow {
  id: number;
  code_hash: Buffer;
  tries: number;
  expires_at: Date;
  used_at: Date | null;
  expired: boolean;
}

/** Each limit is "at most n in a window": the n-th newest request tells when the next one may come. */
async function waitMs(
  trx: Transaction,
  email: string,
  clientAddress: string,
  clientPerHour: number,
): Promise<number> {
  const { rows } = await trx.raw<{ rows: { wait_ms: number }[] }>(
    `with clock as (select clock_ms() as now),
      sent as (
        select created_at, row_number() over (order by created_at desc) as nth from login_codes
        where email = :email and created_at > (select now from clock) - :dayMs * interval '1 millisecond'),
      of_client as (
        select created_at, row_number() over (order by created_at desc) as nth from login_codes
        where client_address = :clientAddress
          and created_at > (select now from clock) - :hourMs * interval '1 millisecond'),
      waits as (
        select created_at + w.window_ms * interval '1 millisecond' as again_at
          from sent join (values (1, cast(:everyMs as bigint)), (:perHour, :hourMs), (:perDay, :dayMs)) w (nth, window_ms)
            using (nth)
        union all
        select created_at + :hourMs * interval '1 millisecond' from of_client where nth = :clientPerHour)
     select coalesce(ceil(extract(epoch from max(again_at) - (select now from clock)) * 1000), 0)::bigint as wait_ms
     from waits`,
    {
      email,
      clientAddress,
      clientPerHour,
      everyMs: limits.codeRequestEveryMs,
      perHour: limits.codeRequestsPerHour,
      perDay: limits.codeRequestsPerDay,
      hourMs: HOUR_MS,
      dayMs: DAY_MS,
    },
  );
  return rows[0]?.wait_ms ?? 0;
}

async function expiry(trx: Transaction): Promise<Date> {
  const { rows } = await trx.raw<{ rows: { expires_at: Date }[] }>(
    "select clock_ms() + ? * interval '1 millisecond' as expires_at",
    [limits.codeValidMs],
  );
  const row = rows[0];
  if (!row) throw new Error('the database did not tell its time');
  return row.expires_at;
}

/** The address and the instant make each row's hash its own: equal codes don't show as equal hashes. */
function hashOf(email: string, expiresAt: Date, code: string): Buffer {
  return createHash('sha256').update(`login-code:${email}:${expiresAt.getTime()}:${code}`).digest();
}
