import type { ApiDeps, ApiRouter } from '../context.js';
import type { ApiSettings } from '../settings.js';
import { readDashboard, type DashboardFiles } from './dashboard/files.js';
import { dashboardRoutes, type ServedDashboard } from './dashboard/routes.js';
import { plainPageRoutes } from './plain-pages.js';

/** What people see who open the service's address: the dashboard, or plain pages where it was not built. */
export function pageRoutes(router: ApiRouter, { dashboardFolder, settings }: ApiDeps): void {
  const dashboard = readDashboard(dashboardFolder);
  if (dashboard === undefined) plainPageRoutes(router);
  else dashboardRoutes(router, served(dashboard, settings));
}

/** The API may have an address of its own, beside the one at which it serves the dashboard. */
function served(files: DashboardFiles, settings: ApiSettings): ServedDashboard {
  const { publicUrl, dashboardUrl, billing } = settings;
  const { origin } = new URL(publicUrl);
  return {
    files,
    url: dashboardUrl,
    apiOrigin: origin === new URL(dashboardUrl).origin ? undefined : origin,
    takesCards: billing.enabled && billing.simulatorUrl === null,
  };
}
