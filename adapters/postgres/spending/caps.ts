import { lapseOf, refusalOfKey } from '../../../domain/accounts/api-key-refusals.js';
import type { ApiKeyId, RentalId, UserId } from '../../../domain/ids.js';
import { capOfWish, type CapPot } from '../../../domain/spending/pots.js';
import { Refusal } from '../../../domain/refusal.js';
import { keyFactsOf } from '../accounts/api-keys.js';
import type { Database, Transaction } from '../database.js';
import type { ApiKeyRow } from '../rows/tables.js';

/** How a key is read: as it stands, or locked until the transaction ends, so that it stays alive and keeps its cap. */
export type Lock = 'unlocked' | 'locked';

/**
 * Reads the key that asks for a rental, and sees it alive.
 * @param lock locks its row: whoever revokes it waits until this transaction ends, and whoever comes later finds it
 *   revoked. Only its wallet and a rental may be locked before (design: rule 5)
 * @throws Refusal key_revoked, key_expired, key_suspended, key_unknown
 */
export async function getLiveKey(
  db: Database | Transaction,
  userId: UserId,
  id: ApiKeyId,
  lock: Lock,
): Promise<ApiKeyRow> {
  const { rows } = await db.raw<{ rows: (ApiKeyRow & { expired: boolean })[] }>(
    `select *, expires_at <= clock_ms() as expired from api_keys where id = :id and user_id = :userId
     ${lock === 'locked' ? 'for no key update' : ''}`,
    { id, userId },
  );
  const [key] = rows;
  if (!key) throw new Refusal('key_unknown', 'There is no such API key any more.');
  const lapse = lapseOf(keyFactsOf(key, key.expired));
  if (lapse) throw refusalOfKey(lapse);
  return key;
}

/** Reads the cap of a key, with what holds it; undefined for a key without a cap. */
export async function findCap(db: Database | Transaction, key: ApiKeyRow): Promise<CapPot | undefined> {
  if (key.spend_cap_cents === null) return undefined;
  const uses = await listUses(db, key.user_id, [key.id]);
  const { spent_cents: spentCents, reserved_cents: reservedCents } = countedWith(key, uses);
  const holders = uses.map(({ rentalId, leftCents }) => ({ rentalId, reservedCents: leftCents }));
  return {
    ...{ kind: 'cap', apiKeyId: key.id, limitCents: key.spend_cap_cents, spentCents, reservedCents },
    holders: holders.filter((holder) => holder.reservedCents > 0),
  };
}

/**
 * Counts what the rentals of these keys have cost by now, in one read: a key's row counts the settled ones alone, and
 * reserves the whole limit of each open one.
 * @param keys of one user
 * @returns the same rows, with what open rentals were charged as spent, and no longer as reserved
 */
export async function countKeys(
  db: Database | Transaction,
  userId: UserId,
  keys: readonly ApiKeyRow[],
): Promise<ApiKeyRow[]> {
  const uses = await listUses(
    db,
    userId,
    keys.map(({ id }) => id),
  );
  return keys.map((key) => countedWith(key, uses));
}

function countedWith(key: ApiKeyRow, uses: readonly Use[]): ApiKeyRow {
  const own = uses.filter(({ apiKeyId }) => apiKeyId === key.id);
  const sum = (of: 'usedCents' | 'heldCents') => own.reduce((cents, use) => cents + use[of], 0);
  return {
    ...key,
    spent_cents: key.spent_cents + sum('usedCents'),
    reserved_cents: key.reserved_cents - sum('heldCents'),
  };
}

/** What an open rental of a key has cost by now, in cents. */
interface Use {
  readonly apiKeyId: ApiKeyId;
  readonly rentalId: RentalId;
  readonly usedCents: number;
  /** What of it the key's row still reserves: nothing without a limit. */
  readonly heldCents: number;
  /** What it may still cost within its limit. */
  readonly leftCents: number;
}

/** Lists the open rentals of a user's keys, first which may still cost most. */
async function listUses(
  db: Database | Transaction,
  userId: UserId,
  keyIds: readonly ApiKeyId[],
): Promise<Use[]> {
  const { rows } = await db.raw<{ rows: Use[] }>(
    `select r.api_key_id as "apiKeyId", r.id as "rentalId", used.cents as "usedCents", held.cents as "heldCents",
            coalesce(r.max_spend_cents, 0) - held.cents as "leftCents"
       from rentals r
       left join meters t on t.rental_no = r.no
      cross join lateral (select coalesce(t.charged_cents, r.charged_cents) as cents) used
      cross join lateral (select least(used.cents, coalesce(r.max_spend_cents, 0)) as cents) held
      where r.user_id = :userId and r.api_key_id = any (:keyIds::text[]) and r.settled_at is null
      order by "leftCents" desc, r.no`,
    { userId, keyIds: [...keyIds] },
  );
  return rows;
}

/**
 * Sets the cap of a key, under its row's lock. A cap below what is spent and reserved becomes that sum; null takes it
 * away.
 * @returns the cap that the key has now
 * @throws Refusal cap_reserved for the first cap of a key with a rental that has no limit of its own: nothing bounds
 *   what that one costs
 */
export async function setCap(
  trx: Transaction,
  { id, user_id: userId }: Pick<ApiKeyRow, 'id' | 'user_id'>,
  wantedCents: number | null,
): Promise<number | null> {
  const key = await trx('api_keys').where({ id }).forNoKeyUpdate().first('spent_cents', 'reserved_cents');
  if (!key) throw new Error(`${id} vanished`);
  // A statement of its own: the rentals that were opened or changed while this waited are in it.
  const unlimited = await trx('rentals')
    .where({ user_id: userId, api_key_id: id })
    .whereNull('settled_at')
    .whereNull('max_spend_cents')
    .orderBy('no')
    .select({ rentalId: 'id' });
  const { spent_cents: spentCents, reserved_cents: reservedCents } = key;
  const capCents = capOfWish(wantedCents, { apiKeyId: id, spentCents, reservedCents, unlimited });
  await trx('api_keys').where({ id }).update({ spend_cap_cents: capCents });
  return capCents;
}

/**
 * Asks for the end of all machines of a key, in the transaction that has revoked it before: an opening that saw it
 * alive has committed its rental by then, and none comes later.
 * @returns the rentals whose end nobody had asked for before
 */
export async function stopMachinesOf(
  trx: Transaction,
  { id, user_id: userId }: Pick<ApiKeyRow, 'id' | 'user_id'>,
): Promise<RentalId[]> {
  const { rows } = await trx.raw<{ rows: { id: RentalId }[] }>(
    `with asked as (
       insert into stop_requests (rental_no, requested_by, reason)
       select no, 'user', 'its API key was revoked' from rentals
        where user_id = :userId and api_key_id = :id and settled_at is null
       on conflict (rental_no) do nothing
       returning rental_no
     )
     select r.id from asked a join rentals r on r.no = a.rental_no order by r.no`,
    { id, userId },
  );
  return rows.map((row) => row.id);
}
