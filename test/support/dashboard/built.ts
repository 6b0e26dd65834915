import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildDashboardIfChanged, dashboardFolderOf } from '../../../lab/dashboard/build.js';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));
/** Where the build is left. */
export const builtFolder = dashboardFolderOf(projectDir);

let built: Promise<unknown> | undefined;

/**
 * Builds the dashboard, unless its sources are those of the build that is there.
 * @returns the folder of the build
 */
export async function buildDashboard(): Promise<string> {
  built ??= buildDashboardIfChanged({ projectDir });
  await built;
  return builtFolder;
}

/** A build in a folder of its own. */
export interface OwnBuild {
  readonly folder: string;
  remove(): void;
}

/** Builds with React's development version, which warns of what the other one lets pass: doubled keys, unknown attributes. */
export async function buildWithWarnings(): Promise<OwnBuild> {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-warns-'));
  const asked = ['--mode', 'development', '--outDir', folder, '--logLevel', 'error', '--emptyOutDir'];
  await promisify(execFile)(
    'npm',
    ['run', '--silent', 'build', '-w', '@gpu-rental/dashboard', '--', ...asked],
    {
      cwd: projectDir,
      env: { ...process.env, NODE_ENV: 'development' },
    },
  );
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
