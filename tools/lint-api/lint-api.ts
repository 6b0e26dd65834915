import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closed } from '../../api/http/openapi/json-schema.js';

const LIMIT_MS = 60_000;

export interface Linted {
  readonly passed: boolean;
  /** What the linter printed: each fault with its lines. */
  readonly output: string;
}

/**
 * Holds an OpenAPI document against the rules of redocly.yaml, by Redocly's linter, as narrow as this release answers. It
 * asks nothing of any network.
 * @throws Error when the linter can't be run, or does not end within a minute
 */
export function lintApi(document: object, projectDir: string): Linted {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-lint-api-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(closed(document), null, 2));
    const linter = join(projectDir, 'node_modules', '.bin', 'redocly');
    const config = ['--config', join(projectDir, 'redocly.yaml')];
    const run = spawnSync(linter, ['lint', 'openapi.json', ...config, '--format', 'codeframe'], {
      cwd: folder,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      encoding: 'utf8',
      timeout: LIMIT_MS,
    });
    if (run.error) throw run.error;
    return { passed: run.status === 0, output: `${run.stdout}${run.stderr}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
