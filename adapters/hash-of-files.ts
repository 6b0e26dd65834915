import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface HashedFiles {
  readonly root: string;
  /** Files, and folders with all below them; below the root. What is not there counts as nothing. */
  readonly paths: readonly string[];
  /** How the names of a folder's files end that count; all of them without it. */
  readonly ending?: string;
  /** Names of folders that do not count. */
  readonly skipped?: ReadonlySet<string>;
}

/**
 * Names files by what they hold: the same for the same files, whenever they were written, and another one for any other
 * name or byte.
 * @returns 64 hexadecimal digits
 */
export function hashOfFiles(files: HashedFiles): string {
  const paths = files.paths.flatMap((path) => filesIn(files, path));
  return hashOfContents(paths.map((path) => [path, readFileSync(join(files.root, path))] as const));
}

/**
 * The same for files that were read already.
 * @param beside what else the name depends on
 */
export function hashOfContents(
  files: Iterable<readonly [name: string, bytes: Uint8Array]>,
  beside = '',
): string {
  const hash = createHash('sha256').update(beside);
  for (const [name, bytes] of files) hash.update(`\0${name}\0${bytes.length}\0`).update(bytes);
  return hash.digest('hex');
}

function filesIn(files: HashedFiles, path: string): string[] {
  const { root, ending = '', skipped } = files;
  if (!existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const below = join(path, entry.name);
      if (entry.isDirectory()) return skipped?.has(entry.name) ? [] : filesIn(files, below);
      return entry.name.endsWith(ending) ? [below] : [];
    });
}
