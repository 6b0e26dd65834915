import type { LedgerEntryId, RentalId, UserId } from '../../../domain/ids.js';
import type { LedgerEntryType } from '../../../domain/ledger/ledger.js';
import type { Database } from '../database.js';
import { runPrepared, ReadAhead, type Prepared } from '../prepared.js';
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
  newest_seq: number;
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
  /** The number of the oldest entry that is wanted. */
  readonly fromSeq?: number | undefined;
  /** Only entries that are numbered below, such as those after the last one of a page. */
  readonly beforeSeq?: number | undefined;
}

/**
 * Reads a user's ledger, newest first, with the wallet's total and the newest entry's number at the same moment: one
 * statement sees one state, so the newest entry's balance is the total. Each filter walks the primary key or the index of the rare types, never the
 * whole ledger: a rental's entries lie between two sequence numbers that its row keeps.
 * @param ahead where it may have been read already
 */
export async function readLedger(
  db: Database,
  userId: UserId,
  filter: LedgerFilter,
  limit: number,
  ahead?: ReadAhead,
): Promise<{ balanceCents: number; newestSeq: number; entries: LedgerEntry[] }> {
  const ids = await getLedgerIds(db);
  const rows = isWhole(filter)
    ? await runPrepared<Row, readonly [UserId]>(db, newestEntries(limit), [userId], ahead)
    : await readFiltered(db, userId, filter, limit);
  const [first] = rows;
  if (!first) throw new Error(`no wallet of user ${userId}`);
  const { balance_cents: balanceCents, newest_seq: newestSeq } = first;
  return { balanceCents, newestSeq, entries: entriesOf(rows, ids) };
}

/** What readLedger will read without a filter. */
export function ledgerAhead(userId: UserId, limit: number): ReadAhead {
  return new ReadAhead(newestEntries(limit), [userId]);
}

function isWhole(filter: LedgerFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/** A page's statement; `conditions` says which entries. */
function pageSql(conditions: string, user: string, limit: string): string {
  return `select w.id as wallet_id, w.available_cents + w.reserved_cents as balance_cents, w.seq as newest_seq,
            e.seq, e.type, e.amount_cents, e.balance_after_cents, e.created_at, e.processor_charge_id,
            r.id as rental_id
     from wallets w
     left join lateral (
       select * from ledger_entries
       where wallet_id = w.id ${conditions}
       order by seq desc limit ${limit}) e on true
     left join rentals r on r.no = e.rental_no
     where w.user_id = ${user}
     order by e.seq desc`;
}

/**
 * The page that a reader begins with. Its size is a part of the statement, because a plan for any size would expect a
 * tenth of the ledger.
 */
function newestEntries(limit: number): Prepared<readonly [UserId]> {
  return { name: `newest_entries_${limit}`, sql: pageSql('', '$1', String(limit)) };
}

async function readFiltered(
  db: Database,
  userId: UserId,
  filter: LedgerFilter,
  limit: number,
): Promise<Row[]> {
  const conditions = [
    typeCondition(filter.type),
    filter.beforeSeq === undefined ? '' : 'and seq < :beforeSeq',
    filter.fromSeq === undefined ? '' : 'and seq >= :fromSeq',
    filter.rentalId === undefined ? '' : ofRental,
  ].join(' ');
  const { rows } = await db.raw<{ rows: Row[] }>(pageSql(conditions, ':userId', ':limit'), {
    userId,
    limit,
    type: filter.type ?? null,
    beforeSeq: filter.beforeSeq ?? null,
    fromSeq: filter.fromSeq ?? null,
    rentalId: filter.rentalId ?? null,
  });
  return rows;
}

/** A rental's own entries, within the stretch of the wallet's ledger that its life spans. */
const ofRental = `and rental_no = (select no from rentals where id = :rentalId)
         and seq > (select opened_seq from rentals where id = :rentalId)
         and seq <= (select coalesce(settled_seq, w.seq) from rentals where id = :rentalId)`;

/** Says outright that a rare type is no tick, so that Postgres uses the index without ticks. */
function typeCondition(type: LedgerEntryType | undefined): string {
  if (type === undefined) return '';
  return type === 'rental_charge' ? 'and type = :type' : "and type = :type and type <> 'rental_charge'";
}

/** A wallet without entries comes as one row without an entry. */
function entriesOf(rows: readonly Row[], ids: LedgerIds): LedgerEntry[] {
  return ids.withIds(
    rows.flatMap((row) =>
      row.seq === null
        ? []
        : {
            walletId: row.wallet_id,
            seq: row.seq,
            type: row.type,
            amountCents: row.amount_cents,
            balanceAfterCents: row.balance_after_cents,
            createdAt: row.created_at,
            rentalId: row.rental_id,
            processorChargeId: row.processor_charge_id,
          },
    ),
  );
}
