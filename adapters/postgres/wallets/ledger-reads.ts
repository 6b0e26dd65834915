import type { LedgerEntryId, RentalId, UserId } from '../../../domain/ids.js';
import type { LedgerEntryType } from '../../../domain/ledger/ledger.js';
import type { Database } from '../database.js';
import { getLedgerIds, type LedgerIds } from './ledger-ids.js';

/** A ledger entry as it is shown; amounts in cents. */
export interface LedgerEntry {
  readonly id: LedgerEntryId;
  readonly walletId: number;
  readonly seq: number;
  readonly type: LedgerEntryType;
  readonly amountCents: number;
  readonly balanceAfterCents: number;
  readonly createdAt: Date;
  readonly rentalId: RentalId | null;
  readonly processorChargeId: string | null;
}

interface Row {
  wallet_id: number;
  balance_cents: number;
  seq: number | null;
  type: LedgerEntryType;
  amount_cents: number;
  balance_after_cents: number;
  created_at: Date;
  rental_id: RentalId | null;
  processor_charge_id: string | null;
}

/** The entries to read; an absent filter filters nothing. */
export interface LedgerFilter {
  readonly type?: LedgerEntryType | undefined;
  readonly rentalId?: RentalId | undefined;
  /** The last entry's number of the page before. */
  readonly beforeSeq?: number | undefined;
}

/**
 * Reads a user's ledger, newest first, with the wallet's total at the same moment: one statement sees one state, so the
 * newest entry's balance is the total. Each filter walks the primary key or the index of the rare types, never the
 * whole ledger: a rental's entries lie between two sequence numbers that its row keeps.
 */
export async function readLedger(
  db: Database,
  userId: UserId,
  filter: LedgerFilter,
  limit: number,
): Promise<{ balanceCents: number; entries: LedgerEntry[] }> {
  const ids = await getLedgerIds(db);
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select w.id as wallet_id, w.available_cents + w.reserved_cents as balance_cents,
            e.seq, e.type, e.amount_cents, e.balance_after_cents, e.created_at, e.processor_charge_id,
            r.id as rental_id
     from wallets w
     left join lateral (
       select * from ledger_entries
       where wallet_id = w.id ${typeCondition(filter.type)} ${filter.beforeSeq === undefined ? '' : 'and seq < :beforeSeq'}
         ${filter.rentalId === undefined ? '' : ofRental}
       order by seq desc limit :limit) e on true
     left join rentals r on r.no = e.rental_no
     where w.user_id = :userId
     order by e.seq desc`,
    {
      userId,
      limit,
      type: filter.type ?? null,
      beforeSeq: filter.beforeSeq ?? null,
      rentalId: filter.rentalId ?? null,
    },
  );
  const first = rows[0];
  if (!first) throw new Error(`no wallet of user ${userId}`);
  return { balanceCents: first.balance_cents, entries: rows.flatMap((row) => entriesOf(row, ids)) };
}

/** A rental's own entries, within the stretch of the wallet's ledger that its life spans. */
const ofRental = `and rental_no = (select no from rentals where id = :rentalId)
         and seq > (select opened_seq from rentals where id = :rentalId)
         and seq <= (select coalesce(settled_seq, w.seq) from rentals where id = :rentalId)`;

/**
 * Says outright that a rare type is no tick, so that Postgres uses the index without ticks (migrations/002-wallets).
 */
function typeCondition(type: LedgerEntryType | undefined): string {
  if (type === undefined) return '';
  return type === 'rental_charge' ? 'and type = :type' : "and type = :type and type <> 'rental_charge'";
}

/** A wallet without entries comes as one row without an entry. */
function entriesOf(row: Row, ids: LedgerIds): LedgerEntry[] {
  if (row.seq === null) return [];
  return [
    {
      id: ids.of(row.wallet_id, row.seq),
      walletId: row.wallet_id,
      seq: row.seq,
      type: row.type,
      amountCents: row.amount_cents,
      balanceAfterCents: row.balance_after_cents,
      createdAt: row.created_at,
      rentalId: row.rental_id,
      processorChargeId: row.processor_charge_id,
    },
  ];
}
