import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatted } from '../formatted.js';
import { readColumns, type Ask } from './catalog.js';
import { readDocs } from './docs.js';
import { makeRows } from './rows.js';

const steps = fileURLToPath(new URL('../../migrations/', import.meta.url));

/** The file that holds the types of all rows. */
export const rowsFile = fileURLToPath(new URL('../../adapters/postgres/rows/tables.ts', import.meta.url));

/** What the file should hold, by a database that is migrated to the newest step. */
export async function makeRowsFile(ask: Ask): Promise<string> {
  const texts = readdirSync(steps)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(`${steps}${name}`, 'utf8'));
  const made = makeRows(await readColumns(ask), readDocs(texts));
  return formatted(rowsFile, made);
}
