import * as declared from '../../../api/accounts/describe-closing.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import { presentClosing, refuseOtherAddress } from '../../../api/accounts/present-closing.js';
import type { ApiRouter } from '../../../api/context.js';
import { readBody } from '../../../api/http/validation.js';
import {
  planClosing,
  type ClosingPlan,
  type ClosingState,
  type ClosingWait,
} from '../../../domain/accounts/closing.js';
import { isDebt, isOwed, isPayable } from '../../../domain/payments/invoices.js';
import type { Account } from '../account.js';
import { voidAllOffers } from '../invoices.js';
import { paymentOf } from '../processor-ids.js';
import { stopRental } from '../rentals.js';
import { serveMock } from '../serve.js';
import { expirePages } from '../topups.js';
import type { World } from '../world.js';
import { revokeKey } from './api-keys.js';

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
  if (account.autoTopup) account.autoTopup.enabled = false;
  for (const { row } of account.apiKeys) revokeKey(world, account, row);
  voidAllOffers(world, account);
  for (const { row } of account.rentals.filter((one) => one.row.settled_at === null))
    stopRental(world, account, row);
  expirePages(world, account, Infinity);
}

/** Shows how far the closing of an account is, and what goes where. */
export function shownOf(account: Account) {
  const machines = account.rentals.filter(({ row }) => row.closed_at === null).length;
  const openInvoices = account.invoices.filter(({ row }) => isOwed(row)).length;
  const row = account.closingSince && {
    ...stateOf(machines, openInvoices),
    requested_at: account.closingSince,
  };
  const { returns, lapsesCents } = planOf(account);
  const shown = returns.map((one) => {
    const topup = account.topups.find((candidate) => candidate.payment_id === one.paymentId);
    const { card_brand: cardBrand = null, card_last4: cardLast4 = null } = topup ?? {};
    return { ...one, cardBrand, cardLast4, status: 'planned' as const };
  });
  return presentClosing(row, { machines, openInvoices, openDisputes: 0 }, { returns: shown, lapsesCents });
}

/** There are no operators here: all of the money was paid in. */
function planOf({ wallet, invoices }: Account): ClosingPlan {
  const owed = invoices.filter(({ row }) => isPayable(row) && isDebt(row));
  const owedCents = owed.reduce((sum, { row }) => sum + row.amount_cents, 0);
  const { totalCents: paidCents, availableCents } = wallet;
  const payments = wallet.entries.flatMap(({ processorChargeId, amountCents: leftCents }) =>
    processorChargeId === null ? [] : { paymentId: paymentOf(processorChargeId), leftCents },
  );
  return planClosing({ paidCents, givenCents: 0 }, { owedCents, availableCents }, payments.toReversed());
}

function stateOf(machines: number, invoices: number): { state: ClosingState; waits_for: ClosingWait[] } {
  if (machines > 0) return { state: 'stopping', waits_for: ['rentals'] };
  if (invoices > 0) return { state: 'settling', waits_for: ['invoices'] };
  return { state: 'returning', waits_for: [] };
}
