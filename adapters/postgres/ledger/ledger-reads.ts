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
  /** undefined where nothing that is asked for is ever sealed. */
  readonly sealed: SealedSql | undefined;
}

interface SealedSql {
  /** Which seals `s`: all that hold something that is asked for. */
  readonly seals: string;
  /** How much of it such a seal holds, and whether all of that is on the page's side of its edge. */
  readonly count: string;
  readonly isBelow: string;
  /** Which of their charges `x`. */
  readonly charges: string;
}

/**
 * A page's statement. Rows and seals each give as many of their newest entries as the page holds. Seals are opened from
 * the newest on until they hold a page; the one at the page's edge is opened and not counted.
 */
function pageSql({ user, limit, rows, sealed }: PageSql): string {
  const fromSeals =
    sealed &&
    `union all
         (select w.id, x.seq, 'rental_charge', x.amount_cents, x.balance_after_cents, x.rental_no, null, null, x.created_at
            from (
              select last_seq, coalesce(sum(entries) over newer, 0) as newer
                from (
                  select s.last_seq, case when ${sealed.isBelow} then ${sealed.count} else 0 end as entries
                    from ledger_seals s
                   where s.wallet_id = w.id and s.rental_nos <> '{}' ${sealed.seals}
                   order by s.last_seq desc limit ${limit} + 1
                ) found
              window newer as (order by last_seq desc rows between unbounded preceding and 1 preceding)
            ) opened
            join ledger_seals s on s.wallet_id = w.id and s.last_seq = opened.last_seq
           cross join lateral entries_of_seal(s) x
           where opened.newer < ${limit} and x.rental_no is not null ${sealed.charges}
           order by x.seq desc limit ${limit})`;
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

/** How many charges a seal holds. */
const allCharges = '(select sum(n) from unnest(s.rental_entries) n)';

const whole: SealedSql = { seals: '', count: allCharges, isBelow: 'true', charges: '' };

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
    sealed: isRare
      ? undefined
      : { ...sealsOf({ rentalId, fromSeq, beforeSeq }), charges: `${isOfRental('x')} ${within('x')}` },
  });
}

/** Which seals hold something that is asked for, found by the primary key: a seal holds a thousand numbers at most. */
function sealsOf({ rentalId, fromSeq, beforeSeq }: LedgerFilter): Omit<SealedSql, 'charges'> {
  const seals: string[] = [];
  if (beforeSeq !== undefined)
    seals.push('and s.first_seq < :beforeSeq and s.last_seq < :beforeSeq::bigint + 1000');
  if (fromSeq !== undefined) seals.push('and s.last_seq >= :fromSeq');
  if (rentalId !== undefined) {
    seals.push(
      `and s.last_seq > ${ofRental('opened_seq')} and ${ofRental('no')} = any (s.rental_nos)
       and s.last_seq < ${ofRental('coalesce(settled_seq, w.seq)')} + 1000`,
    );
  }
  return {
    seals: seals.join(' '),
    count:
      rentalId === undefined
        ? allCharges
        : `s.rental_entries[array_position(s.rental_nos, ${ofRental('no')})]`,
    isBelow: beforeSeq === undefined ? 'true' : 's.last_seq < :beforeSeq',
  };
}

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
