import assert from 'node:assert/strict';
import { createRouter } from '../../../api/app.js';
import type { ApiDeps } from '../../../api/context.js';
import { defaultSettings } from '../../../api/settings.js';
import type { Access } from '../../../api/context.js';
import { describedOperations } from '../../support/http/described.js';

/** Who may call each route under /v1 besides its public ones: a new one is decided here (decision 108, "API keys"). */
const expected: Readonly<Record<Access, readonly string[]>> = {
  read: [
    'GET /v1/audit',
    'GET /v1/auth/me',
    'GET /v1/catalog/families',
    'GET /v1/catalog/families/:id/history',
    'GET /v1/catalog/listings',
    'GET /v1/catalog/templates',
    'GET /v1/events',
    'GET /v1/events/stream',
    'GET /v1/notices',
    'GET /v1/rentals',
    'GET /v1/rentals/:id',
    'GET /v1/rentals/:id/charges',
    'GET /v1/rentals/:id/meter',
    'GET /v1/rentals/:id/telemetry',
    'GET /v1/ssh-keys',
    'GET /v1/webhooks',
    'GET /v1/webhooks/:id',
    'GET /v1/webhooks/:id/deliveries',
  ],
  rentals: [
    'GET /v1/rentals/:id/endpoints/:name/token',
    'PATCH /v1/rentals/:id',
    'POST /v1/quotes',
    'POST /v1/rentals',
    'POST /v1/rentals/:id/keep-alive',
    'POST /v1/rentals/:id/stop',
  ],
  billing: [
    'GET /v1/billing/auto-topup',
    'GET /v1/billing/balance',
    'GET /v1/billing/budget',
    'GET /v1/billing/card',
    'GET /v1/billing/config',
    'GET /v1/billing/details',
    'GET /v1/billing/invoices',
    'GET /v1/billing/invoices/:id',
    'GET /v1/billing/invoices/:id/pay-url',
    'GET /v1/billing/ledger',
    'GET /v1/billing/ledger.csv',
    'GET /v1/billing/ledger/:id/explain',
    'GET /v1/billing/proof',
    'GET /v1/billing/spending',
    'GET /v1/billing/standing',
    'GET /v1/billing/statement',
    'GET /v1/billing/topups',
    'GET /v1/billing/topups/:id',
    'GET /v1/billing/topups/:id/receipt',
    'POST /v1/billing/checkout',
  ],
  setup: [
    'DELETE /v1/ssh-keys/:id',
    'DELETE /v1/webhooks/:id',
    'PATCH /v1/webhooks/:id',
    'POST /v1/ssh-keys',
    'POST /v1/webhooks',
    'POST /v1/webhooks/:id/rotate-secret',
    'PUT /v1/billing/budget',
  ],
  session: [
    'DELETE /v1/api-keys/:id',
    'DELETE /v1/auth/passkeys/:id',
    'DELETE /v1/auth/sessions/:id',
    'DELETE /v1/billing/card',
    'GET /v1/account/closing',
    'GET /v1/account/export',
    'GET /v1/api-keys',
    'GET /v1/api-keys/:id',
    'GET /v1/auth/passkeys',
    'GET /v1/auth/sessions',
    'PATCH /v1/api-keys/:id',
    'PATCH /v1/auth/passkeys/:id',
    'POST /v1/account/close',
    'POST /v1/api-keys',
    'POST /v1/auth/logout',
    'POST /v1/auth/passkey-proof',
    'POST /v1/auth/passkey-proof/begin',
    'POST /v1/auth/passkeys',
    'POST /v1/auth/passkeys/begin',
    'POST /v1/auth/refresh-proof',
    'POST /v1/auth/sessions/end-others',
    'POST /v1/billing/setup-intent',
    'POST /v1/webhooks/:id/ping',
    'POST /v1/webhooks/:id/redeliver',
    'PUT /v1/billing/auto-topup',
    'PUT /v1/billing/details',
    'PUT /v1/notices',
  ],
};

/** Routes that need nobody. */
const open = [
  'GET /',
  'GET /app/billing',
  'GET /docs',
  'GET /docs/:file',
  'GET /healthz',
  'GET /readyz',
  'GET /v1/auth/oauth/:provider/callback',
  'GET /v1/auth/oauth/:provider/start',
  'GET /v1/auth/providers',
  'GET /v1/ledger/roots',
  'GET /v1/notices/unsubscribe',
  'GET /v1/openapi.json',
  'POST /v1/auth/passkey-sign-in',
  'POST /v1/auth/passkey-sign-in/begin',
  'POST /v1/auth/request-code',
  'POST /v1/auth/verify-code',
  'POST /v1/billing/processor/webhook',
  'POST /v1/notices/unsubscribe',
];

describe('who may call a route', () => {
  const router = createRouter({ settings: defaultSettings } as ApiDeps);
  const routes = router.stack.flatMap(({ methods, path, stack }) =>
    methods
      .filter((method) => method !== 'HEAD')
      .map((method) => {
        const guards = stack.flatMap((step) => ('access' in step ? [step.access as Access] : []));
        return { route: `${method} ${String(path)}`, guards };
      }),
  );

  it('is decided for every one', () => {
    for (const { route, guards } of routes) assert.ok(guards.length <= 1, `${route} has several guards`);
    const byAccess = (access: Access | undefined): string[] =>
      routes.flatMap(({ route, guards }) => (guards[0] === access ? [route] : [])).toSorted();
    for (const [access, list] of Object.entries(expected))
      assert.deepEqual(byAccess(access as Access), list, access);
    assert.deepEqual(byAccess(undefined), open);
  });

  it('is described as it is', () => {
    const operations = describedOperations();
    // In test/api/catalog/public-prices.test.ts.
    const tellPrices = ['GET /v1/catalog/families', 'GET /v1/catalog/families/:id/history'];
    for (const { route, guards } of routes) {
      const [method = '', path = ''] = route.split(' ');
      const described = operations.get(`${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
      const [access] = guards;
      const sid = access === undefined ? [] : [{ sid: [] }];
      const key = access === undefined || access === 'session' ? [] : [{ key: [access] }];
      const nobody = tellPrices.includes(route) ? [{}] : [];
      assert.deepEqual(described?.security, [...sid, ...key, ...nobody], route);
    }
  });
});
