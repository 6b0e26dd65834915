import type { Middleware } from 'koa';
import type { Database } from '../../../adapters/postgres/database.js';
import { isDatabaseConfirmed } from '../../../adapters/postgres/restore/watermark.js';
import { Refusal } from '../../../domain/refusal.js';
import { isReading } from './safe-methods.js';

/**
 * Changes that a restored database takes: reconciling counts with the row of a stop, the processor's events are kept
 * until then, and signing in and out moves nothing (its mail waits).
 */
const taken = /^\/v1\/(auth\/.*|rentals\/[^/]+\/stop|billing\/processor\/webhook)$/;

/**
 * Refuses changes while the database may be behind what the service has done (decision 67, "Restored databases"). Reads
 * go on: they show what the database knows.
 */
export function refuseChangesWhenRestored(db: Database): Middleware {
  return async (ctx, next) => {
    const changes = !isReading(ctx.method) && ctx.path.startsWith('/v1/') && !taken.test(ctx.path);
    if (changes) await refuseWhenRestored(db);
    await next();
  };
}

/** Refuses what changes something, whatever its method. @throws Refusal temporarily_unavailable */
export async function refuseWhenRestored(db: Database): Promise<void> {
  if (await isDatabaseConfirmed(db)) return;
  throw new Refusal(
    'temporarily_unavailable',
    'The service is under repair and accepts no changes, so nothing happened. Your machines keep running. Try again later.',
  );
}
