import { readWritten } from '@gpu-rental/client';
import type { LedgerEntryType } from '../../data/ledger.js';
import { readDay } from '../../format/days.js';
import { DEFAULT_SPAN_DAYS, spanDays, type SpanDays } from './spending-span.js';

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
  /** How many days are shown; left out where they are as many as usual. */
  readonly days?: SpanDays;
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
  const { view, until, days, type, rental, from, to, before, entry } = search;
  return {
    ...(view === 'entries' && { view }),
    ...(isDay(until) && { until }),
    ...(isSpan(days) && { days }),
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

const isSpan = (days: unknown): days is SpanDays =>
  days !== DEFAULT_SPAN_DAYS && spanDays.some((span) => span === days);

const isDay = (text: unknown): text is string => typeof text === 'string' && readDay(text) !== undefined;

/** A day that there is, or an instant in UTC. */
function isMoment(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  if (isDay(text)) return true;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z$/.test(text) && readWritten(text) !== undefined;
}
