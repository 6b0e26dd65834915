import { createHash, randomInt } from 'node:crypto';
import { lapseOf, type KeyLapse, type KeyFacts } from '../../../domain/accounts/api-key-refusals.js';
import {
  looksLikeApiKey,
  writeApiKey,
  type ApiKeyEnds,
  type ApiKeyScope,
} from '../../../domain/accounts/api-keys.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { ApiKeyId, UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent } from '../events/outbox.js';
import { lockBy } from '../locks.js';
import { readPreparedWith, type Prepared, type ReadAhead } from '../prepared.js';
import type { ApiKeyRow } from '../rows/tables.js';

/** A live key that is used from where it may be, with its user. */
export interface LiveApiKey {
  readonly keyId: ApiKeyId;
  readonly userId: UserId;
  readonly email: string;
  readonly userCreatedAt: Date;
  readonly scopes: readonly ApiKeyScope[];
  /** It sees and changes only what it rented itself. */
  readonly isCapped: boolean;
  /** Which machines it may end. */
  readonly ends: ApiKeyEnds;
  readonly expiresAt: Date;
}

/** What a text that was sent as a key is. */
export type FoundApiKey =
  | { readonly is: 'live'; readonly key: LiveApiKey }
  | { readonly is: 'unknown' | 'elsewhere' }
  | KeyLapse;

/** The facts of a key's row that decide whether it holds. @param isExpired by the clock of whoever keeps the row */
export function keyFactsOf(
  row: Pick<ApiKeyRow, 'revoked_at' | 'expires_at' | 'suspended_at'>,
  isExpired: boolean,
): KeyFacts {
  const { revoked_at: revokedAt, expires_at: expiresAt, suspended_at: suspendedAt } = row;
  return { revokedAt, expiresAt, isExpired, suspendedAt };
}

interface Row extends Pick<
  ApiKeyRow,
  'id' | 'user_id' | 'scopes' | 'ends' | 'spend_cap_cents' | 'expires_at' | 'revoked_at' | 'suspended_at'
> {
  email: string;
  user_created_at: Date;
  expired: boolean;
  is_allowed: boolean;
  stale: boolean;
}

const keyOfToken: Prepared<readonly [tokenHash: Buffer, address: string | null, touchMs: number]> = {
  name: 'key_of_token',
  sql: `select k.id, k.user_id, k.scopes, k.ends, k.spend_cap_cents, k.expires_at, k.revoked_at, k.suspended_at,
               u.email, u.created_at as user_created_at, k.expires_at <= clock_ms() as expired,
               k.allowed_cidrs is null or coalesce($2::inet <<= any (k.allowed_cidrs::inet[]), false) as is_allowed,
               coalesce(k.last_used_at < clock_ms() - $3::bigint * interval '1 millisecond', true) as stale
          from api_keys k join users u on u.id = k.user_id
         where k.token_hash = $1`,
};

/**
 * Looks a key up, in one statement, as sessions are; none for a text that can't be a key. Its last use is written at
 * most once a minute (decision 108, "API keys").
 * @param address the client's, as plainAddress writes it; undefined when a proxy sent a text that is no address
 * @param ahead is sent along, and answered after it
 */
export async function findApiKey(
  db: Database,
  token: string,
  address: string | undefined,
  ahead?: ReadAhead,
): Promise<FoundApiKey> {
  if (!looksLikeApiKey(token)) return { is: 'unknown' };
  const values = [hashOf(token), address ?? null, accountLimits.apiKeyTouchMs] as const;
  const [row] = await readPreparedWith<Row, typeof values>(db, keyOfToken, values, ahead);
  const found = foundIn(row);
  if (row && found.is === 'live' && row.stale) await touch(db, row.id, address);
  return found;
}

