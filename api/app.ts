import type Koa from 'koa';
import { auditRoutes } from './audit.js';
import { authRoutes } from './auth.js';
import { autoTopupRoutes } from './auto-topup.js';
import { billingRoutes } from './billing.js';
import { cardRoutes } from './card.js';
import { catalogRoutes } from './catalog.js';
import { checkoutRoutes } from './checkout.js';
import type { ApiDeps, ApiRouter, ApiState } from './context.js';
import { createFrame, createPlainRouter } from './frame.js';
import { explainRoutes } from './explain.js';
import { healthRoutes } from './health.js';
import { invoiceRoutes } from './invoices.js';
import { ledgerRoutes } from './ledger.js';
import { refuseChangesWhenRestored } from './middleware/restored.js';
import { limitRequests } from './middleware/request-limits.js';
import { oauthRoutes } from './oauth.js';
import { plainPageRoutes } from './plain-pages.js';
import { openApiRoutes } from './openapi.js';
import { rentalChargeRoutes } from './rental-charges.js';
import { rentalRoutes } from './rentals.js';
import { sshKeyRoutes } from './ssh-keys.js';
import { statementRoutes } from './statement.js';
import { webhookPath } from './webhook-path.js';
import { unreadWebhook, webhookRoutes } from './webhook.js';

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
  explainRoutes,
  statementRoutes,
  checkoutRoutes,
  cardRoutes,
  autoTopupRoutes,
  invoiceRoutes,
  webhookRoutes,
  auditRoutes,
  openApiRoutes,
  plainPageRoutes,
];

/** Every route; what a handler works with comes in by deps. */
export function createRouter(deps: ApiDeps): ApiRouter {
  const router = createPlainRouter();
  for (const addRoutes of resources) addRoutes(router, deps);
  return router;
}

/** The HTTP service. It opens and closes nothing: what it works with comes in by deps. */
export function createApp(deps: ApiDeps): Koa<ApiState, object> {
  const { log, settings } = deps;
  const { allowedOrigins, trustProxy, secureCookie } = settings;
  const first = [limitRequests(deps, [webhookPath]), refuseChangesWhenRestored(deps.db)];
  return createFrame(
    {
      ...{ log, allowedOrigins, trustProxy, overTls: secureCookie, first },
      rawPaths: [unreadWebhook(deps)],
      observeRequest: deps.observeRequest,
    },
    createRouter(deps),
  );
}
