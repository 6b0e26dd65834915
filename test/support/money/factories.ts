import { randomInt } from 'node:crypto';
import { newId } from '../../../adapters/ids.js';
import type { Database, Transaction } from '../../../adapters/postgres/database.js';
import { insertApiKey, type NewApiKey } from '../../../adapters/postgres/accounts/api-keys.js';
import { insertSession } from '../../../adapters/postgres/accounts/sessions.js';
import type {
  ApiKeyRow,
  ListingRow,
  RentalRow,
  SavedCardRow,
  SshKeyRow,
  TopupRow,
  UserRow,
} from '../../../adapters/postgres/rows/tables.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import { recordAnswer } from '../../../money/rentals/answered-machines.js';
import { beginBilling } from '../../../money/rentals/lifecycle.js';

/** Rows as the product makes them; a test may override columns. */

/** A user with an empty wallet. */
export async function insertUser(db: Database, columns: Partial<UserRow> = {}): Promise<UserRow> {
  const id = newId('usr');
  const [user] = await db('users')
    .insert({ id, email: `${id.toLowerCase()}@example.com`, ...columns })
    .returning('*');
  await db('wallets').insert({ user_id: user!.id });
  return user!;
}

/** A live session of a user; the token is the value of the cookie `sid`. */
export async function insertSessionOf(db: Database, userId: UserId): Promise<string> {
  return (await db.transaction((trx) => insertSession(trx, userId, { by: 'email' }))).token;
}

/** A live API key of a user, with the key itself; default: it reads, from anywhere. */
export async function insertApiKeyOf(
  db: Database,
  userId: UserId,
  key: Partial<NewApiKey> = {},
): Promise<{ readonly row: ApiKeyRow; readonly token: string }> {
  const made = await db.transaction((trx) =>
    insertApiKey(trx, {
      ...{ id: newId('key'), userId, name: 'a test', scopes: ['read'], ends: 'all' },
      ...{ allowedCidrs: null, expiresAt: null, spendCapCents: null },
      ...key,
    }),
  );
  return made!;
}

/** A provider with a catalog read just now, or this long ago. */
export async function insertProvider(db: Database, code = 'lab', syncedMsAgo = 0): Promise<string> {
  await db.raw(
    `insert into providers (code, catalog_synced_at) values (:code, clock_ms() - :ago * interval '1 millisecond')
     on conflict (code) do update set catalog_synced_at = excluded.catalog_synced_at`,
    { code, ago: syncedMsAgo },
  );
  return code;
}

/** An offered listing; default: one RTX 4090 in Norway for $0.50 an hour. Its provider must exist. */
export async function insertListing(db: Database, columns: Partial<ListingRow> = {}): Promise<ListingRow> {
  const id = columns.id ?? newId('lst');
  const [listing] = await db('listings')
    .insert({
      id,
      provider_code: 'lab',
      offer_id: `offer-${id}`,
      model: 'RTX_4090',
      family: 'rtx-4090',
      vram_gb: 24,
      gpu_count: 1,
      price_per_hour_cents: 50,
      region: 'Oslo, Norway',
      region_code: 'NO',
      interconnect: 'pcie',
      ...columns,
    })
    .returning('*');
  return listing!;
}

/** A newly opened rental without a hold; the wallet does not change. */
export async function insertRental(
  db: Database | Transaction,
  userId: UserId,
  columns: Partial<RentalRow> = {},
): Promise<RentalRow> {
  const wallet = await db('wallets').where({ user_id: userId }).first();
  const id = columns.id ?? newId('rent');
  const [rental] = await db('rentals')
    .insert({
      id,
      wallet_id: wallet!.id,
      user_id: userId,
      status: 'provisioning',
      family: 'rtx-4090',
      model: 'RTX_4090',
      gpu_count: 1,
      region: 'Oslo, Norway',
      region_code: 'NO',
      interconnect: 'pcie',
      template_id: 'ubuntu-24-04',
      ssh_key_ids: [],
      listing_id: newId('lst'),
      provider_code: 'lab',
      tag: `test-${id}-1`,
      price_per_hour_cents: 50,
      hold_cents: 0,
      started_at: db.raw('clock_ms()') as unknown as Date,
      ...columns,
    })
    .returning('*');
  return rental!;
}

