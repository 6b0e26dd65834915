import { DAY } from '../../domain/durations.js';
import * as declared from './describe-spending.js';
import {
  readSpending,
  type Spending,
  type SpendingSum,
} from '../../adapters/postgres/ledger/spending-reads.js';
import { groupedBy } from '../../domain/grouped.js';
import { spendingLimits } from '../../domain/spending/limits.js';
import { callerOf, type ApiDeps, type ApiRouter } from '../context.js';
import { serve, type Handler } from '../http/serve.js';
import { fieldRefusal, readQuery } from '../http/validation.js';
import { refuseUnordered } from './statement.js';

/** The route of a wallet's spending by day and rental: GET /v1/billing/spending. */
export function spendingRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showSpending, showSpending(deps));
}

function showSpending(deps: ApiDeps): Handler<typeof declared.showSpending> {
  return async (ctx) => {
    const query = readQuery(ctx, declared.spendingQuery);
    refuseWrongDays(query);
    return presentSpending(query, await readSpending(deps.db, callerOf(ctx).userId, query));
  };
}

/** Refuses instants in the wrong order or too far apart. @throws Refusal validation_failed */
export function refuseWrongDays({ from, to }: declared.SpendingQuery): void {
  refuseUnordered(from, to);
  const { toldDays } = spendingLimits;
  if (to.getTime() - from.getTime() > toldDays * DAY) {
    throw fieldRefusal('to', `to may be at most ${toldDays} days after from`);
  }
}

/** A wallet's spending on read. */
export function presentSpending({ from, to }: declared.SpendingQuery, spending: Spending) {
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    openingBalanceCents: spending.openingBalanceCents,
    days: [...groupedBy(spending.sums, ({ day }) => day.toISOString())].map(presentDay),
    closingBalanceCents: spending.closingBalanceCents,
  };
}

function presentDay([from, sums]: readonly [string, readonly SpendingSum[]]) {
  const all = (of: (sum: SpendingSum) => number): number => sums.reduce((total, sum) => total + of(sum), 0);
  const others = sums.find(({ rental, rentals }) => rental === null && rentals > 0);
  return {
    from,
    entries: all(({ entries }) => entries),
    chargedCents: all(({ chargedCents }) => chargedCents),
    refundedCents: all(({ refundedCents }) => refundedCents),
    amountCents: all(({ amountCents }) => amountCents),
    rentals: sums.flatMap((sum) => (sum.rental === null ? [] : { ...sum.rental, ...sumsOf(sum) })),
    ...(others && { otherRentals: { rentals: others.rentals, ...sumsOf(others) } }),
  };
}

function sumsOf({ entries, chargedCents, refundedCents }: SpendingSum) {
  return { entries, chargedCents, refundedCents };
}
