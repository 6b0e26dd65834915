import type { ApiRouter } from '../../../api/context.js';
import { register, serve } from '../../../api/http/serve.js';
import * as declared from '../../../api/service/describe.js';
import { openApiRoutes } from '../../../api/service/description.js';
import { indexPath, showIndex } from '../../../api/service/plain-pages.js';
import { Refusal } from '../../../domain/refusal.js';
import { serveDeps } from '../signed-in.js';
import type { World } from '../world.js';

/** The routes for monitoring, and the service's description. The mock depends on nothing that could be away. */
export function serviceRoutes(router: ApiRouter, world: World): void {
  const deps = serveDeps(world);
  serve(router, deps, declared.showAlive, () => ({ status: 'ok' }));
  serve(router, deps, declared.showReady, (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    return { status: 'ready', checks: { postgres: 'ok', schema: 'ok', temporal: 'ok', brakes: [] } };
  });
  // No processor knows the mock, so nobody can sign an event for it.
  register(router, deps, declared.takeProcessorEvent, () => {
    throw new Refusal('validation_failed', 'This is not a signed event of the payment processor.');
  });
  openApiRoutes(router);
  router.get(indexPath, showIndex);
}
