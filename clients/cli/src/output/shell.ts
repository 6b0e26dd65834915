/** Writes a path for a POSIX shell: its signs stand for themselves, but for those of a pattern. */
export function shellPath(path: string): string {
  return path.replaceAll(/[\s!"#$&'();<>\\^`{|}]/g, (sign) => (sign === '\n' ? "'\n'" : `\\${sign}`));
}

/** Writes words as one line that a POSIX shell reads as those words. */
export function shellLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
}
