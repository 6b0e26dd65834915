/** Whether an image starts as it was built, or what its renter says takes the place of its entrypoint. */
export const entrypointChoices = ['keep', 'replace'] as const;
export type EntrypointChoice = (typeof entrypointChoices)[number];

/**
 * Makes a container's start command of its words, as RunPod takes it: for the image's entrypoint, or in its place, which
 * is an object that names another one.
 */
export function startCommandOf(words: readonly string[], entrypoint: EntrypointChoice): string {
  if (entrypoint === 'keep') return shellWords(words);
  const [first, ...cmd] = words;
  return JSON.stringify({ entrypoint: [first], cmd });
}

interface StartWords {
  readonly args: readonly string[];
  readonly entrypoint: EntrypointChoice;
  readonly startScript: string | null;
}

/** Counts the characters of a renter's arguments in a start command, of which a script of theirs may be another part. */
export function argsCharsOf({ args, entrypoint, startScript }: StartWords): number {
  if (args.length === 0) return 0;
  return startScript === null
    ? startCommandOf(args, entrypoint).length
    : JSON.stringify(shellWords(args)).length;
}

/** Counts the characters of the lines by which a start script exports its variables. */
export function exportCharsOf(env: Readonly<Record<string, string>>): number {
  return Object.entries(env).reduce(
    (sum, [name, value]) => sum + `${exportLine(name, '')}\n`.length + base64CharsOf(bytesOf(value)),
    0,
  );
}

/** Makes the line by which a shell exports a variable, of its value in base64. */
export function exportLine(name: string, base64: string): string {
  return `export ${name}="$(${decodedWords(base64)})"`;
}

/** Makes the words by which a shell writes what is in base64. */
export function decodedWords(base64: string): string {
  return `printf %s '${base64}' | base64 -d`;
}

/** Counts the characters of so many bytes in base64. */
export function base64CharsOf(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Writes words as one line that a shell reads as the same words. */
export function shellWords(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[A-Za-z0-9@%+=:,./_-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
