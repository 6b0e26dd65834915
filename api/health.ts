import { listBrakes } from '../adapters/postgres/brakes.js';
import type { ApiDeps, ApiRouter } from './context.js';
import type { Step } from './middleware/session.js';

/** For what watches the service: outside /v1 and the session (decision 2). */
export function healthRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/healthz', showAlive());
  router.get('/readyz', showReady(deps));
}

function showAlive(): Step {
  return (ctx) => {
    ctx.body = { status: 'ok' };
    return Promise.resolve();
  };
}

/** Ready when Postgres and Temporal answer. Brakes are shown, but the service is up while one is pulled. */
function showReady(deps: ApiDeps): Step {
  return async (ctx) => {
    const [brakes, temporal] = await Promise.all([
      pulledBrakes(deps),
      deps.temporal.isReachable(deps.settings.reachMs),
    ]);
    const ready = brakes !== null && temporal;
    ctx.status = ready ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      status: ready ? 'ready' : 'unavailable',
      checks: {
        postgres: brakes === null ? 'away' : 'ok',
        temporal: temporal ? 'ok' : 'away',
        brakes: brakes ?? [],
      },
    };
  };
}

/** The kinds of brakes that are pulled (decision 37); null when the database can't be asked. */
async function pulledBrakes(deps: ApiDeps): Promise<string[] | null> {
  try {
    return (await listBrakes(deps.db)).map((brake) => brake.kind);
  } catch (error) {
    deps.log.warn({ err: error }, 'the database can’t be asked');
    return null;
  }
}
