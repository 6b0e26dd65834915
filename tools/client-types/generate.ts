import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { closed } from '../../api/http/openapi/json-schema.js';

const LIMIT_MS = 60_000;

/**
 * Named schemas become types of their own, what has no fields is unknown and not an object without any, and a field with a
 * default may be left out.
 */
const SETTINGS = [
  '--root-types',
  '--root-types-no-schema-prefix',
  '--empty-objects-unknown',
  '--default-non-nullable=false',
];

/** Where the types of the client stand, from the root of the project. */
export const clientTypesPath = join('clients', 'typescript', 'src', 'schema.d.ts');

/**
 * Makes the types of the client of an OpenAPI document, by openapi-typescript, which the client's workspace brings. It
 * asks nothing of any network. The types hold the words that this release knows: TypeScript reads `'a' | string` as string
 * alone, and every misspelt comparison would pass.
 * @returns the text of schema.d.ts
 * @throws Error when the generator can't be run, fails, or does not end within a minute
 */
export function generateClientTypes(document: object, projectDir: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-client-types-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(closed(document)));
    const program = [generatorOf(projectDir), 'openapi.json', '--output', 'schema.d.ts', ...SETTINGS];
    const run = spawnSync(process.execPath, program, { cwd: folder, encoding: 'utf8', timeout: LIMIT_MS });
    if (run.error) throw run.error;
    if (run.status !== 0) throw new Error(`openapi-typescript failed: ${run.stdout}${run.stderr}`);
    return readFileSync(join(folder, 'schema.d.ts'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** npm may put the generator into the workspace or beside all other packages. */
function generatorOf(projectDir: string): string {
  const { resolve } = createRequire(join(projectDir, 'clients', 'typescript', 'package.json'));
  return join(dirname(resolve('openapi-typescript/package.json')), 'bin', 'cli.js');
}
