import { showStanding } from './describe-standing.js';
import { serve } from '../http/serve.js';
import { readStanding, type Standing } from '../../adapters/postgres/accounts/standing.js';
import { callerOf, type ApiDeps, type ApiRouter } from '../context.js';

/** How an account stands: what keeps it from renting and paying (decision 147, "What needs you"). */
export function standingRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, showStanding, async (ctx) =>
    presentStanding(await readStanding(deps.db, callerOf(ctx).userId)),
  );
}

export function presentStanding({ reversals, ...standing }: Standing) {
  return {
    ...standing,
    reversals: reversals.map(({ takenAt, ...reversal }) => ({ ...reversal, takenAt: takenAt.toISOString() })),
  };
}
