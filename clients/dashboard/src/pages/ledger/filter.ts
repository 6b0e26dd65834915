import type { Between, LedgerFilter } from '../../data/ledger.js';
import { dayEnd, dayOf, dayStart, localZone } from '../../format/months.js';
import type { LedgerSearch } from './search.js';

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
  const filters = without(without(without(search, 'view'), 'until'), 'days');
  return isFiltered(filters) ? filters : { ...filters, view: 'entries' };
}
