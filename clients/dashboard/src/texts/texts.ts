/** A catalogue of texts: plain ones, and functions of what stands in them. */
export interface Texts {
  readonly [name: string]: string | ((...parts: never[]) => string) | Texts;
}

/** The language that nobody speaks: it shows each text that comes from no catalogue, and each place that is too narrow. */
export const PSEUDO_LOCALE = 'en-XA';

/** The locale of numbers and dates: the browser's own, or what `localStorage.locale` names. */
export const locale: string = chosenLocale();

function chosenLocale(): string {
  const browser = globalThis.navigator;
  try {
    return globalThis.localStorage.getItem('locale') ?? browser.language;
  } catch {
    return typeof browser === 'object' ? browser.language : 'en-US';
  }
}

/**
 * Declares texts. Every text that a person reads stands in such a catalogue, one a noun, so that a language is a
 * matter of these files alone.
 */
export function texts<T extends Texts>(catalogue: T): T {
  return locale === PSEUDO_LOCALE ? (pseudo(catalogue) as T) : catalogue;
}

function pseudo(part: Texts[string]): Texts[string] {
  if (typeof part === 'string') return pseudoText(part);
  if (typeof part === 'function') return (...parts: never[]) => pseudoText(part(...parts));
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, pseudo(inner)]));
}

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ö',
  u: 'ü',
  y: 'ý',
  c: 'ç',
  n: 'ñ',
  s: 'š',
  A: 'Å',
  E: 'É',
  I: 'Î',
  O: 'Ö',
  U: 'Û',
};

/** Accents the letters, makes the text a third longer, and marks where it begins and ends. */
export function pseudoText(text: string): string {
  if (text === '') return '';
  const accented = text.replace(/[A-Za-z]/g, (letter) => ACCENTED[letter] ?? letter);
  return `⟦${accented}${'·'.repeat(Math.ceil(text.length / 3))}⟧`;
}

/** Chooses by number: `plural(2, { one: 'machine', other: 'machines' })`. */
export function plural(count: number, forms: { readonly one: string; readonly other: string }): string {
  return new Intl.PluralRules('en').select(count) === 'one' ? forms.one : forms.other;
}
