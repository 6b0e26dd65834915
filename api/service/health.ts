import { readReadiness, type Readiness } from '../../adapters/postgres/schema.js';
import type { ApiDeps, ApiRouter } from '../context.js';
import { monitorPaths } from '../http/middleware/hosts.js';
import type { Step } from '../http/middleware/session.js';
import { shareLook } from '../../adapters/kept.js';
import { within } from '../../adapters/within.js';

/** The routes for monitors: outside /v1 and the session (decision 2, "Shape of an error"). */
export function healthRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get(monitorPaths.alive, showAlive());
  router.get(monitorPaths.ready, showReady(deps));
}

function showAlive(): Step {
  return (ctx) => {
    ctx.body = { status: 'ok' };
    return Promise.resolve();
  };
}

/**
 * Answers "ready" when Postgres and Temporal answer, and this code can work on the schema. Without Temporal it is
 * "degraded": reads, sign-in and stops work, so a balancer must go on sending requests. A database that only reads is
 * told, and is not ready: it is a standby, and another process may reach the primary. Brakes are shown, but the
 * service is up while one is pulled. The answer has words only: the log holds the exact fault.
 * All callers share one look, for a moment: a stranger who asks a thousand times a second takes one connection.
 */
function showReady(deps: ApiDeps): Step {
  const looks = new Looks(deps);
  const look = shareLook(deps.settings.readyKeptMs, () => looks.look());
  return async (ctx) => {
    const { database, temporal } = await look();
    const isUp = database.schema === 'ok' && database.postgres === 'ok';
    ctx.status = isUp ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      status: !isUp ? 'unavailable' : temporal ? 'ready' : 'degraded',
      checks: { ...database, temporal: temporal ? 'ok' : 'away' },
    };
  };
}

interface DatabaseLook {
  readonly postgres: 'ok' | 'away' | 'read_only';
  /** behind: steps are missing, so migrate first. Old code still works on a schema that is ahead. */
  readonly schema: 'ok' | 'behind' | 'unknown';
  /** The kinds of brakes that are pulled (decision 37, "Brakes and the watermark"). */
  readonly brakes: readonly string[];
}

interface Look {
  readonly database: DatabaseLook;
  readonly temporal: boolean;
}

const away: DatabaseLook = { postgres: 'away', schema: 'unknown', brakes: [] };

/** One look at a time, and one statement. */
class Looks {
  #reading: Promise<Readiness> | undefined;

  constructor(private readonly deps: ApiDeps) {}

  async look(): Promise<Look> {
    const { temporal, settings } = this.deps;
    const [database, reachable] = await Promise.all([
      this.#lookAtDatabase(),
      temporal.isReachable(settings.reachMs),
    ]);
    return { database, temporal: reachable };
  }

  /** A database that does not answer in time is away: nobody must wait as long as the pool would. */
  async #lookAtDatabase(): Promise<DatabaseLook> {
    const { log, settings } = this.deps;
    const late = (): Error => new Error(`the database did not answer within ${settings.reachMs} ms`);
    try {
      const { missing, brakes, isReadOnly } = await within(settings.reachMs, this.#read(), late);
      if (missing.length > 0) log.warn({ missing }, 'the schema is behind: migrate the database');
      return {
        postgres: isReadOnly ? 'read_only' : 'ok',
        schema: missing.length === 0 ? 'ok' : 'behind',
        brakes,
      };
    } catch (error) {
      log.warn({ err: error }, 'the database can’t be asked');
      return away;
    }
  }

  /** A look that was given up is still under way: no other begins beside it. */
  #read(): Promise<Readiness> {
    if (this.#reading === undefined) {
      const reading = readReadiness(this.deps.db, this.deps.schemaSteps ?? []);
      this.#reading = reading;
      const end = (): void => {
        this.#reading = undefined;
      };
      reading.then(end, end);
    }
    return this.#reading;
  }
}
