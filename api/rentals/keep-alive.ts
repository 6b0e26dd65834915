import * as declared from './describe-keep-alive.js';
import { readClock } from '../../adapters/postgres/clock.js';
import { keepAlive, requireGuard } from '../../adapters/postgres/rentals/idle-guards.js';
import { findRental, type RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { createExactCount } from '../../adapters/postgres/requests/request-counts.js';
import { DAY, MINUTE } from '../../domain/durations.js';
import { Refusal } from '../../domain/refusal.js';
import { idleGuardLimits } from '../../domain/rentals/idle-guard.js';
import { callerOf, type ApiContext, type ApiDeps, type ApiRouter, type Caller } from '../context.js';
import { serve, type Handler } from '../http/serve.js';
import { fieldRefusal, readBody } from '../http/validation.js';
import { presentRental } from './present.js';
import { getRental, noSuchRental } from './get-rental.js';

const { keepAliveAheadMs, keepAlivesADay } = idleGuardLimits;

/** The route that keeps an idle machine alive: POST /v1/rentals/:id/keep-alive (decision 167, "The idle guard"). */
export function keepAliveRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.keepRentalAlive, keepRentalAlive(deps));
}

function keepRentalAlive(deps: ApiDeps): Handler<typeof declared.keepRentalAlive> {
  const { db } = deps;
  // The machine's own command counts here as well (machine_keep_alive).
  const asks = createExactCount(db, 'keep-alives', keepAlivesADay, DAY);
  return async (ctx) => {
    const asked = readUntil(ctx);
    const rental = await getRental(ctx, deps);
    const until = boundUntil(asked, await readClock(db));
    await requireGuard(db, rental.no);
    const { allowed, resetMs } = await asks.count(countedBy(callerOf(ctx), rental));
    if (!allowed) {
      throw new Refusal(
        'rate_limited',
        `This machine was kept alive ${keepAlivesADay} times in a day. Raise stopWhenIdleMinutes, or take the guard away.`,
        { retryAfterSeconds: Math.ceil(resetMs / 1_000) },
      );
    }
    await keepAlive(db, rental, until);
    const kept = await findRental(db, rental.user_id, rental.id);
    if (!kept) throw noSuchRental();
    return presentRental(kept);
  };
}

/** A key that did not open the machine has a count of its own, and leaves the owner's alone. */
function countedBy(caller: Caller, { id, api_key_id: openedBy }: RentalWithHealth): string {
  return caller.kind === 'key' && caller.keyId !== openedBy ? `${id}:${caller.keyId}` : id;
}

/** @throws Refusal validation_failed */
export function readUntil(ctx: ApiContext): Date {
  return readBody(ctx, declared.keepAliveSchema).until;
}

/**
 * Takes an instant up to a day ahead. One of up to a minute more is taken for a day: the asker's clock may be ahead.
 * @throws Refusal validation_failed for an instant that is over, or farther ahead
 */
export function boundUntil(until: Date, now: Date): Date {
  if (until <= now) throw fieldRefusal('until', 'until must be in the future');
  const latest = new Date(now.getTime() + keepAliveAheadMs);
  if (until <= latest) return until;
  if (until.getTime() <= latest.getTime() + MINUTE) return latest;
  throw fieldRefusal('until', `until must be ${latest.toISOString()} or earlier: a day ahead at most`);
}
