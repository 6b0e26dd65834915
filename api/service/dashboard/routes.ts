import { noSuchRoute } from '../../http/not-found.js';
import type { ApiContext, ApiRouter } from '../../context.js';
import type { Step } from '../../http/middleware/session.js';
import { indexPath } from '../plain-pages.js';
import { dashboardPath, type DashboardFiles } from './files.js';
import { cardPolicy, dashboardPolicy, type PolicyFacts } from './policies.js';

/** The dashboard, as a service serves it. */
export interface ServedDashboard extends PolicyFacts {
  readonly files: DashboardFiles;
  /** Where browsers reach it, without a slash at the end. */
  readonly url: string;
}

/**
 * The dashboard's files and its two documents (decision 114, "The dashboard"). They say nothing of anybody and ask
 * nothing of the database, so that they stand outside of the limits of requests and of the API's description.
 */
export function dashboardRoutes(router: ApiRouter, dashboard: ServedDashboard): void {
  const { files } = dashboard;
  const index = under(dashboardPolicy(dashboard), files.index);
  // Pages of another address of this service could not make changes (decision 12, "Allowed origins").
  router.get(indexPath, (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.redirect(`${dashboard.url}${dashboardPath}`);
  });
  router.get('/login', index);
  router.get([dashboardPath, `${dashboardPath}/`], index);
  router.get(`${dashboardPath}/card`, under(cardPolicy(dashboard), files.card));
  router.get(`${dashboardPath}/*path`, showFileOr(files, index));
}

/**
 * A page's address is known to the dashboard alone, so each answers with the same document. What ends like a file is
 * one: a script that is there no longer must not be answered by a page.
 */
function showFileOr(files: DashboardFiles, index: Step): Step {
  return (ctx, next) => {
    const show = files.files.get(ctx.path);
    if (show) return show(ctx, next);
    if (looksLikeFile(ctx)) throw noSuchRoute(ctx.path, `The dashboard is at ${dashboardPath}`);
    return index(ctx, next);
  };
}

function looksLikeFile({ path }: ApiContext): boolean {
  return path.startsWith(`${dashboardPath}/assets/`) || /\.[^/]*$/.test(path);
}

function under(policy: string, show: Step): Step {
  return (ctx, next) => {
    ctx.set('Content-Security-Policy', policy);
    return show(ctx, next);
  };
}
