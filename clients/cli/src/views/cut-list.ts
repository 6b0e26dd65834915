/** The rows of a list that are shown. */
export interface CutList<Row> {
  readonly rows: readonly Row[];
  /** Said below the rows; empty where all of them are shown. */
  readonly words: readonly string[];
  /** The same, for programs: nothing where all of them are shown. */
  readonly more: { readonly hasMore?: true; readonly total?: number };
}

/** Shows the first rows of a list that was read as a whole. */
export function cutRows<Row>(all: readonly Row[], limit: number): CutList<Row> {
  const total = all.length;
  if (total <= limit) return { rows: all, words: [], more: {} };
  const words = [`${limit} of ${total} shown. To see all: --limit ${total}`];
  return { rows: all.slice(0, limit), words, more: { hasMore: true, total } };
}

/** Reads the first rows of a list, and whether there are more. */
export async function readCut<Row>(
  list: { toArray(max: number): Promise<Row[]> },
  limit: number,
): Promise<CutList<Row>> {
  return cutFirst(await list.toArray(limit + 1), limit);
}

/** The same, of rows that were read up to one more than are shown. */
export function cutFirst<Row>(found: readonly Row[], limit: number): CutList<Row> {
  if (found.length <= limit) return { rows: found, words: [], more: {} };
  const words = [`The first ${limit} shown. To see more: --limit ${2 * limit}`];
  return { rows: found.slice(0, limit), words, more: { hasMore: true } };
}

/** One row more than is shown tells whether the list is cut. */
export function pageFor(limit: number): number {
  return Math.min(200, limit + 1);
}
