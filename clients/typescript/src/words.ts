/**
 * Looks up a word of an answer. Its list is open: a newer service may answer words that this release does not know.
 * @returns undefined for such a word
 */
export function lookUp<Known>(known: Readonly<Record<string, Known>>, word: string): Known | undefined {
  return Object.hasOwn(known, word) ? known[word] : undefined;
}

/** A word of an answer as people read it: by the given words, and an unknown one as it is, with spaces. */
export function wordOf(known: Readonly<Record<string, string>>, word: string): string {
  return lookUp(known, word) ?? word.replaceAll('_', ' ');
}
