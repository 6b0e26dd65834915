import { invalidRequest } from './errors.js';
import type { Call } from './endpoint.js';
import type { Params } from './params.js';

interface Listed {
  readonly id: string;
  readonly created: number;
}

/** A page of a list in the API's shape. */
export interface List {
  readonly object: 'list';
  readonly data: readonly object[];
  readonly has_more: boolean;
  readonly url: string;
}

/**
 * Answers a list with the processor's paging (docs.stripe.com/api/pagination): newest first, 10 by default, at most
 * 100, after one id or before another, within the `created` bounds.
 * @param rows in the order of their creation
 */
export function page(call: Call, rows: readonly Listed[]): List {
  const { params, path } = call;
  const limit = params.integer('limit', 1, 100) ?? 10;
  const startingAfter = params.string('starting_after');
  const endingBefore = params.string('ending_before');
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw invalidRequest('Send either starting_after or ending_before.', { code: 'parameters_exclusive' });
  }
  const inRange = createdRange(params);
  const newestFirst = rows.filter((row) => inRange(row.created)).reverse();
  if (endingBefore !== undefined) {
    const before = newestFirst.slice(0, positionOf(newestFirst, endingBefore, 'ending_before'));
    return { object: 'list', data: before.slice(-limit), has_more: before.length > limit, url: path };
  }
  const start =
    startingAfter === undefined ? 0 : positionOf(newestFirst, startingAfter, 'starting_after') + 1;
  const data = newestFirst.slice(start, start + limit);
  return { object: 'list', data, has_more: newestFirst.length > start + limit, url: path };
}

function positionOf(rows: readonly Listed[], id: string, param: string): number {
  const position = rows.findIndex((row) => row.id === id);
  if (position === -1) {
    throw invalidRequest(`No such object in this list: '${id}'`, { code: 'resource_missing', param });
  }
  return position;
}

/** `created=1700000000` or `created[gt|gte|lt|lte]=…`, in seconds. */
function createdRange(params: Params): (created: number) => boolean {
  const highest = Number.MAX_SAFE_INTEGER;
  if (!params.isGroup('created')) {
    const exact = params.integer('created', 0, highest);
    return (created) => exact === undefined || created === exact;
  }
  const bounds = params.child('created');
  const above = bounds?.integer('gt', 0, highest) ?? -1;
  const from = bounds?.integer('gte', 0, highest) ?? 0;
  const below = bounds?.integer('lt', 0, highest) ?? highest;
  const to = bounds?.integer('lte', 0, highest) ?? highest;
  return (created) => created > above && created >= from && created < below && created <= to;
}
