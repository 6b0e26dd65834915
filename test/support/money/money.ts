import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import type { RentalRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from './kept-plan.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import { createTestDatabase } from '../servers/database.js';
import { assertToldAgrees } from '../story/told-events.js';

export interface MoneyDatabase {
  readonly db: Database;
  readonly url: string;
  close(): Promise<void>;
}

/** Opens a database of the test's own, as the product does. */
export async function openMoneyDatabase(): Promise<MoneyDatabase> {
  const database = await createTestDatabase();
  const db = openDatabase(database.url, 10, 'test');
  return {
    db,
    url: database.url,
    close: async () => {
      await db.destroy();
      await database.drop();
    },
  };
}

/**
 * Opens a database for the tests of the calling describe block. After each test it checks every wallet: the ledger must
 * add up.
 * @param use receives the database once, before the first test
 */
export function onVerifiedDatabase(use: (opened: MoneyDatabase) => void | Promise<void>): void {
  let opened: MoneyDatabase;
  before(async () => {
    opened = await openMoneyDatabase();
    await use(opened);
  });
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(opened.db), [], 'everything adds up after each test');
    await assertToldAgrees(opened.db);
  });
  after(() => opened.close());
}

/** A user with this much in the wallet, credited as a payment. */
export async function insertWallet(db: Database, cents: number): Promise<WalletRow> {
  const userId = newId('usr');
  await db('users').insert({ id: userId, email: `${userId.toLowerCase()}@example.com` });
  await db('wallets').insert({ user_id: userId });
  if (cents > 0) await credit(db, userId, cents);
  return getWallet(db, userId);
}

export async function credit(db: Database, userId: UserId, cents: number): Promise<void> {
  await db.transaction(async (trx) => {
    const wallet = await lockWalletOfUser(trx, userId);
    await post(trx, wallet, {
      type: 'processor_topup',
      availableCents: cents,
      cause: { kind: 'payment', paymentId: newId('top') },
    });
  });
}

export async function getWallet(db: Database, userId: UserId): Promise<WalletRow> {
  const wallet = await db('wallets').where({ user_id: userId }).first();
  if (!wallet) throw new Error('no wallet');
  return wallet;
}

export interface NewRunning {
  /** Default: a new id. */
  readonly id?: RentalId;
  /** The id of its machine at the upstream; default: one that no upstream knows. */
  readonly podId?: string;
  readonly priceCents: number;
  /** How long it has been running, in milliseconds by the database's clock. */
  readonly ranMs: number;
  readonly holdCents?: number;
  readonly maxSpendCents?: number;
  readonly autoStopAfterMs?: number;
}

/** A running rental that was not metered yet. Its hold is taken from the wallet. */
export async function insertRunning(db: Database, wallet: WalletRow, rental: NewRunning): Promise<RentalId> {
  const id = rental.id ?? newId('rent');
  const holdCents = rental.holdCents ?? rental.priceCents;
  await db.transaction(async (trx) => {
    await trx('wallets')
      .where({ id: wallet.id })
      .update({
        available_cents: trx.raw('available_cents - ?', [holdCents]),
        reserved_cents: trx.raw('reserved_cents + ?', [holdCents]),
      });
    await trx.raw(
      `insert into rentals (id, wallet_id, user_id, status, family, model, gpu_count, region, region_code, interconnect,
         template_id, ssh_key_ids, listing_id, provider_code, tag, pod_id, price_per_hour_cents, max_spend_cents,
         auto_stop_after_ms, hold_cents, started_at, running_at, auto_stop_at, spend_limit_at)
       select :id, :walletId, :userId, 'running', 'rtx-4090', 'RTX_4090', 1, 'Oslo', 'NO', 'pcie', 'ubuntu-24-04', '{}',
         :listingId, 'lab', :tag, :podId, :price::int, :maxSpend::bigint, :autoStop::bigint, :hold::bigint, c.at, c.at,
         c.at + :autoStop::bigint * interval '1 millisecond',
         c.at + ceil(:maxSpend::numeric * 3600000 / :price::numeric) * interval '1 millisecond'
       from (select clock_ms() - :ranMs * interval '1 millisecond' as at) c`,
      {
        id,
        walletId: wallet.id,
        userId: wallet.user_id,
        listingId: newId('lst'),
        tag: `test-${id}-1`,
        podId: rental.podId ?? `pod-${id}`,
        price: rental.priceCents,
        maxSpend: rental.maxSpendCents ?? null,
        autoStop: rental.autoStopAfterMs ?? null,
        hold: holdCents,
        ranMs: rental.ranMs,
      },
    );
  });
  return id;
}

/** Asks for the end of a rental, as the API does. */
export async function askToStop(db: Database, id: RentalId): Promise<void> {
  await db.raw(
    `insert into stop_requests (rental_no, requested_by) select no, 'user' from rentals where id = ?`,
    [id],
  );
}

export async function getRental(db: Database, id: RentalId): Promise<RentalRow> {
  const rental = await db('rentals_now').where({ id }).first();
  if (!rental) throw new Error('no rental');
  return rental;
}

/** The milliseconds that a rental was billed for. */
export function billedMs(rental: RentalRow): number {
  if (!rental.running_at || !rental.ended_at) throw new Error('not ended');
  return rental.ended_at.getTime() - rental.running_at.getTime();
}
