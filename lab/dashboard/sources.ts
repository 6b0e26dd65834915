import { createHash } from 'node:crypto';
import { hashOfFiles } from '../../adapters/hash-of-files.js';

/** What the built dashboard is made of, below the project's folder. */
const made = [
  'clients/dashboard',
  'clients/typescript/src',
  'clients/typescript/package.json',
  'package-lock.json',
  'tsconfig.json',
];

/** Folders that the build does not read. */
const skipped = new Set(['node_modules', 'dist']);

/**
 * Names what the dashboard would be built of now: the same for the same files, whenever they were written.
 * @param env the build reads its variables VITE_…
 */
export function sourcesOfDashboard(projectDir: string, env: NodeJS.ProcessEnv = {}): string {
  const told = Object.entries(env).filter(([name, value]) => name.startsWith('VITE_') && value !== undefined);
  return createHash('sha256')
    .update(hashOfFiles({ root: projectDir, paths: made, skipped }))
    .update(JSON.stringify(told.toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex');
}
