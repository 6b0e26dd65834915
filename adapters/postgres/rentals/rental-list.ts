import type { Knex } from 'knex';
import type { ApiKeyId, RentalId, UserId } from '../../../domain/ids.js';
import type { Label } from '../../../domain/rentals/labels.js';
import {
  isRising,
  liveAbove,
  liveStatuses,
  searchWords,
  type RentalSort,
} from '../../../domain/rentals/listing.js';
import { rentalStatuses, type RentalStatus } from '../../../domain/rentals/rental.js';
import type { Database } from '../database.js';
import { withWaiting } from './progress-reads.js';
import { withHealth, type RentalWithHealth } from './rental-reads.js';

/** The rentals to list; an absent filter filters nothing. */
export interface RentalFilter {
  readonly status?: RentalStatus | undefined;
  /** Those that still have a machine, or those that have ended. */
  readonly live?: boolean | undefined;
  /** Those that have this label. */
  readonly label?: Label | undefined;
  /** Words, each of which is a part of what the rental shows. */
  readonly search?: string | undefined;
  /** Those of this key. */
  readonly onlyOf?: ApiKeyId | undefined;
  /** Those that this key opened; null: those that no key opened. */
  readonly openedBy?: ApiKeyId | null | undefined;
  readonly onlyIds?: readonly RentalId[] | undefined;
}

/** Where a page ended: by what its last rental was sorted (`sortValueOf`), and its number. */
export interface RentalPlace {
  readonly value: string | number | null;
  readonly no: number;
}

/** Which part of a list is read. */
export interface RentalPart {
  readonly sort: RentalSort;
  /** The last one of the page before. */
  readonly after?: RentalPlace | undefined;
  readonly limit: number;
}

/** What a list is sorted by before the numbers: of a rental, and of what a cursor tells. */
const keys: Readonly<Partial<Record<RentalSort, readonly [own: string, told: string]>>> = {
  name: [nameKey('r.name'), nameKey(':value::text')],
  price: ['r.price_per_hour_cents', ':value::bigint'],
  cost: [
    `case when r.status in ('${liveStatuses.join("', '")}') then ${liveAbove} else 0 end
       + r.charged_cents - r.refunded_cents`,
    ':value::bigint',
  ],
};

/** Those without a name come last. */
function nameKey(name: string): string {
  return `case when ${name} is null then '1' else '0' || lower(${name}) end`;
}

/** A word of a search stands in what lists show of a rental, or in one of its labels. */
const hasWord = `(
  concat_ws(' ', r.id, r.name, r.family, r.model, r.region, r.provider_code) ilike :word
  or exists (select 1 from rental_labels l
              where l.user_id = :userId and l.rental_no = r.no and l.key || ':' || l.value ilike :word))`;

/**
 * Lists a user's rentals, a part of them at a time (decision 143, "Sorted rentals"). The rows are chosen by their
 * numbers first: what else a list shows is read of the part alone.
 */
export async function listRentals(
  db: Database,
  userId: UserId,
  filter: RentalFilter,
  part: RentalPart,
): Promise<RentalWithHealth[]> {
  const numbers = fitting(db, userId, filter).select('r.no').limit(part.limit);
  if (part.after !== undefined) beginAfter(numbers, part.sort, part.after);
  const query = inOrder(withHealth(db).whereIn('r.no', inOrder(numbers, part.sort)), part.sort);
  return withWaiting(db, await query);
}

/** How many of a user's rentals fit a filter, by their status. */
export async function countRentals(
  db: Database,
  userId: UserId,
  filter: RentalFilter,
): Promise<Record<RentalStatus, number>> {
  const rows = await fitting(db, userId, filter)
    .groupBy('r.status')
    .select<{ status: RentalStatus; fit: number }[]>('r.status', db.raw('count(*) as fit'));
  const counted = new Map(rows.map(({ status, fit }) => [status, fit]));
  return Object.fromEntries(rentalStatuses.map((status) => [status, counted.get(status) ?? 0])) as Record<
    RentalStatus,
    number
  >;
}

function fitting(
  db: Database,
  userId: UserId,
  { status, live, label, search, onlyOf, openedBy, onlyIds }: RentalFilter,
): Knex.QueryBuilder {
  const query = db({ r: 'rentals_now' }).where({
    'r.user_id': userId,
    ...(status !== undefined && { 'r.status': status }),
    ...(onlyOf !== undefined && { 'r.api_key_id': onlyOf }),
  });
  if (openedBy !== undefined) void query.where('r.api_key_id', openedBy);
  if (live === true) void query.whereIn('r.status', liveStatuses);
  if (live === false) void query.whereNotIn('r.status', liveStatuses);
  if (onlyIds !== undefined) void query.whereIn('r.id', onlyIds);
  for (const word of searchWords(search ?? ''))
    void query.whereRaw(hasWord, { userId, word: anywhere(word) });
  if (label !== undefined) {
    const labelled = db('rental_labels')
      .where({ user_id: userId, ...label })
      .select('rental_no');
    void query.whereIn('r.no', labelled);
  }
  return query;
}

function inOrder<Query extends Knex.QueryBuilder>(query: Query, sort: RentalSort): Query {
  const way = isRising(sort) ? 'asc' : 'desc';
  const [own] = keys[sort] ?? [];
  if (own !== undefined) void query.orderByRaw(`${own} ${way}`);
  void query.orderBy('r.no', way);
  return query;
}

function beginAfter(query: Knex.QueryBuilder, sort: RentalSort, { value, no }: RentalPlace): void {
  const beyond = isRising(sort) ? '>' : '<';
  const [own, told] = keys[sort] ?? [];
  if (own === undefined) void query.where('r.no', beyond, no);
  else void query.whereRaw(`(${own}, r.no) ${beyond} (${told}, :no)`, { value, no });
}

/** A pattern of a text anywhere in another. */
const anywhere = (text: string): string => `%${text.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;
