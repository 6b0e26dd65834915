import { isMonth, type Month } from '../../format/days.js';

/** What the address of the statements tells. */
export interface StatementsSearch {
  /** The newest one unless told. */
  readonly month?: Month;
  /** The key of the label by which it is grouped. */
  readonly label?: string;
  /** The calendar of the browser's zone unless told. */
  readonly zone?: 'utc';
}

/** Reads the search part of the address; what is none of it is left out. */
export function readStatementsSearch(search: Readonly<Record<string, unknown>>): StatementsSearch {
  const { month, label, zone } = search;
  return {
    ...(isMonth(month) && { month }),
    ...(typeof label === 'string' && /^[a-z0-9][a-z0-9_.-]{0,62}$/.test(label) && { label }),
    ...(zone === 'utc' && { zone }),
  };
}
