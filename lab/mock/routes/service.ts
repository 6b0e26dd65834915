import { monitorPaths } from '../../../api/http/middleware/hosts.js';
import type { ApiRouter } from '../../../api/context.js';
import { openApiRoutes } from '../../../api/service/description.js';
import { indexPath, showIndex } from '../../../api/service/plain-pages.js';
import { processorEventsPath } from '../../../api/processor-events/path.js';
import { Refusal } from '../../../domain/refusal.js';

/** The routes for monitoring, and the service's description. The mock depends on nothing that could be away. */
export function serviceRoutes(router: ApiRouter): void {
  router.get(monitorPaths.alive, (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get(monitorPaths.ready, (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { status: 'ready', checks: { postgres: 'ok', schema: 'ok', temporal: 'ok', brakes: [] } };
  });
  // No processor knows the mock, so nobody can sign an event for it.
  router.post(processorEventsPath, () => {
    throw new Refusal('validation_failed', 'This is not a signed event of the payment processor.');
  });
  openApiRoutes(router);
  router.get(indexPath, showIndex);
}
