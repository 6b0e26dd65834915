import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  buildDashboardIfChanged,
  dashboardFolderOf,
  DashboardBuildError,
} from '../../../lab/dashboard/build.js';
import { sourcesOfDashboard } from '../../../lab/dashboard/sources.js';
import { until } from '../../support/until.js';

/** Stands in for Vite: it copies the one source, counts its runs, and fails or lasts as the source says. */
const vite = `
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const source = readFileSync('src/main.tsx', 'utf8');
const out = process.argv[process.argv.indexOf('--outDir') + 1];
mkdirSync(out, { recursive: true });
appendFileSync('../../runs.log', 'run\\n');
writeFileSync(out + '/index.html', source + (process.env.VITE_API_URL ?? ''));
if (source.includes('fault')) {
  console.error('\\x1b[31mUnexpected fault\\x1b[0m\\n    at somewhere (inside.js:1:1)');
  process.exit(1);
}
setTimeout(() => {}, source.includes('slow') ? 60_000 : 0);
`;

describe('the build of the dashboard', () => {
  let projectDir: string;

  beforeEach(() => {
    projectDir = mkdtempSync(join(tmpdir(), 'dashboard-build-'));
    write('clients/dashboard/package.json', '{}');
    write('clients/dashboard/node_modules/vite/package.json', '{"name":"vite"}');
    write('clients/dashboard/node_modules/vite/bin/vite.js', vite);
    write('clients/dashboard/src/main.tsx', 'first');
    write('clients/typescript/src/index.ts', 'export {};');
    write('package-lock.json', '{}');
  });
  afterEach(() => rmSync(projectDir, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(projectDir, path)), { recursive: true });
    writeFileSync(join(projectDir, path), text);
  }

  const build = (env: NodeJS.ProcessEnv = {}) => buildDashboardIfChanged({ projectDir, env });
  const shown = () => readFileSync(join(dashboardFolderOf(projectDir), 'index.html'), 'utf8');
  const runs = () => readFileSync(join(projectDir, 'runs.log'), 'utf8').split('\n').length - 1;
  const left = () => readdirSync(join(projectDir, 'dist'));

  it('is made once of the same sources, however new they look', async () => {
    assert.equal(await build(), 'built');
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(projectDir, 'clients/dashboard/src/main.tsx'), later, later);
    write('clients/dashboard/node_modules/.vite/cache.json', 'not a source');
    assert.equal(await build(), 'unchanged');
    assert.deepEqual([runs(), shown(), left()], [1, 'first', ['dashboard']]);
  });

  it('is made again when a source, the client, the packages or what it is told has changed', async () => {
    await build();
    for (const path of [
      'clients/dashboard/src/main.tsx',
      'clients/dashboard/public/new.svg',
      'clients/typescript/src/index.ts',
      'package-lock.json',
    ]) {
      if (existsSync(join(projectDir, path))) appendFileSync(join(projectDir, path), ' ');
      else write(path, 'new');
      assert.equal(await build(), 'built', path);
    }
    assert.equal(await build({ VITE_API_URL: 'https://api.example' }), 'built');
    assert.equal(shown(), 'first https://api.example');
    assert.equal(await build({ VITE_API_URL: 'https://api.example', OTHER: 'x' }), 'unchanged');
  });

  it('is made again where something else was built over it', async () => {
    await build();
    rmSync(join(dashboardFolderOf(projectDir), '.built'));
    assert.equal(await build(), 'built');
  });

  it('says why it failed, and leaves the one before', async () => {
    await build();
    write('clients/dashboard/src/main.tsx', 'a fault');
    await assert.rejects(build(), (error: Error) => {
      assert.ok(error instanceof DashboardBuildError);
      assert.equal(error.message, 'The dashboard could not be built:\n  | Unexpected fault');
      return true;
    });
    assert.deepEqual([shown(), left()], ['first', ['dashboard']]);
  });

  it('says what to do where Vite is missing', async () => {
    rmSync(join(projectDir, 'clients/dashboard/node_modules'), { recursive: true });
    await assert.rejects(build(), /Vite is not installed. Run "npm ci"/);
  });

  it('is made by one of several that want it', async () => {
    const ends = await Promise.all([build(), build(), build()]);
    assert.deepEqual(ends.toSorted(), ['built', 'unchanged', 'unchanged']);
    assert.equal(runs(), 1);
  });

  it('does not wait for one who died', async () => {
    write('dist/dashboard.lock', '999999999 dead');
    assert.equal(await build(), 'built');
    assert.deepEqual(left(), ['dashboard']);
  });

  it('is given up when it is asked to, and leaves nothing', async () => {
    write('clients/dashboard/src/main.tsx', 'slow');
    const stopping = new AbortController();
    const building = buildDashboardIfChanged({ projectDir, env: {}, signal: stopping.signal });
    await until('the build to begin', () => existsSync(join(projectDir, 'runs.log')));
    stopping.abort(new Error('no longer wanted'));
    await assert.rejects(building, /no longer wanted/);
    assert.deepEqual(left(), []);
  });

  it('tells files apart by name and end', () => {
    const before = sourcesOfDashboard(projectDir);
    write('clients/dashboard/src/main.tsx', 'firs');
    write('clients/dashboard/src/main.tsy', 't');
    assert.notEqual(sourcesOfDashboard(projectDir), before);
  });
});
