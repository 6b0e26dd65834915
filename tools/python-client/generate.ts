import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closed } from '../../api/http/openapi/json-schema.js';
import type { ApiDocument } from './document.js';
import { writeOperations } from './operations.js';
import { writeRefusals } from './refusals.js';
import { withoutWaiting } from './sync.js';
import { TypeWriter } from './types.js';

/** The modules of _async that are written by hand. */
const WRITTEN = ['transport.py', 'stream.py', 'client.py'];

/**
 * Makes what the Python client does not write by hand. It needs no Python.
 * @param document the API's description
 * @param folder of the package `gpu_rental`
 * @returns the texts, by their paths in the folder
 */
export function generatePythonClient(document: object, folder: string): Map<string, string> {
  // The types hold the words that this release knows, so that a misspelt comparison is found; answers hold any word.
  const known = closed(document) as ApiDocument;
  const types = new TypeWriter((name) => `t.${name}`);
  const waiting = new Map([
    ['operations.py', writeOperations(known, types)],
    ...WRITTEN.map((name) => [name, readFileSync(join(folder, '_async', name), 'utf8')] as const),
  ]);
  return new Map([
    ['types.py', new TypeWriter().write(known.components.schemas)],
    ['refusals.py', writeRefusals(known)],
    ['_async/operations.py', waiting.get('operations.py') ?? ''],
    ...[...waiting].map(([name, text]) => [`_sync/${name}`, withoutWaiting(text, name)] as const),
  ]);
}
