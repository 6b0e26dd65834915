import { Router } from '@koa/router';
import Koa from 'koa';
import { auditRoutes } from './audit.js';
import { authRoutes } from './auth.js';
import { autoTopupRoutes } from './auto-topup.js';
import { billingRoutes } from './billing.js';
import { cardRoutes } from './card.js';
import { catalogRoutes } from './catalog.js';
import { checkoutRoutes } from './checkout.js';
import type { ApiDeps, ApiRouter, ApiState } from './context.js';
import { healthRoutes } from './health.js';
import { invoiceRoutes } from './invoices.js';
import { ledgerRoutes } from './ledger.js';
import { readBodies } from './middleware/body.js';
import { errors } from './middleware/errors.js';
import { allowOrigins, refuseForeignOrigins } from './middleware/origins.js';
import { requestId } from './middleware/request-id.js';
import { limitRequests } from './middleware/request-limits.js';
import { requestLog } from './middleware/request-log.js';
import { refuseUnrouted } from './middleware/routing.js';
import { securityHeaders } from './middleware/security-headers.js';
import { oauthRoutes } from './oauth.js';
import { openApiRoutes } from './openapi.js';
import { rentalChargeRoutes } from './rental-charges.js';
import { rentalRoutes } from './rentals.js';
import { sshKeyRoutes } from './ssh-keys.js';
import { statementRoutes } from './statement.js';
import { webhookPath, webhookRoutes } from './webhook.js';

/** Every resource of the API. */
const resources = [
  healthRoutes,
  authRoutes,
  oauthRoutes,
  sshKeyRoutes,
  catalogRoutes,
  rentalRoutes,
  rentalChargeRoutes,
  billingRoutes,
  ledgerRoutes,
  statementRoutes,
  checkoutRoutes,
  cardRoutes,
  autoTopupRoutes,
  invoiceRoutes,
  webhookRoutes,
  auditRoutes,
  openApiRoutes,
];

/** Every route; what a handler works with comes in by deps. */
export function createRouter(deps: ApiDeps): ApiRouter {
  const router: ApiRouter = new Router<ApiState>({ strict: true, sensitive: true });
  for (const addRoutes of resources) addRoutes(router, deps);
  return router;
}

/** The HTTP service. It opens and closes nothing: what it works with comes in by deps. */
export function createApp(deps: ApiDeps): Koa<ApiState, object> {
  const { log, settings } = deps;
  const app = new Koa<ApiState, object>({
    proxy: settings.trustProxy,
    // Only the last address of X-Forwarded-For is our own proxy's word; the ones before it are the caller's.
    maxIpsCount: 1,
  });
  // Failures of a connection itself: everything else ends in errors().
  app.on('error', (error: unknown) => log.warn({ err: error }, 'a connection failed'));
  app.use(requestId(log));
  app.use(requestLog());
  app.use(securityHeaders(settings.secureCookie));
  app.use(errors());
  app.use(allowOrigins(settings.allowedOrigins));
  app.use(limitRequests(deps, [webhookPath]));
  app.use(refuseForeignOrigins(settings.allowedOrigins));
  app.use(readBodies([webhookPath]));
  app.use(createRouter(deps).routes());
  app.use(refuseUnrouted());
  return app;
}
