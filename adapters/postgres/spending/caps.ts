import { endOfKey, refusalOfKey } from '../../../domain/accounts/api-key-refusals.js';
import type { ApiKeyId, RentalId, UserId } from '../../../domain/ids.js';
import { refusalOfUnlimitedRentals, type CapPot, type Holder } from '../../../domain/spending/pots.js';
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
  const end = endOfKey(keyFactsOf(key, key.expired));
  if (end) throw refusalOfKey(end);
  return key;
}

/** Reads the cap of a key, with what holds it; undefined for a key without a cap. */
export async function findCap(db: Database | Transaction, key: ApiKeyRow): Promise<CapPot | undefined> {
  if (key.spend_cap_cents === null) return undefined;
  return {
    kind: 'cap',
    apiKeyId: key.id,
    limitCents: key.spend_cap_cents,
    spentCents: key.spent_cents,
    reservedCents: key.reserved_cents,
    holders: await listHolders(db, key),
  };
}

/** Lists the rentals that hold a part of a key's cap, the largest part first. */
async function listHolders(
  db: Database | Transaction,
  { id, user_id: userId }: Pick<ApiKeyRow, 'id' | 'user_id'>,
): Promise<Holder[]> {
  return db('rentals')
    .where({ user_id: userId, api_key_id: id })
    .whereNull('settled_at')
    .whereNotNull('max_spend_cents')
    .orderBy('max_spend_cents', 'desc')
    .orderBy('no')
    .select({ rentalId: 'id', reservedCents: 'max_spend_cents' });
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
  await trx('api_keys').where({ id }).forNoKeyUpdate().first('id');
  // A statement of its own: the rentals that were opened or changed while this waited are in it.
  const unlimited = await trx('rentals')
    .where({ user_id: userId, api_key_id: id })
    .whereNull('settled_at')
    .whereNull('max_spend_cents')
    .orderBy('no')
    .select({ rentalId: 'id' });
  if (wantedCents !== null && unlimited.length > 0) {
    throw refusalOfUnlimitedRentals({ apiKeyId: id, capCents: wantedCents, unlimited });
  }
  const [set] = await trx('api_keys')
    .where({ id })
    .update({
      spend_cap_cents: trx.raw(
        'greatest(?::bigint, case when ?::bigint is not null then spent_cents + reserved_cents end)',
        [wantedCents, wantedCents],
      ),
    })
    .returning('spend_cap_cents');
  return set?.spend_cap_cents ?? null;
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
