import type { RentalId, UserId } from '../../domain/ids.js';
import type { Transaction } from '../../adapters/postgres/database.js';

/** A wallet whose row this transaction has locked: nobody else can move its money until the transaction ends. */
export interface LockedWallet {
  readonly id: number;
  readonly userId: UserId;
  readonly availableCents: number;
  readonly reservedCents: number;
  readonly seq: number;
}

interface Row {
  id: number;
  user_id: UserId;
  available_cents: number;
  reserved_cents: number;
  seq: number;
}

/**
 * Locks a user's wallet. `for no key update` lets foreign keys to the wallet be checked meanwhile (decision 21, "Lost
 * upstream answers").
 * @throws when the user has none: every user row is made together with its wallet
 */
export async function lockWalletOfUser(trx: Transaction, userId: UserId): Promise<LockedWallet> {
  return locked(
    await trx.raw<{ rows: Row[] }>('select * from wallets where user_id = ? for no key update', [userId]),
    `user ${userId}`,
  );
}

/** Locks the wallet that pays for a rental: wallet first, then rental, everywhere (design: rule 5). */
export async function lockWalletOfRental(trx: Transaction, rentalId: RentalId): Promise<LockedWallet> {
  return locked(
    await trx.raw<{ rows: Row[] }>(
      'select w.* from wallets w where w.id = (select wallet_id from rentals where id = ?) for no key update',
      [rentalId],
    ),
    `rental ${rentalId}`,
  );
}

/** Reads a wallet that this transaction has locked again, after something was posted. */
export async function reread(trx: Transaction, wallet: LockedWallet): Promise<LockedWallet> {
  return locked(
    await trx.raw<{ rows: Row[] }>('select * from wallets where id = ?', [wallet.id]),
    `id ${wallet.id}`,
  );
}

/**
 * Moves money between available and reserved. The total stays, so the ledger has no entry for it. The CHECKs refuse to
 * reserve money that is not there.
 * @param cents positive: from available to reserved; negative: back
 */
export async function moveHold(trx: Transaction, wallet: LockedWallet, cents: number): Promise<void> {
  if (cents === 0) return;
  await trx.raw(
    `update wallets set available_cents = available_cents - :cents, reserved_cents = reserved_cents + :cents
     where id = :id`,
    { cents, id: wallet.id },
  );
}

function locked(result: { rows: Row[] }, whose: string): LockedWallet {
  const row = result.rows[0];
  if (!row) throw new Error(`no wallet of ${whose}`);
  return {
    id: row.id,
    userId: row.user_id,
    availableCents: row.available_cents,
    reservedCents: row.reserved_cents,
    seq: row.seq,
  };
}
