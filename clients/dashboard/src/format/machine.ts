import { locale, PSEUDO_LOCALE } from '../texts/texts.js';

const regionNames = new Intl.DisplayNames(locale === PSEUDO_LOCALE ? 'en-US' : locale, {
  type: 'region',
  fallback: 'code',
});

/** The name of a family by its id: “h100-80gb” is “H100 80 GB”, “rtx-4000-ada” is “RTX 4000 Ada”. */
export function familyName(id: string): string {
  return id.split('-').map(wordOf).join(' ');
}

function wordOf(part: string): string {
  const memory = /^(\d+)gb$/.exec(part)?.[1];
  if (memory !== undefined) return `${memory} GB`;
  return /^[a-z]{4,}$|^ada$/.test(part) ? part.charAt(0).toUpperCase() + part.slice(1) : part.toUpperCase();
}

/** The name of a country by its code of two letters; any other text as it is. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (regionNames.of(code) ?? code) : code;
}
