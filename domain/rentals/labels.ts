import { rentalLimits } from './limits.js';

/** The labels of a rental: a user's own words, by which statements are grouped (decision 105, "Changed rentals"). */
export type Labels = Readonly<Record<string, string>>;

/** The key of a label: 1 to 63 characters that need no quoting in a URL. */
export const labelKeyPattern = /^[a-z0-9][a-z0-9_.-]{0,62}$/;

/** One label as a filter names it, `key:value`; the value may hold colons, and may be empty. */
export interface Label {
  readonly key: string;
  readonly value: string;
}

/** Reads such a text. @returns undefined for any other */
export function readLabel(text: string): Label | undefined {
  const colon = text.indexOf(':');
  const [key, value] = [text.slice(0, colon), text.slice(colon + 1)];
  const fits = Array.from(value).length <= rentalLimits.labelValueMaxChars;
  return colon > 0 && labelKeyPattern.test(key) && fits ? { key, value } : undefined;
}

/** The labels by key: the order in which they are kept and shown, whatever the order in which they were sent. */
export function inOrder(labels: Labels): [key: string, value: string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}
