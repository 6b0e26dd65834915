import { createHash } from 'node:crypto';
import { Refusal } from '../../domain/refusal.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import type { ApiContext } from '../context.js';
import { isKnownVersion } from '../http/known-version.js';
import { withoutBody } from '../http/serve.js';
import { keptFor } from '../../adapters/kept.js';

/**
 * Answers strangers where the service tells its prices (decision 162, "Public prices"): with one answer a minute for all of
 * them, which caches may keep for as long.
 * @param read reads what is told, for callers too; by the id of a family where it is of one
 */
export function toStrangers<Answer>(read: (of: string) => Promise<Answer>) {
  const kept = keptFor(new Map(), catalogLimits.publicPricesMs, async (of: string) => {
    const answer = await read(of);
    const version = createHash('sha256').update(JSON.stringify(answer)).digest('base64url');
    return { answer, version };
  });
  return async (ctx: ApiContext, of = ''): Promise<Answer | typeof withoutBody> => {
    const { answer, version } = await kept(of);
    return isKnownPrice(ctx, version) ? withoutBody : answer;
  };
}

/** Tells whether a stranger has this version of the prices already, and lets caches keep it for a minute. */
export function isKnownPrice(ctx: ApiContext, version: unknown): boolean {
  return isKnownVersion(ctx, version, `public, max-age=${catalogLimits.publicPricesMs / 1000}`);
}

/**
 * Refuses a filter to strangers: what they are told is the same for all.
 * @throws Refusal unauthorized
 */
export function refuseRegionOf(ctx: Pick<ApiContext, 'state'>, region: string | undefined): void {
  if (ctx.state.caller || region === undefined) return;
  throw new Refusal('unauthorized', 'Prices of a region are for users: sign in first, or leave region out.');
}
