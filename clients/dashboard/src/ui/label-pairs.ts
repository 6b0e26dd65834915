/** Labels as a form has them: in the order in which they were typed, and perhaps not right yet. */
export interface LabelPair {
  /** Stays while the pair is edited. */
  readonly no: number;
  readonly key: string;
  readonly value: string;
}

export type Labels = Readonly<Record<string, string>>;

export const MAX_LABELS = 10;
const keyPattern = /^[a-z0-9][a-z0-9_.-]{0,62}$/;

/** The pairs of labels. */
export function pairsOf(labels: Labels): LabelPair[] {
  return Object.entries(labels).map(([key, value], no) => ({ no, key, value }));
}

/** What is wrong with a pair's key; undefined for a right one, and for a pair that is still empty. */
export function pairFault(
  { no, key, value }: LabelPair,
  pairs: readonly LabelPair[],
): 'key' | 'twice' | undefined {
  if (key === '' && value === '') return undefined;
  if (!keyPattern.test(key)) return 'key';
  return pairs.some((other) => other.no < no && other.key === key) ? 'twice' : undefined;
}

/** The labels of pairs; empty pairs are left out. @returns undefined while one of them is wrong */
export function labelsOf(pairs: readonly LabelPair[]): Labels | undefined {
  if (pairs.some((pair) => pairFault(pair, pairs) !== undefined)) return undefined;
  return Object.fromEntries(pairs.filter(({ key }) => key !== '').map(({ key, value }) => [key, value]));
}

/** Tells whether two sets of labels say the same. */
export function sameLabels(one: Labels, other: Labels): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
