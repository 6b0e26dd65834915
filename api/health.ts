import { listBrakes } from '../adapters/postgres/brakes.js';
import { listMissingSteps } from '../adapters/postgres/schema.js';
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

/**
 * Ready when Postgres and Temporal answer, and the schema is one that this code can work on. Brakes are shown, but the
 * service is up while one is pulled. Words only: what exactly is wrong stands in the log.
 */
function showReady(deps: ApiDeps): Step {
  return async (ctx) => {
    const [database, temporal] = await Promise.all([
      lookAtDatabase(deps),
      deps.temporal.isReachable(deps.settings.reachMs),
    ]);
    const ready = database.schema === 'ok' && temporal;
    ctx.status = ready ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      status: ready ? 'ready' : 'unavailable',
      checks: { ...database, temporal: temporal ? 'ok' : 'away' },
    };
  };
}

interface DatabaseLook {
  readonly postgres: 'ok' | 'away';
  /** behind: steps are missing, so migrate first. A schema that is ahead is one that old code still works on. */
  readonly schema: 'ok' | 'behind' | 'unknown';
  /** The kinds of brakes that are pulled (decision 37). */
  readonly brakes: readonly string[];
}

const away: DatabaseLook = { postgres: 'away', schema: 'unknown', brakes: [] };

/** One that does not answer in time is away: whoever asks must not wait as long as the pool would. */
async function lookAtDatabase({ db, log, settings, schemaSteps = [] }: ApiDeps): Promise<DatabaseLook> {
  const limit = { timer: undefined as NodeJS.Timeout | undefined };
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`the database did not answer within ${settings.reachMs} ms`);
    limit.timer = setTimeout(() => reject(error), settings.reachMs);
  });
  const answers = Promise.all([listMissingSteps(db, schemaSteps), listBrakes(db)]);
  try {
    const [missing, brakes] = await Promise.race([answers, late]);
    if (missing.length > 0) log.warn({ missing }, 'the schema is behind: migrate the database');
    return {
      postgres: 'ok',
      schema: missing.length === 0 ? 'ok' : 'behind',
      brakes: brakes.map((brake) => brake.kind),
    };
  } catch (error) {
    log.warn({ err: error }, 'the database can’t be asked');
    return away;
  } finally {
    clearTimeout(limit.timer);
    answers.catch(() => undefined);
  }
}
