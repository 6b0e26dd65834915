import type { LedgerEntryId, RentalId, UserId } from '../../../domain/ids.js';
import type { LedgerEntryType } from '../../../domain/ledger/ledger.js';
import type { Database, Transaction } from '../database.js';
import type { LedgerEntryRow } from '../rows/tables.js';
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

/** Reads one entry; undefined where there is none. */
export async function readEntry(
  trx: Transaction,
  walletId: number,
  seq: number,
): Promise<LedgerEntryRow | undefined> {
  const { rows } = await trx.raw<{ rows: LedgerEntryRow[] }>(
    'select * from ledger_between(:walletId, :seq, :seq)',
    { walletId, seq },
  );
  return rows[0];
}

/** What readLedger will read without a filter. */
export function ledgerAhead(userId: UserId, limit: number): ReadAhead {
  return new ReadAhead(newestEntries(limit), [userId]);
}

function isWhole(filter: LedgerFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/** What a page asks for, in SQL. Conditions begin with "and", or are empty. */
interface PageSql {
  readonly user: string;
  readonly limit: string;
  /** Which rows `e`. */
  readonly rows: string;
  /** Which charges that are sealed; undefined where none is asked for. */
  readonly sealed: SealedSql | undefined;
}

/** The second argument and the next ones of sealed_charges. */
interface SealedSql {
  readonly rental: string;
  readonly from: string;
  readonly before: string;
}

/** A page's statement. Rows and seals each give as many of their newest entries as the page holds. */
function pageSql({ user, limit, rows, sealed }: PageSql): string {
  const fromSeals =
    sealed &&
    `union all
         select w.id, x.seq, 'rental_charge', x.amount_cents, x.balance_after_cents, x.rental_no, null, null, x.created_at
           from sealed_charges(w.id, ${sealed.rental}, ${sealed.from}, ${sealed.before}, ${limit}) x`;
  return `select w.id as wallet_id, w.available_cents + w.reserved_cents as balance_cents, w.seq as newest_seq,
            e.seq, e.type, e.amount_cents, e.balance_after_cents, e.created_at, e.processor_charge_id,
            r.id as rental_id
     from wallets w
     cross join lateral (select sealed_through(w.id) as through offset 0) t
     left join lateral (
       select * from (
         (select e.* from ledger_rows e
           where e.wallet_id = w.id and e.seq > t.through ${rows}
           order by e.seq desc limit ${limit})
         union all
         -- Type by type: the index without ticks begins with it, and the primary key's way may lead over what is gone.
         (select e.* from unnest(enum_range(null::ledger_entry_type)) of_type
           cross join lateral (
             select * from kept_entries e
              where e.wallet_id = w.id and e.type = of_type and e.seq <= t.through ${rows}
              order by e.seq desc limit ${limit}) e
           order by e.seq desc limit ${limit})
         ${fromSeals ?? ''}
       ) found order by seq desc limit ${limit}) e on true
     left join rentals r on r.no = e.rental_no
     where w.user_id = ${user}
     order by e.seq desc`;
}

const whole: SealedSql = { rental: 'null', from: '0', before: 't.through + 1' };

/**
 * The page that a reader begins with. Its size is a part of the statement, because a plan for any size would expect a
 * tenth of the ledger.
 */
function newestEntries(limit: number): Prepared<readonly [UserId]> {
  return {
    name: `newest_entries_${limit}`,
    sql: pageSql({ user: '$1', limit: String(limit), rows: '', sealed: whole }),
  };
}

async function readFiltered(
  db: Database,
  userId: UserId,
  filter: LedgerFilter,
  limit: number,
): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(filteredSql(filter), {
    userId,
    limit,
    type: filter.type ?? null,
    beforeSeq: filter.beforeSeq ?? null,
    fromSeq: filter.fromSeq ?? null,
    rentalId: filter.rentalId ?? null,
  });
  return rows;
}

/** Says outright that a rare type is no tick, so that Postgres uses the index without ticks. */
function filteredSql({ type, rentalId, fromSeq, beforeSeq }: LedgerFilter): string {
  const isRare = type !== undefined && type !== 'rental_charge';
  const span: (readonly [is: string, bound: string])[] = [];
  if (beforeSeq !== undefined) span.push(['seq <', ':beforeSeq']);
  if (fromSeq !== undefined) span.push(['seq >=', ':fromSeq']);
  if (rentalId !== undefined) {
    span.push(['seq >', ofRental('opened_seq')], ['seq <=', ofRental('coalesce(settled_seq, w.seq)')]);
  }
  const within = (entry: string): string =>
    span.map(([is, bound]) => `and ${entry}.${is} ${bound}`).join(' ');
  const isOfRental = (entry: string): string =>
    rentalId === undefined ? '' : `and ${entry}.rental_no = ${ofRental('no')}`;
  return pageSql({
    user: ':userId',
    limit: ':limit',
    rows: [
      type === undefined ? '' : 'and e.type = :type',
      isRare ? "and e.type <> 'rental_charge'" : '',
      isOfRental('e'),
      within('e'),
    ].join(' '),
    sealed: isRare ? undefined : sealedOf({ rentalId, fromSeq, beforeSeq }),
  });
}

function sealedOf({ rentalId, fromSeq, beforeSeq }: LedgerFilter): SealedSql {
  const from = ['0'];
  const before = ['t.through + 1'];
  if (fromSeq !== undefined) from.push(':fromSeq');
  if (beforeSeq !== undefined) before.push(':beforeSeq');
  if (rentalId === undefined) return { rental: 'null', from: greatest(from), before: least(before) };
  from.push(`${ofRental('opened_seq')} + 1`);
  before.push(`${ofRental('coalesce(settled_seq, w.seq)')} + 1`);
  // No rental has this number: without one all charges would be meant.
  const rental = `coalesce(${ofRental('no')}, 0)`;
  return { rental, from: greatest(from), before: least(before) };
}

const greatest = (of: readonly string[]): string => `greatest(${of.join(', ')})`;
const least = (of: readonly string[]): string => `least(${of.join(', ')})`;

/** A column of the rental that is asked for. Its entries lie within the stretch of the ledger that its life spans. */
function ofRental(column: string): string {
  return `(select ${column} from rentals where id = :rentalId)`;
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
