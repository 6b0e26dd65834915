import type { RentalId, UserId } from '../../../domain/ids.js';
import type { LedgerEntryType } from '../../../domain/ledger/ledger.js';
import type { Database, Transaction } from '../database.js';
import { getLedgerIds } from './ledger-ids.js';
import { readEntry, type LedgerEntry } from './ledger-reads.js';

/** Entries of a wallet from one sequence number up to, and without, another. */
export interface Stretch {
  readonly walletId: number;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The sum of one type, or of one rental under one type; amounts in cents, signed. */
export interface StatementSum {
  readonly type: LedgerEntryType;
  readonly rentalId: RentalId | null;
  /** The value of the rental's label by which the statement is grouped; null for none. */
  readonly label: string | null;
  readonly entries: number;
  readonly amountCents: number;
}

export interface Statement {
  readonly openingBalanceCents: number;
  readonly closingBalanceCents: number;
  readonly sums: readonly StatementSum[];
}

/**
 * Reads a user's balances at two instants and the sums between them, all from one moment. It follows the chain: opening
 * and closing balances are those of the entries before each instant, whatever clock wrote them.
 * @param labelKey the key of the label by which it is grouped
 */
export async function readStatement(
  db: Database,
  userId: UserId,
  { from, to, labelKey }: { readonly from: Date; readonly to: Date; readonly labelKey?: string | undefined },
): Promise<Statement> {
  return db.transaction(
    async (trx) => {
      const stretch = await findStretch(trx, userId, from, to);
      const { rows } = await trx.raw<{ rows: StatementSum[] }>(
        `select e.type, r.id as "rentalId", l.value as label, sum(e.entries)::bigint as entries,
                sum(e.amount_cents)::bigint as "amountCents"
           from ledger_sums(:walletId, :fromSeq, :toSeq::bigint - 1) e
           left join rentals r on r.no = e.rental_no
           left join rental_labels l on l.rental_no = r.no and l.key = :labelKey::text
          group by e.type, r.id, l.value order by e.type, r.id`,
        { ...stretch, labelKey: labelKey ?? null },
      );
      return {
        openingBalanceCents: await balanceBefore(trx, stretch.walletId, stretch.fromSeq),
        closingBalanceCents: await balanceBefore(trx, stretch.walletId, stretch.toSeq),
        sums: rows,
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/**
 * Finds the entries from one instant up to, and without, another. A wallet's entries are written one after the other
 * under its lock, so numbers and instants rise together: two dozen look-ups of the primary key find each end in ten
 * million entries.
 * @param from the ledger's beginning when it is left out
 * @param to now when it is left out
 */
export async function findStretch(
  db: Database | Transaction,
  userId: UserId,
  from?: Date,
  to?: Date,
): Promise<Stretch> {
  const wallet = await db('wallets').where({ user_id: userId }).first('id', 'seq');
  if (!wallet) throw new Error(`no wallet of user ${userId}`);
  const { id: walletId, seq } = wallet;
  return {
    walletId,
    fromSeq: from === undefined ? 1 : await firstSeqAt(db, walletId, seq, from),
    toSeq: to === undefined ? seq + 1 : await firstSeqAt(db, walletId, seq, to),
  };
}

/** Finds the number of the first entry at or after an instant, or the number after the newest entry. */
async function firstSeqAt(
  db: Database | Transaction,
  walletId: number,
  newestSeq: number,
  at: Date,
): Promise<number> {
  const { rows } = await db.raw<{ rows: { seq: number }[] }>(
    'select first_seq_at(:walletId, :newestSeq, :at) as seq',
    { walletId, newestSeq, at },
  );
  if (!rows[0]) throw new Error('bisecting a ledger answered no row');
  return rows[0].seq;
}

/** Reads the balance before an entry, by its number. */
export async function balanceBefore(trx: Transaction, walletId: number, seq: number): Promise<number> {
  return (await readEntry(trx, walletId, seq - 1))?.balance_after_cents ?? 0;
}

/**
 * Reads the next entries of a stretch, oldest first, of at most this many. A page ends where its first entry's seal does,
 * so that each seal is opened once.
 */
export async function readStretch(db: Database, stretch: Stretch, limit: number): Promise<LedgerEntry[]> {
  const ids = await getLedgerIds(db);
  const { rows } = await db.raw<{ rows: Omit<LedgerEntry, 'id'>[] }>(
    `select e.wallet_id as "walletId", e.seq, e.type, e.amount_cents as "amountCents",
            e.balance_after_cents as "balanceAfterCents", e.created_at as "createdAt", r.id as "rentalId",
            e.processor_charge_id as "processorChargeId"
       from ledger_between(:walletId, :fromSeq, least(
              :fromSeq::bigint + :limit - 1, :toSeq::bigint - 1,
              (select last_seq from ledger_seals where wallet_id = :walletId and last_seq >= :fromSeq
                order by last_seq limit 1))) e
       left join rentals r on r.no = e.rental_no
      order by e.seq`,
    { ...stretch, limit },
  );
  return ids.withIds(rows);
}
