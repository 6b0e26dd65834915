import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm run --silent sbom` prints what the service runs with, as CycloneDX. By itself `npm sbom --omit=dev` leaves out each
 * package that is also a development dependency of another workspace, so npm gets a project without either.
 */
const projectDir = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'sbom-'));
try {
  // npm names what it describes by the folder.
  const project = join(folder, 'gpu-rental');
  mkdirSync(project);
  copyFileSync(join(projectDir, 'package-lock.json'), join(project, 'package-lock.json'));
  const whole = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as Record<string, unknown>;
  const running = { ...whole, devDependencies: undefined, workspaces: undefined, overrides: undefined };
  writeFileSync(join(project, 'package.json'), JSON.stringify(running));
  npm(project, 'install', '--package-lock-only', '--offline', '--ignore-scripts', '--no-audit', '--no-fund');
  const format = ['--sbom-format=cyclonedx', '--sbom-type=application'];
  process.stdout.write(npm(project, 'sbom', '--package-lock-only', ...format));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @throws Error with npm's words */
function npm(cwd: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) throw new Error(`npm ${args[0]} ended with ${status ?? 'a signal'}: ${stderr.trim()}`);
  return stdout;
}
