import { readdirSync, readFileSync } from 'node:fs';

/** A step of the schema: one file of SQL, which runs in one transaction. */
export interface Step {
  /** The file's name without its ending. Sources and a build agree on it, and databases keep it. */
  readonly name: string;
  readonly sql: string;
}

const stepFile = /^(\d{3})-[a-z0-9-]+\.sql$/;

/**
 * Reads the steps of a folder, in the order of their numbers.
 * @throws Error naming a file whose name has no number, or two files that have the same one
 */
export function readSteps(folder: URL): Step[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  const numbers = new Map<string, string>();
  return files.map((file) => {
    const number = stepFile.exec(file)?.[1];
    if (number === undefined)
      throw new Error(`${file}: a step is named by its number, such as 049-labels.sql`);
    const other = numbers.get(number);
    if (other !== undefined) throw new Error(`${other} and ${file} have the same number`);
    numbers.set(number, file);
    return { name: file.replace(/\.sql$/, ''), sql: readFileSync(new URL(file, folder), 'utf8') };
  });
}

/** All steps: the baseline, and what changed the schema since. A new one is a new file in this folder. */
export const steps: readonly Step[] = readSteps(new URL('.', import.meta.url));

/** The names of all steps: a database must have them for this code to work on it. */
export const schemaSteps: readonly string[] = steps.map(({ name }) => name);
