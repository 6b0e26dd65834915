import type Koa from 'koa';
import { auditRoutes } from './accounts/audit.js';
import { authRoutes } from './accounts/auth.js';
import { budgetRoutes } from './spending/budget.js';
import { autoTopupRoutes } from './topups/auto-topup.js';
import { billingRoutes } from './wallet/billing.js';
import { cardRoutes } from './topups/card.js';
import { offerHistoryRoutes } from './catalog/history.js';
import { catalogRoutes } from './catalog/routes.js';
import { checkoutRoutes } from './topups/checkout.js';
import { receiptRoutes } from './topups/receipts.js';
import type { ApiDeps, ApiRouter, ApiState } from './context.js';
import { createFrame, createPlainRouter } from './http/frame.js';
import { eventRoutes } from './events/routes.js';
import { explainRoutes } from './wallet/explain.js';
import { healthRoutes } from './service/health.js';
import { invoiceRoutes } from './invoices/routes.js';
import { ledgerRoutes } from './wallet/ledger.js';
import { refuseUncalled } from './http/middleware/caller.js';
import { refuseChangesWhenRestored } from './http/middleware/restored.js';
import { limitRequests } from './http/middleware/request-limits.js';
import { oauthRoutes } from './accounts/oauth.js';
import { noticeRoutes } from './notices/routes.js';
import { unreadUnsubscribe, unsubscribeRoutes } from './notices/unsubscribe.js';
import { pageRoutes } from './service/pages.js';
import { openApiRoutes } from './service/description.js';
import { quoteRoutes } from './rentals/quotes.js';
import { changeRoutes } from './rentals/change.js';
import { rentalChargeRoutes } from './rentals/charges.js';
import { keepAliveRoutes } from './rentals/keep-alive.js';
import { telemetryRoutes } from './rentals/telemetry.js';
import { listRoutes } from './rentals/list.js';
import { endpointTokenRoutes } from './rentals/endpoint-token.js';
import { rentalRoutes } from './rentals/routes.js';
import { passkeyRoutes } from './accounts/passkeys.js';
import { passkeySignInRoutes } from './accounts/passkey-sign-in.js';
import { refreshProofRoutes } from './accounts/refresh-proof.js';
import { sessionRoutes } from './accounts/sessions.js';
import { apiKeyRoutes } from './api-keys/routes.js';
import { closingRoutes } from './accounts/closing.js';
import { exportRoutes } from './accounts/export.js';
import { sshKeyRoutes } from './accounts/ssh-keys.js';
import { proofRoutes } from './wallet/proof.js';
import { spendingRoutes } from './wallet/spending.js';
import { standingRoutes } from './wallet/standing.js';
import { statementRoutes } from './wallet/statement.js';
import { webhookRoutes } from './webhooks/routes.js';
import { processorEventsPath } from './processor-events/path.js';
import { unreadProcessorEvents, processorEventRoutes } from './processor-events/routes.js';

/** Every resource of the API. */
const resources = [
  healthRoutes,
  authRoutes,
  oauthRoutes,
  sessionRoutes,
  refreshProofRoutes,
  passkeyRoutes,
  passkeySignInRoutes,
  closingRoutes,
  exportRoutes,
  sshKeyRoutes,
  apiKeyRoutes,
  catalogRoutes,
  offerHistoryRoutes,
  quoteRoutes,
  rentalRoutes,
  endpointTokenRoutes,
  listRoutes,
  changeRoutes,
  rentalChargeRoutes,
  keepAliveRoutes,
  telemetryRoutes,
  billingRoutes,
  ledgerRoutes,
  explainRoutes,
  standingRoutes,
  statementRoutes,
  spendingRoutes,
  checkoutRoutes,
  receiptRoutes,
  cardRoutes,
  autoTopupRoutes,
  budgetRoutes,
  invoiceRoutes,
  proofRoutes,
  processorEventRoutes,
  webhookRoutes,
  auditRoutes,
  noticeRoutes,
  unsubscribeRoutes,
  eventRoutes,
  openApiRoutes,
  pageRoutes,
];

/** Makes every route; deps holds what the handlers work with. */
export function createRouter(deps: ApiDeps): ApiRouter {
  const router = createPlainRouter();
  for (const addRoutes of resources) addRoutes(router, deps);
  return router;
}

/** Makes the HTTP service. It opens and closes nothing: deps holds what it works with. */
export function createApp(deps: ApiDeps): Koa<ApiState, object> {
  const { log, settings } = deps;
  const { allowedOrigins, allowedHosts, dashboardUrl, supportContact, trustProxy, secureCookie } = settings;
  const first = [
    limitRequests(deps, [processorEventsPath]),
    refuseUncalled(),
    refuseChangesWhenRestored(deps.db),
  ];
  return createFrame(
    {
      log,
      allowedOrigins,
      trustProxy,
      hosts: allowedHosts,
      dashboardUrl,
      supportContact,
      overTls: secureCookie,
      first,
      rawPaths: [unreadProcessorEvents(deps), unreadUnsubscribe],
      observeRequest: deps.observeRequest,
    },
    createRouter(deps),
  );
}
