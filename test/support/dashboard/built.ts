import { fileURLToPath } from 'node:url';
import {
  buildDashboardIfChanged,
  dashboardFolderOf,
  type DashboardBuild,
} from '../../../lab/dashboard/build.js';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));

const building = new Map<DashboardBuild['mode'], Promise<unknown>>();

/**
 * Builds the dashboard, unless its sources are those of the build that is there.
 * @returns the folder of the build
 */
export async function buildDashboard(mode?: DashboardBuild['mode']): Promise<string> {
  const built = building.get(mode) ?? buildDashboardIfChanged({ projectDir, ...(mode && { mode }) });
  building.set(mode, built);
  await built;
  return dashboardFolderOf(projectDir, mode);
}