function foundIn(row: Row | undefined): FoundApiKey {
  if (!row) return { is: 'unknown' };
  const lapse = lapseOf(keyFactsOf(row, row.expired));
  if (lapse) return lapse;
  if (!row.is_allowed) return { is: 'elsewhere' };
  const key: LiveApiKey = {
    keyId: row.id,
    userId: row.user_id,
    email: row.email,
    userCreatedAt: row.user_created_at,
    scopes: row.scopes,
    isCapped: row.spend_cap_cents !== null,
    ends: row.ends,
    expiresAt: row.expires_at,
  };
  return { is: 'live', key };
}

/** Writes a use down, unless another request does, or somebody holds the row: nobody's request waits for it. */
async function touch(db: Database, id: ApiKeyId, address: string | undefined): Promise<void> {
  await db.raw(
    `update api_keys set last_used_at = clock_ms(), last_used_address = :address
      where id in (
        select id from api_keys
         where id = :id and coalesce(last_used_at < clock_ms() - :touchMs * interval '1 millisecond', true)
           for no key update skip locked)`,
    { id, address: address ?? null, touchMs: accountLimits.apiKeyTouchMs },
  );
}

/** A key that its user asks for. */
export interface NewApiKey {
  readonly id: ApiKeyId;
  readonly userId: UserId;
  readonly name: string;
  readonly scopes: readonly ApiKeyScope[];
  readonly ends: ApiKeyEnds;
  /** null: anywhere. */
  readonly allowedCidrs: readonly string[] | null;
  /** null: as long as a key holds by default. */
  readonly expiresAt: Date | null;
  /** null: no cap. */
  readonly spendCapCents: number | null;
}

/**
 * Makes a key of 178 random bits, and tells it. Only its hash is kept, so whoever reads the table can't use it.
 * @returns its row and the key itself, which is told once; undefined when the user has the most that a user may have
 */
export async function insertApiKey(
  trx: Transaction,
  { id, userId, name, scopes, ends, allowedCidrs, expiresAt, spendCapCents }: NewApiKey,
): Promise<{ readonly row: ApiKeyRow; readonly token: string } | undefined> {
  await lockBy(trx, 'apiKeysOfUser', userId);
  const token = writeApiKey(() => randomInt(62));
  const { rows } = await trx.raw<{ rows: ApiKeyRow[] }>(
    `insert into api_keys (id, user_id, name, token_hash, hint, scopes, ends, allowed_cidrs, expires_at, spend_cap_cents)
     select :id, :userId, :name, :hash, :hint, :scopes, :ends, :allowedCidrs::cidr[],
            coalesce(:expiresAt::timestamptz, clock_ms() + :keyMs * interval '1 millisecond'), :spendCapCents
      where (select count(*) from api_keys where user_id = :userId and ended_at > clock_ms()) < :maxKeys
     returning *`,
    {
      ...{ id, userId, name, ends, expiresAt, spendCapCents, hash: hashOf(token), hint: token.slice(-4) },
      ...{ scopes: [...scopes], allowedCidrs: allowedCidrs && [...allowedCidrs] },
      ...{ keyMs: accountLimits.apiKeyMs, maxKeys: accountLimits.maxApiKeys },
    },
  );
  const [row] = rows;
  if (!row) return undefined;
  await recordEvent(trx, { type: 'api_key.created', userId, entityId: id, data: {} });
  return { row, token };
}

/**
 * Lets all keys rest until their owners sign in: their database was restored, and may have forgotten that some were
 * revoked (decision 67, "Restored databases").
 */
export async function suspendApiKeys(trx: Transaction): Promise<void> {
  await trx('api_keys')
    .whereNull('revoked_at')
    .whereNull('suspended_at')
    .where('expires_at', '>', trx.raw('clock_ms()'))
    .update({ suspended_at: trx.raw('clock_ms()') });
}

/** Lets a user's keys work again: somebody has just shown that they are this user. */
export async function wakeApiKeys(trx: Transaction, userId: UserId): Promise<void> {
  await trx('api_keys')
    .where({ user_id: userId })
    .whereNotNull('suspended_at')
    .update({ suspended_at: null });
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(`api-key:${token}`).digest();
}
