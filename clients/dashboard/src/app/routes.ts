import { isApiError } from '@gpu-rental/client';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { meQuery } from '../data/account.js';
import { queryClient } from '../data/query-client.js';
import { endReason } from '../data/session-end.js';
import { readActivitySearch } from '../pages/activity/search.js';
import { readBillingSearch } from '../pages/billing/search.js';
import { readInvoicesSearch } from '../pages/invoices/search.js';
import { readKeysSearch } from '../pages/keys/search.js';
import { readRentalSearch } from '../pages/rentals/rental-search.js';
import { readLedgerSearch } from '../pages/ledger/search.js';
import { readLoginSearch } from '../pages/login/search.js';
import { readFamilySearch, readRentSearch } from '../pages/rent/search.js';
import { readRentalsSearch } from '../pages/rentals/search.js';
import { readWebhookSearch } from '../pages/webhooks/search.js';
import { readStatementsSearch } from '../pages/statements/search.js';
import { Layout } from './layout.js';
import { ErrorAnywhere, PageError, PagePending } from './states.js';

type Search = Readonly<Record<string, unknown>>;

/** Drops what a page's reader does not know: the router would hand it on as it stands in the address. */
const only =
  <T extends object>(read: (search: Search) => T) =>
  (search: Search): T => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });

const NotFound = lazyRouteComponent(() => import('./not-found.js'), 'NotFound');
const NotFoundAnywhere = lazyRouteComponent(() => import('./not-found.js'), 'NotFoundAnywhere');

/** Every address of the dashboard. Pages are loaded when they are first looked at. */
const root = createRootRouteWithContext<{ readonly queryClient: typeof queryClient }>()({
  notFoundComponent: NotFoundAnywhere,
});

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: only(readLoginSearch),
  component: lazyRouteComponent(() => import('../pages/login/login-page.js'), 'LoginPage'),
});

/** All that needs somebody signed in. */
const app = createRoute({
  getParentRoute: () => root,
  path: '/app',
  component: Layout,
  notFoundComponent: NotFound,
  // Until it is known who is signed in, the outline in the document stays.
  pendingComponent: () => null,
  errorComponent: ErrorAnywhere,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.query({ ...meQuery, staleTime: 'static' });
    } catch (error) {
      if (!isApiError(error, 'unauthorized')) throw error;
      const ended = endReason();
      const search = { returnTo: location.href, ...(ended !== undefined && { error: ended }) };
      throw redirect({ to: '/login', search, replace: true });
    }
  },
});

const home = createRoute({
  getParentRoute: () => app,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home/home-page.js'), 'HomePage'),
});
const rent = createRoute({
  getParentRoute: () => app,
  path: '/rent',
  validateSearch: only(readRentSearch),
  component: lazyRouteComponent(() => import('../pages/rent/rent-page.js'), 'RentPage'),
});
const family = createRoute({
  getParentRoute: () => app,
  path: '/rent/$familyId',
  validateSearch: only(readFamilySearch),
  component: lazyRouteComponent(() => import('../pages/rent/family-page.js'), 'FamilyPage'),
});
const rentals = createRoute({
  getParentRoute: () => app,
  path: '/rentals',
  validateSearch: only(readRentalsSearch),
  component: lazyRouteComponent(() => import('../pages/rentals/rentals-page.js'), 'RentalsPage'),
});
const rental = createRoute({
  getParentRoute: () => app,
  path: '/rentals/$rentalId',
  validateSearch: only(readRentalSearch),
  component: lazyRouteComponent(() => import('../pages/rentals/rental-page.js'), 'RentalPage'),
});
const billing = createRoute({
  getParentRoute: () => app,
  path: '/billing',
  validateSearch: only(readBillingSearch),
  component: lazyRouteComponent(() => import('../pages/billing/billing-page.js'), 'BillingPage'),
});
const ledger = createRoute({
  getParentRoute: () => app,
  path: '/ledger',
  validateSearch: only(readLedgerSearch),
  component: lazyRouteComponent(() => import('../pages/ledger/ledger-page.js'), 'LedgerPage'),
});
const statements = createRoute({
  getParentRoute: () => app,
  path: '/statements',
  validateSearch: only(readStatementsSearch),
  component: lazyRouteComponent(() => import('../pages/statements/statements-page.js'), 'StatementsPage'),
});
const invoices = createRoute({
  getParentRoute: () => app,
  path: '/invoices',
  validateSearch: only(readInvoicesSearch),
  component: lazyRouteComponent(() => import('../pages/invoices/invoices-page.js'), 'InvoicesPage'),
});
const budget = createRoute({
  getParentRoute: () => app,
  path: '/budget',
  component: lazyRouteComponent(() => import('../pages/budget/budget-page.js'), 'BudgetPage'),
});
const keys = createRoute({
  getParentRoute: () => app,
  path: '/keys',
  validateSearch: only(readKeysSearch),
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.js'), 'KeysPage'),
});
const apiKeys = createRoute({
  getParentRoute: () => app,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('../pages/api-keys/api-keys-page.js'), 'ApiKeysPage'),
});
const webhooks = createRoute({
  getParentRoute: () => app,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../pages/webhooks/webhooks-page.js'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => app,
  path: '/webhooks/$webhookId',
  validateSearch: only(readWebhookSearch),
  component: lazyRouteComponent(() => import('../pages/webhooks/webhook-page.js'), 'WebhookPage'),
});
const sessions = createRoute({
  getParentRoute: () => app,
  path: '/sessions',
  component: lazyRouteComponent(() => import('../pages/sessions/sessions-page.js'), 'SessionsPage'),
});
const notices = createRoute({
  getParentRoute: () => app,
  path: '/notices',
  component: lazyRouteComponent(() => import('../pages/notices/notices-page.js'), 'NoticesPage'),
});
const activity = createRoute({
  getParentRoute: () => app,
  path: '/activity',
  validateSearch: only(readActivitySearch),
  component: lazyRouteComponent(() => import('../pages/activity/activity-page.js'), 'ActivityPage'),
});
const account = createRoute({
  getParentRoute: () => app,
  path: '/account',
  component: lazyRouteComponent(() => import('../pages/account/account-page.js'), 'AccountPage'),
});

const pages = [
  ...[home, rent, family, rentals, rental, billing, ledger, statements, invoices, budget],
  ...[keys, apiKeys, webhooks, webhook, sessions, notices, activity, account],
] as const;

export const router = createRouter({
  routeTree: root.addChildren([login, app.addChildren(pages)]),
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultErrorComponent: PageError,
  defaultPendingComponent: PagePending,
  defaultNotFoundComponent: NotFound,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
