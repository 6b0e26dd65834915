import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { keyIdOf, onlyOf, type ApiContext } from '../../api/context.js';
import { pageOf } from '../../api/http/cursor.js';
import { placeAfter, readRentalsQuery } from '../../api/rentals/list-query.js';
import { presentRental } from '../../api/rentals/present.js';
import { rentalsEndpoint } from '../../api/rentals/request.js';
import {
  isRising,
  liveStatuses,
  searchWords,
  sortValueOf,
  type RentalSort,
} from '../../domain/rentals/listing.js';
import { rentalStatuses, type RentalStatus } from '../../domain/rentals/rental.js';
import type { Account, MockRental } from './account.js';
import { madeUnder } from './idempotency.js';
import type { World } from './world.js';

type Query = Awaited<ReturnType<typeof readRentalsQuery>>;

/** A page of the caller's rentals, as the service lists them (decision 143, "Sorted rentals"). */
export async function listed(world: World, ctx: ApiContext, account: Account) {
  const rows = rentalsFor(ctx, account).map(({ row }) => row);
  const query = await readRentalsQuery(ctx, (id) => Promise.resolve(rows.find((row) => row.id === id)?.no));
  const { sort, after, pageSize, counts } = query;
  const isMade = madeUnder(ctx, account, rentalsEndpoint, query.idempotencyKey);
  const asker = keyIdOf(ctx) ?? null;
  const isMine = (row: RentalWithHealth) => !query.mine || row.api_key_id === asker;
  const fitting = rows.filter((row) => isMade(row.id) && isMine(row) && fits(row, query));
  const inOrder = inOrderOf(sort);
  const listed = fitting
    .filter(
      ({ status }) =>
        (query.status ?? status) === status && (query.live ?? isLive(status)) === isLive(status),
    )
    .map((row) => ({ row, value: sortValueOf(sort, row), no: row.no }))
    .filter((place) => after === undefined || inOrder(place, after) > 0)
    .sort(inOrder)
    .map(({ row }) => row);
  const { page, nextCursor } = pageOf(listed, pageSize, (row) => placeAfter(sort, row));
  return {
    rentals: page.map((row) => presentRental(readNow(world, row))),
    ...(counts && { counts: countsOf(fitting) }),
    nextCursor,
  };
}

function fits(row: RentalWithHealth, { ids, label, search = '' }: Query): boolean {
  const labels = Object.entries(row.labels ?? {}).map(([key, value]) => `${key}:${value}`);
  const { id, name, family, model, region, provider_code: provider } = row;
  const shown = [id, name ?? '', family, model, region, provider, ...labels].join(' ').toLowerCase();
  return (
    (ids === undefined || ids.includes(id)) &&
    (label === undefined || row.labels?.[label.key] === label.value) &&
    searchWords(search.toLowerCase()).every((word) => shown.includes(word))
  );
}

const isLive = (status: RentalStatus): boolean => liveStatuses.some((live) => live === status);

interface Place {
  readonly value: string | number | null;
  readonly no: number;
}

function inOrderOf(sort: RentalSort): (a: Place, b: Place) => number {
  const rises = (a: Place, b: Place): number => compare(a.value, b.value) || a.no - b.no;
  return isRising(sort) ? rises : (a, b) => rises(b, a);
}

/** What has no value comes last. */
function compare(a: Place['value'], b: Place['value']): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [first, second] = [a, b].map((value) => value?.toString().toLowerCase());
  if (first === second) return 0;
  if (first === undefined || second === undefined) return first === undefined ? 1 : -1;
  return first < second ? -1 : 1;
}

function countsOf(rows: readonly RentalWithHealth[]): Record<RentalStatus, number> {
  return Object.fromEntries(
    rentalStatuses.map((status) => [status, rows.filter((row) => row.status === status).length]),
  ) as Record<RentalStatus, number>;
}

/** A row as the service reads it: with the time of the reading. */
export function readNow(world: World, row: RentalWithHealth): RentalWithHealth {
  const { waiting } = row;
  const isWaiting = row.status === 'provisioning' && waiting !== null;
  return { ...row, waiting: isWaiting ? { ...waiting, read_at: world.now() } : null };
}

/** The rentals that a caller sees: a key with a cap sees its own alone. */
export function rentalsFor(ctx: ApiContext, { rentals }: Account): readonly MockRental[] {
  const key = onlyOf(ctx);
  return key === undefined ? rentals : rentals.filter(({ row }) => row.api_key_id === key);
}