/** A top-up with an open payment page. */
export async function insertTopup(
  db: Database,
  userId: UserId,
  columns: Partial<TopupRow> = {},
): Promise<TopupRow> {
  const wallet = await db('wallets').where({ user_id: userId }).first();
  const id = columns.id ?? newId('top');
  const [topup] = await db('topups')
    .insert({
      id,
      user_id: userId,
      wallet_id: wallet!.id,
      amount_cents: 2_000,
      status: 'requires_payment',
      session_id: `cs_test_${id}`,
      checkout_url: `http://127.0.0.1/pay/${id}`,
      session_expires_at: new Date(Date.now() + 86_400_000),
      ...columns,
    })
    .returning('*');
  return topup!;
}

/** A saved card that can be charged. Its payment method and its fingerprint are named after its owner. */
export async function insertSavedCard(
  db: Database,
  userId: UserId,
  columns: Partial<SavedCardRow> = {},
): Promise<void> {
  await db('saved_cards').insert({
    ...{ pm_id: `pm_${userId}`, user_id: userId, brand: 'visa', last4: '4242', exp_month: 12 },
    ...{ exp_year: 2099, set_up_at: new Date(), fingerprint: `fp_${userId}` },
    ...columns,
  });
}

/** A key of a user. Nobody can sign in with it. */
export async function insertKey(db: Database, userId: UserId): Promise<SshKeyRow> {
  const [key] = await db('ssh_keys')
    .insert({
      id: newId('key'),
      user_id: userId,
      name: 'laptop',
      public_key: 'ssh-ed25519 AAAA',
      fingerprint: `SHA256:${randomInt(2 ** 40)}`,
    })
    .returning('*');
  return key!;
}

/** A rental that has run for this long by the database's clock, without a hold. */
export async function insertRunningRental(
  db: Database,
  userId: UserId,
  ranMs: number,
  columns: Partial<RentalRow> = {},
): Promise<RentalRow> {
  const { rows } = await db.raw<{ rows: { at: Date }[] }>(
    "select clock_ms() - ? * interval '1 millisecond' as at",
    [ranMs],
  );
  return insertRental(db, userId, {
    status: 'running',
    started_at: rows[0]!.at,
    running_at: rows[0]!.at,
    host: '127.0.0.1',
    port: 2222,
    username: 'ubuntu',
    host_key_fingerprint: 'SHA256:abc',
    ...columns,
  });
}

/** A settled rental that ran an hour at $1; 30 cents of its hold went back. */
export async function insertStoppedRental(
  db: Database,
  userId: UserId,
  columns: Partial<RentalRow> = {},
): Promise<RentalRow> {
  const HOUR = 3_600_000;
  const rental = await insertRunningRental(db, userId, 2 * HOUR, { price_per_hour_cents: 100 });
  const endedAt = new Date(rental.running_at!.getTime() + HOUR);
  const [row] = await db('rentals')
    .where({ no: rental.no })
    .update({
      status: 'stopped',
      ended_at: endedAt,
      settled_at: endedAt,
      charged_cents: 100,
      released_cents: 30,
      stop_reason: 'user',
      ...columns,
    })
    .returning('*');
  return row!;
}

/** Lets a rental's machine answer, and begins its billing. */
export async function runMachine(db: Database, rentalId: RentalId): Promise<void> {
  const address = { host: '127.0.0.1', port: 22, username: 'u', hostKeyFingerprint: null };
  const { tag } = (await db('rentals').where({ id: rentalId }).first('tag'))!;
  await recordAnswer(db, { rentalId, tag }, { address, readyBy: 'ssh' });
  await beginBilling(db, rentalId);
}
