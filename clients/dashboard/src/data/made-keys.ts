/**
 * The keys whose private half this browser has made or was given, and saved: their files' names, so that commands can
 * name them. No part of a key is kept.
 */
export interface MadeKey {
  readonly userId: string;
  /** The id of the key. */
  readonly id: string;
  /** The name of the file, such as laptop.pem. */
  readonly file: string;
  /** ISO 8601: machines that are rented later let it in. */
  readonly createdAt: string;
}

const NAME = 'made-keys';
const MOST = 20;

/** Notes a key once its file was saved; the same one once. */
export function noteMadeKey(made: MadeKey): void {
  try {
    const others = readMadeKeys().filter(({ id }) => id !== made.id);
    localStorage.setItem(NAME, JSON.stringify([...others, made].slice(-MOST)));
  } catch {
    // Without storage commands name no file.
  }
}

/** The file of the newest key of a user that a machine lets in which began then; undefined for none. */
export function madeKeyFile(userId: string, startedAt: string): string | undefined {
  return readMadeKeys()
    .filter((made) => made.userId === userId && made.createdAt <= startedAt)
    .sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1))
    .at(-1)?.file;
}

function readMadeKeys(): MadeKey[] {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? '[]') as unknown;
    return Array.isArray(kept) ? kept.filter(isMadeKey) : [];
  } catch {
    return [];
  }
}

/** The file stands in a command that is copied into a shell: it is a plain name. */
function isMadeKey(value: unknown): value is MadeKey {
  const { userId, id, file, createdAt } = Object(value) as Readonly<Record<keyof MadeKey, unknown>>;
  return (
    [userId, id, createdAt].every((text) => typeof text === 'string') &&
    typeof file === 'string' &&
    /^[a-z0-9][a-z0-9-]*\.pem$/.test(file)
  );
}
