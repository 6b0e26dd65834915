import { readDeclineWait } from '../../adapters/postgres/payments/declines.js';
import { createExactCount, type RequestCount } from '../../adapters/postgres/requests/request-counts.js';
import { inMinutes, SECOND } from '../../domain/durations.js';
import type { UserId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { publicClientOf } from '../http/middleware/client-address.js';

/** Counts a way to try a card that a user begins. @throws Refusal rate_limited, and nothing is begun */
export type CountCardTry = (ctx: Pick<ApiContext, 'ip'>, userId: UserId) => Promise<void>;

/**
 * Bounds the ways in which cards can be tried (decision 128, "Trying of cards"): forms, pages and charges that a user or
 * a public address begins in an hour, and cards of a user that banks declined in a day. All routes share the counters.
 */
export function countCardTries({ db, settings }: ApiDeps): CountCardTry {
  const { perHour, perHourOfAddress } = settings.cardTries;
  const windowMs = paymentLimits.cardTriesWindowMs;
  const ofUser = createExactCount(db, 'card-tries', perHour, windowMs);
  const ofAddress = createExactCount(db, 'card-tries-of-address', perHourOfAddress, windowMs);
  return async (ctx, userId) => {
    const waitS = await readDeclineWait(db, userId, paymentLimits.declinesPerDay);
    if (waitS > 0) throw refusal('Too many of your cards were declined today.', waitS);
    await take(ofUser, userId);
    const address = publicClientOf(ctx.ip);
    if (address !== undefined) await take(ofAddress, address);
  };
}

async function take(count: RequestCount, key: string): Promise<void> {
  const { allowed, resetMs } = await count.count(key);
  if (!allowed)
    throw refusal('You started too many payments or cards in the last hour.', Math.ceil(resetMs / 1_000));
}

function refusal(why: string, retryAfterSeconds: number): Refusal {
  return new Refusal(
    'rate_limited',
    `${why} Nothing happened. Try again in ${inMinutes(retryAfterSeconds * SECOND)}, or contact support.`,
    { reason: 'too_many_card_tries', retryAfterSeconds },
  );
}
