import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const prefix = '.fetching-';
/** Longer than any download or build takes. */
const abandonedMs = 60 * 60_000;

/**
 * Makes something in a separate folder beside its place, and moves it there when it is whole, so that two makers at
 * once, or an interrupted one, leave nothing broken.
 * @param target the path that it shall have
 * @param make fetches or builds into the folder, and returns the path to move: something in the folder, or the folder
 * itself
 * @throws what `make` throws; nothing is left then
 */
export async function placeInCache(target: string, make: (folder: string) => Promise<string>): Promise<void> {
  const cacheDir = dirname(target);
  mkdirSync(cacheDir, { recursive: true });
  removeAbandoned(cacheDir);
  const folder = mkdtempSync(join(cacheDir, prefix));
  try {
    renameSync(await make(folder), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes the remains of makers that were killed midway. */
function removeAbandoned(cacheDir: string): void {
  for (const name of readdirSync(cacheDir).filter((entry) => entry.startsWith(prefix))) {
    const folder = join(cacheDir, name);
    const changedAtMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedAtMs > abandonedMs) rmSync(folder, { recursive: true, force: true });
  }
}
