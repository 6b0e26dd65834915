/** So many letters may be wrong, missing, too many or swapped. */
const wrongAtMost = 2;

/** The words that somebody may have meant who wrote another one: those that it begins, else the closest ones. */
export function similarTo(given: string, words: readonly string[]): string[] {
  const lower = given.toLowerCase();
  const begun = words.filter((word) => lower !== '' && word.toLowerCase().startsWith(lower));
  if (begun.length > 0) return begun;
  const rated = words.map((word) => ({ word, distance: distanceOf(lower, word.toLowerCase()) }));
  const closest = Math.min(...rated.map(({ distance }) => distance));
  // Of a short word little is left when two letters are wrong.
  if (closest > wrongAtMost || closest * 2 > lower.length) return [];
  return rated.flatMap(({ word, distance }) => (distance === closest ? [word] : []));
}

/** Asks whether a similar word was meant; undefined where nothing is similar. */
export function guessOf(given: string, words: readonly string[]): string | undefined {
  return asked(similarTo(given, words));
}

/** "Did you mean a, b or c?"; undefined without a word. */
export function asked(similar: readonly string[]): string | undefined {
  const last = similar.at(-1);
  if (last === undefined) return undefined;
  const others = similar.slice(0, -1).join(', ');
  return `Did you mean ${others === '' ? last : `${others} or ${last}`}?`;
}

/** The optimal string alignment distance: letters that differ, are missing or too many, and neighbours that are swapped. */
function distanceOf(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j += 1) {
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      rows[i]?.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          isSwapped ? at(i - 2, j - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
