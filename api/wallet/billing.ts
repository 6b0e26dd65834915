import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { getBalance, type Balance } from '../../adapters/postgres/wallets/wallet-reads.js';
import { runwaySeconds } from '../../domain/metering/runway.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { callerOf, type ApiDeps, type ApiRouter } from '../context.js';

/** The routes of a wallet's balance and of a client's config (decision 31, "Balance and config"). */
export function billingRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showBalance, showBalance(deps));
  serve(router, deps, declared.showBillingConfig, () =>
    Promise.resolve(presentConfig(deps.settings.billing.publishableKey, deps.settings.supportContact)),
  );
}

function showBalance(deps: ApiDeps): Handler<typeof declared.showBalance> {
  return async (ctx) => {
    return presentBalance(await getBalance(deps.db, callerOf(ctx).userId, ctx.state.ahead));
  };
}

/** The config that a client needs to fill the wallet. */
export function presentConfig(publishableKey: string, supportContact: string | null) {
  return {
    publishableKey,
    currency: 'USD' as const,
    minTopupCents: paymentLimits.minTopupCents,
    maxTopupCents: paymentLimits.maxTopupCents,
    supportContact,
  };
}

/** A wallet on read (decision 31, "Balance and config"). */
export function presentBalance(balance: Balance) {
  const { availableCents, holdsCents, burnPerHourCents } = balance;
  return {
    availableCents,
    reservedCents: balance.reservedCents,
    totalCents: availableCents + balance.reservedCents,
    openInvoicesCents: balance.openInvoicesCents,
    openInvoiceCount: balance.openInvoiceCount,
    burnPerHourCents,
    runwaySeconds:
      burnPerHourCents === 0 ? null : runwaySeconds(availableCents + holdsCents, burnPerHourCents),
    updatedAt: balance.readAt.toISOString(),
  };
}
