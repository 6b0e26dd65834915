import { isId, type RentalId } from '../../domain/ids.js';
import {
  rentalSorts,
  searchMaxWords,
  searchWords,
  sortValueOf,
  type RentalSort,
  type SortedRental,
} from '../../domain/rentals/listing.js';
import { rentalStatuses } from '../../domain/rentals/rental.js';
import type { ApiContext } from '../context.js';
import { isIdKey, numberOf, readCursor } from '../http/cursor.js';
import { fields, joi, orElse, pageFields, readAs, wordOf } from '../http/fields.js';
import { keyFilter } from '../http/idempotency.js';
import { readQuery } from '../http/validation.js';
import { labelFilter } from './word-fields.js';

const IDS_MOST = 100;
const SEARCH_MAX_CHARS = 100;

const idsField = readAs<readonly RentalId[]>(joi.string(), (text, helpers) => {
  const ids = text.split(',');
  return ids.length <= IDS_MOST
    ? ids.filter((id) => isId('rent', id))
    : helpers.message({ custom: `{{#label}} may be at most ${IDS_MOST} ids, separated by commas` });
}).meta({
  jsonSchema: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: IDS_MOST,
    description: 'Only the rentals with these ids, separated by commas. Ids that are not yours are left out.',
  },
});

const searchField = readAs<string>(joi.text().maxChars(SEARCH_MAX_CHARS), (text, helpers) =>
  searchWords(text).length <= searchMaxWords
    ? text
    : helpers.message({ custom: `{{#label}} may have at most ${searchMaxWords} words` }),
).meta({
  jsonSchema: {
    description: `Only rentals with each of these words, at most ${searchMaxWords}, in their name, id, labels (\`key:value\`), family, model, region or provider. A part of a word is enough; case does not matter.`,
    examples: ['train oslo'],
  },
});

/** The query of GET /v1/rentals. */
export const rentalsQuery = fields({
  idempotencyKey: keyFilter,
  ids: idsField,
  status: wordOf(rentalStatuses),
  live: joi
    .boolean()
    .description(
      '`true`: only rentals that are provisioning, running or stopping. `false`: only ended ones.',
    ),
  mine: orElse(
    joi
      .boolean()
      .description(
        '`true`: only rentals that the API key of this request opened; in a session, only those that no key opened.',
      ),
    false,
  ),
  label: labelFilter,
  search: searchField,
  sort: orElse(
    wordOf(rentalSorts).description(
      '`name`: A to Z, unnamed ones last. `price`: highest hourly price first. `cost`: running ones first, then the most expensive ones.',
    ),
    'newest',
  ),
  counts: orElse(joi.boolean().description('Adds `counts`.'), false),
  ...pageFields,
});

/**
 * Reads which page of the rentals is asked for.
 * @param find the number of a rental of the caller's; undefined when they have no such one
 * @throws Refusal validation_failed
 */
export async function readRentalsQuery(ctx: ApiContext, find: (id: RentalId) => Promise<number | undefined>) {
  const { cursor, ...asked } = readQuery(ctx, rentalsQuery);
  const [id, value = null] =
    readCursor(cursor, isPlaceIn(asked.sort))?.slice(asked.sort === 'newest' ? 0 : 1) ?? [];
  const no = await numberOf(id === undefined ? undefined : [id as RentalId], find);
  return { ...asked, after: no === undefined ? undefined : { no, value } };
}

/** A cursor names its order, in which alone it leads on; that of the newest first is an id alone. */
type Place = readonly (string | number)[];

function isPlaceIn(sort: RentalSort): (key: readonly unknown[]) => key is Place {
  const isNewest = isIdKey('rent');
  return (key): key is Place => {
    if (sort === 'newest') return isNewest(key);
    const [own, id, value = null, ...more] = key;
    const isIts = typeof id === 'string' && isId('rent', id);
    return own === sort && isIts && isValueOf(sort, value) && more.length === 0;
  };
}

function isValueOf(sort: RentalSort, value: unknown): boolean {
  if (sort === 'price' || sort === 'cost') return Number.isSafeInteger(value);
  if (sort === 'name') return value === null || (typeof value === 'string' && !value.includes('\0'));
  return value === null;
}

/** The key of a cursor that leads on after a rental. */
export function placeAfter(sort: RentalSort, rental: SortedRental & { readonly id: RentalId }): Place {
  const value = sortValueOf(sort, rental);
  if (sort === 'newest') return [rental.id];
  return value === null ? [sort, rental.id] : [sort, rental.id, value];
}
