import { readWritten } from '@gpu-rental/client';
import { dayEnd, dayOf, dayStart, localZone } from '../../format/months.js';
import type { Between, LedgerEntryType, LedgerFilter } from '../../data/ledger.js';

const types: Readonly<Record<LedgerEntryType, true>> = {
  processor_topup: true,
  auto_topup: true,
  rental_charge: true,
  refund: true,
  adjustment: true,
};

export const entryTypes = Object.keys(types) as readonly LedgerEntryType[];

/** What the address of the ledger tells. */
export interface LedgerSearch {
  /** Entries one by one; left out where a filter says so already. Without both: what days were spent on. */
  readonly view?: 'entries';
  /** The last day of those that are shown, in UTC. */
  readonly until?: string;
  readonly type?: LedgerEntryType;
  /** The id of a rental. */
  readonly rental?: string;
  /** A day of the browser's calendar, or an instant. */
  readonly from?: string;
  /** A day, which is included, or an instant, which is not. */
  readonly to?: string;
  /** Only entries that are numbered below. */
  readonly before?: number;
  /** The entry that is explained. */
  readonly entry?: string;
}

/** Reads the search part of the address; what is none of it is left out. */
export function readLedgerSearch(search: Readonly<Record<string, unknown>>): LedgerSearch {
  const { view, until, type, rental, from, to, before, entry } = search;
  return {
    ...(view === 'entries' && { view }),
    ...(isDay(until) && { until }),
    ...(isEntryType(type) && { type }),
    ...(isIdOf('rent', rental) && { rental }),
    ...(isMoment(from) && { from }),
    ...(isMoment(to) && { to }),
    ...(isNumber(before) && { before }),
    ...(isIdOf('led', entry) && { entry }),
  };
}

/** Tells whether a text may be an id of a kind. */
export const isIdOf = (prefix: string, text: unknown): text is string =>
  typeof text === 'string' && text.length <= 64 && text.startsWith(`${prefix}_`) && /^\w+$/.test(text);

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

function isEntryType(text: unknown): text is LedgerEntryType {
  return typeof text === 'string' && Object.hasOwn(types, text);
}

const isDay = (text: unknown): text is string =>
  typeof text === 'string' && dayStart(text, 'UTC') !== undefined;

/** A day that there is, or an instant in UTC. */
function isMoment(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  if (isDay(text)) return true;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z$/.test(text) && readWritten(text) !== undefined;
}

/** The instants between which the entries of an address lie. A span that ends before it begins is left open. */
export function betweenOf({ from, to }: LedgerSearch, timeZone = localZone()): Between {
  const start = from === undefined ? undefined : (dayStart(from, timeZone) ?? from);
  const end = to === undefined ? undefined : (dayEnd(to, timeZone) ?? to);
  if (start !== undefined && end !== undefined && Date.parse(start) >= Date.parse(end))
    return { from: start };
  return { from: start, to: end };
}

/** What the service is asked for by an address. */
export function filterOf(search: LedgerSearch, timeZone = localZone()): LedgerFilter {
  return { ...betweenOf(search, timeZone), type: search.type, rentalId: search.rental };
}

/** The days of an address, as its two fields show them: the last one is included. */
export function daysOf({ from, to }: LedgerSearch, timeZone = localZone()): { from: string; to: string } {
  const isDay = (text: string): boolean => dayStart(text, timeZone) !== undefined;
  const lastOf = (text: string): string => new Date(Date.parse(text) - 1).toISOString();
  return {
    from: from === undefined ? '' : isDay(from) ? from : dayOf(from, timeZone),
    to: to === undefined ? '' : isDay(to) ? to : dayOf(lastOf(to), timeZone),
  };
}

/** Tells whether an address leaves entries out. */
export const isFiltered = ({ type, rental, from, to, before }: LedgerSearch): boolean =>
  [type, rental, from, to, before].some((filter) => filter !== undefined);

/** Tells whether an address shows entries one by one. */
export const isOfEntries = (search: LedgerSearch): boolean =>
  search.view !== undefined || search.entry !== undefined || isFiltered(search);

/** An address without one of its parts. */
export const without = (search: LedgerSearch, name: keyof LedgerSearch): LedgerSearch =>
  Object.fromEntries(Object.entries(search).filter(([other]) => other !== name));

/** The address that shows the entries of another's filters one by one. */
export function entriesSearch(search: LedgerSearch): LedgerSearch {
  const filters = without(without(search, 'view'), 'until');
  return isFiltered(filters) ? filters : { ...filters, view: 'entries' };
}
