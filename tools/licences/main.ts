import { join } from 'node:path';
import { buildDashboardIfChanged, dashboardFolderOf } from '../../lab/dashboard/build.js';
import { readBundledPackages } from './bundled-packages.js';
import { licencePolicy } from './policy.js';
import { tellLicences } from './tell-licences.js';

/** `npm run licences` lists the licence of each package; `-- --brief`, as in `npm run check`, counts them. */
const projectDir = join(import.meta.dirname, '..', '..');
const brief = process.argv.includes('--brief');
await buildDashboardIfChanged({ projectDir });
const bundled = readBundledPackages(dashboardFolderOf(projectDir));
const isFine = tellLicences(projectDir, licencePolicy, (line) => console.log(line), { brief, bundled });
process.exitCode = isFine ? 0 : 1;
