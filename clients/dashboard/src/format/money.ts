import { plainDigits } from './digits.js';
import { locale, PSEUDO_LOCALE } from '../texts/texts.js';

const numberLocale = locale === PSEUDO_LOCALE ? 'en-US' : locale;

const dollars = new Intl.NumberFormat(numberLocale, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
});
const signed = new Intl.NumberFormat(numberLocale, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  signDisplay: 'exceptZero',
});

/**
 * Writes whole cents as dollars: 123456 is “$1,234.56”. They become text before they are formatted, never a float.
 * @throws RangeError for what is no whole number of cents
 */
export function money(cents: number): string {
  return dollars.format(decimal(cents));
}

/** The same with a plus before what comes in. */
export function signedMoney(cents: number): string {
  return signed.format(decimal(cents));
}

const hundredths = new Intl.NumberFormat(numberLocale, { maximumFractionDigits: 2 });

/** Writes thousandths of a cent as cents, cut off at hundredths: 437 is “0.43”. */
export const centsOf = (millicents: number): string => hundredths.format(Math.floor(millicents / 10) / 100);

/** The sign of the currency, for fields in which an amount is typed. */
export const currencySign: string =
  dollars.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? '$';

type Decimal = `${number}`;

/** Writes whole cents as a decimal number: -5 is “-0.05”. */
export function decimal(cents: number): Decimal {
  if (!Number.isSafeInteger(cents)) throw new RangeError(`${cents} is no whole number of cents`);
  const digits = Math.abs(cents).toString().padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}` as Decimal;
}

/**
 * Reads dollars as people type them, in the digits of any script: “12”, “12.5”, “$1,234.56”.
 * @returns whole cents; undefined for anything else, also for fractions of a cent
 */
export function parseMoney(text: string): number | undefined {
  const match = /^\$?\s*(\d{1,3}(?:,\d{3})+|\d{1,11})(?:\.(\d{1,2}))?$/.exec(plainDigits(text).trim());
  if (!match) return undefined;
  const [, whole = '', fraction = ''] = match;
  return Number(whole.replaceAll(',', '')) * 100 + Number(fraction.padEnd(2, '0'));
}

/** Writes cents as people type them, so that `parseMoney` reads the same: 2500 is “25”, 2550 is “25.50”. */
export function typedMoney(cents: number): string {
  return decimal(cents).replace(/\.00$/, '');
}

/** What was typed as a decimal number; empty for what is no amount. */
export function decimalOf(text: string): string {
  const cents = parseMoney(text);
  return cents === undefined ? '' : decimal(cents);
}
