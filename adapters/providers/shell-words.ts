/** Writes words as one line that a shell reads as the same words. */
export function shellWords(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[A-Za-z0-9@%+=:,./_-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
