import * as declared from '../../../api/accounts/describe-closing.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import { presentClosing, refuseOtherAddress } from '../../../api/accounts/present-closing.js';
import type { ApiRouter } from '../../../api/context.js';
import { readBody } from '../../../api/http/validation.js';
import { returnsOf, type ClosingState, type ClosingWait } from '../../../domain/accounts/closing.js';
import { isOwed } from '../../../domain/payments/invoices.js';
import type { Account } from '../account.js';
import { voidAllOffers } from '../invoices.js';
import { stopRental } from '../rentals.js';
import { serveMock } from '../serve.js';
import type { World } from '../world.js';

/** The closing of an account: its machines stop, its keys end. Nobody is erased here, so how it ends can be looked at. */
export function closingRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.showClosing, (_ctx, account) => shownOf(account));
  serveMock(router, world, declared.closeAccount, (ctx, account) => {
    const { email } = readBody(ctx, declared.closeSchema);
    refuseWhenNotFresh(ctx);
    refuseOtherAddress(email, account.user.email);
    closeAccount(world, account);
    return shownOf(account);
  });
}

/** Begins to close an account, as the service does: what runs ends, and nothing can be paid that nobody owes. */
export function closeAccount(world: World, account: Account): void {
  account.closingSince ??= world.now();
  for (const { row } of account.rentals.filter((one) => one.row.settled_at === null))
    stopRental(world, account, row);
  for (const { row } of account.apiKeys) row.ended_at = row.revoked_at ??= account.closingSince;
  voidAllOffers(world, account);
}

function shownOf(account: Account) {
  const machines = account.rentals.filter(({ row }) => row.closed_at === null).length;
  const openInvoices = account.invoices.filter(({ row }) => isOwed(row)).length;
  const row = account.closingSince && {
    ...stateOf(machines, openInvoices),
    requested_at: account.closingSince,
  };
  const paid = account.topups.filter((topup) => topup.payment_id !== null && topup.credited_cents !== null);
  const left = paid.map((topup) => ({
    paymentId: topup.payment_id ?? '',
    leftCents: topup.credited_cents ?? 0,
  }));
  const { availableCents } = account.wallet;
  const returns = returnsOf(availableCents, left.reverse()).map((one) => {
    const topup = paid.find((candidate) => candidate.payment_id === one.paymentId);
    const { card_brand: cardBrand = null, card_last4: cardLast4 = null } = topup ?? {};
    return { ...one, cardBrand, cardLast4, status: 'planned' as const };
  });
  const backCents = returns.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return presentClosing(
    row,
    { machines, openInvoices, openDisputes: 0 },
    { returns, lapsesCents: availableCents - backCents },
  );
}

function stateOf(machines: number, invoices: number): { state: ClosingState; waits_for: ClosingWait[] } {
  if (machines > 0) return { state: 'stopping', waits_for: ['rentals'] };
  if (invoices > 0) return { state: 'settling', waits_for: ['invoices'] };
  return { state: 'returning', waits_for: [] };
}
