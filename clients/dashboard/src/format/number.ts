import { locale, PSEUDO_LOCALE } from '../texts/texts.js';

const numberLocale = locale === PSEUDO_LOCALE ? 'en-US' : locale;

const percents = new Intl.NumberFormat(numberLocale, { style: 'percent', maximumFractionDigits: 1 });
const lists = new Intl.ListFormat(numberLocale, { type: 'conjunction' });
const numbers = new Intl.NumberFormat(numberLocale, { maximumFractionDigits: 2 });

/** A share as a percentage: 0.985 is “98.5%”. */
export const percent = (share: number): string => percents.format(share);
/** A number that is no money: 1234.5 is “1,234.5”. */
export const number = (value: number): string => numbers.format(value);
/** A list in a sentence: “50%, 80%, and 100%”. */
export const listed = (parts: readonly string[]): string => lists.format(parts);
