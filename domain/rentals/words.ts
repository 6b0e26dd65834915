import type { Labels } from './labels.js';

/**
 * What a renter says about a rental in their own words (decision 138, "A renter’s own words"), by the names that the API,
 * `rental_requests` and, but for the labels, `rentals` have for them. null: nothing was said.
 */
export interface RentalWords {
  readonly name: string | null;
  readonly labels: Labels | null;
  readonly notes: string | null;
}

export const notesMaxChars = 500;

/** Of a rental about which nothing was said. */
export const noWords: RentalWords = { name: null, labels: null, notes: null };

const wordNames = Object.keys(noWords) as (keyof RentalWords)[];

/** Statements group by these, so they stay as they are from the final bill on. */
const billedWords = ['labels'] as const satisfies (keyof RentalWords)[];

/** Those that may change for ever. */
export const lastingWords = wordNames.filter((name) => !billedWords.some((billed) => billed === name));

/** The words among the fields of something: only those that it has. */
export function wordsOf(said: Partial<RentalWords>): Partial<RentalWords> {
  return Object.fromEntries(namesIn(said).map((name) => [name, said[name]]));
}

/** The names of the words that something has. */
export function namesIn(said: Partial<RentalWords>): (keyof RentalWords)[] {
  return wordNames.filter((name) => said[name] !== undefined);
}

/** Tells whether something has words that a final bill fixes. */
export function saysBilledWords(said: Partial<RentalWords>): boolean {
  return billedWords.some((name) => said[name] !== undefined);
}
