import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';
import { buildDashboardIfChanged, dashboardFolderOf } from '../../lab/dashboard/build.js';
import { faultsOf, loadsOf, tableOf, type Manifest } from './sizes.js';

/** `npm run size`: what the dashboard makes a browser load, page by page, against its budgets. */
const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const folder = dashboardFolderOf(projectDir);

await buildDashboardIfChanged({ projectDir });
const manifest = JSON.parse(readFileSync(join(folder, '.vite', 'manifest.json'), 'utf8')) as Manifest;
const loads = loadsOf(
  manifest,
  (file) => gzipSync(readFileSync(join(folder, file)), { level: constants.Z_BEST_COMPRESSION }).length,
);
console.log(tableOf(loads));
const faults = faultsOf(loads);
for (const fault of faults) console.error(`too large: ${fault}`);
if (faults.length > 0) process.exitCode = 1;
