import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { billedOf, costOf, failureOf, settledColumns } from '../../adapters/postgres/rentals/facts.js';
import { overageLine } from '../../domain/payments/invoices.js';
import type { ChargeOccasion } from '../../domain/ledger/charge-derivation.js';
import type { StopReason } from '../../domain/rentals/rental.js';
import {
  fundingOf,
  refundOfFailed,
  settlementOf,
  type Funding,
  type Settlement,
} from '../../domain/rentals/settlement.js';
import type { Account } from './account.js';
import { writeAudit } from './audit-trail.js';
import { credit } from './credit.js';
import { issueInvoice } from './invoices.js';
import type { World } from './world.js';

/** Charges a rental. @returns the cents that could be charged */
export function charge(account: Account, row: RentalWithHealth, cents: number): number {
  const { availableCents } = account.wallet;
  const funding = fundingOf(cents, { holdCents: row.hold_cents, availableCents });
  post(account, row, funding, 'tick');
  row.hold_cents -= funding.fromHoldCents;
  const chargedCents = funding.fromHoldCents + funding.fromAvailableCents;
  row.charged_cents += chargedCents;
  return chargedCents;
}

function post(
  { wallet }: Account,
  { id: rentalId }: RentalWithHealth,
  funding: Funding,
  occasion: ChargeOccasion,
): void {
  wallet.post({
    type: 'rental_charge',
    occasion,
    availableCents: -funding.fromAvailableCents,
    reservedCents: -funding.fromHoldCents,
    rentalId,
  });
}

/** Ends a rental's billing, and settles it. */
export function settle(
  world: World,
  account: Account,
  row: RentalWithHealth,
  end: { readonly at: Date; readonly reason: StopReason; readonly error?: string },
): void {
  const { reason, error = null } = end;
  const settlement = settlementOf({ ...billedOf(row), endedAt: end.at }, account.wallet.availableCents);
  const { endedAt } = settlement;
  apply(world, account, row, settlement, {
    status: 'stopping',
    stop_reason: reason,
    error,
    ended_at: endedAt,
  });
  const stoppedAt = endedAt.toISOString();
  world.events.tell(account.user.id, 'rental.stopping', row.id, { reason, stoppedAt });
  world.events.tell(account.user.id, 'rental.stopped', row.id, { reason, stoppedAt, ...costOf(row) });
  const { overageCents: amountCents } = settlement;
  if (amountCents > 0) {
    issueInvoice(world, account, {
      reason: 'overage',
      amountCents,
      description: overageLine(row),
      rental: row,
    });
  }
  if (reason !== 'user') auditEnd(world, account, row, reason);
  if (reason === 'balance_exhausted') {
    world.events.tell(account.user.id, 'wallet.exhausted', account.user.id, { rentalIds: [row.id] });
  }
  world.after(world.durations.endMs, () => {
    void world.machines?.end(row.id);
    row.status = 'stopped';
    row.terminated_at = world.now();
    row.closed_at = row.terminated_at;
  });
}

/** Ends a rental that failed: all of its money is given back. */
export function failWithFullRefund(
  world: World,
  account: Account,
  row: RentalWithHealth,
  error: string,
): void {
  void world.machines?.end(row.id);
  const at = world.now();
  const end = { status: 'failed', error, ended_at: at, terminated_at: at, closed_at: at } as const;
  apply(world, account, row, refundOfFailed(billedOf(row)), end);
  const [code, { refundedCents }] = [failureOf(row), costOf(row)];
  auditEnd(world, account, row, code);
  world.events.tell(account.user.id, 'rental.failed', row.id, { code, message: error, refundedCents });
}

/** Moves the money as the service's verdict says, and writes how the rental was settled. */
function apply(
  world: World,
  account: Account,
  row: RentalWithHealth,
  settlement: Settlement,
  end: Partial<RentalWithHealth>,
): void {
  const { wallet } = account;
  post(account, row, settlement.funding, end.status === 'failed' ? 'capture' : 'settlement');
  credit(world, account, { type: 'refund', availableCents: settlement.refundedCents, rentalId: row.id });
  wallet.hold(-settlement.releasedCents);
  const settled = { settled_at: world.now(), settled_seq: wallet.entries.length };
  Object.assign(row, settledColumns(settlement), settled, end);
}

/** Writes down what ended without its user's request. */
function auditEnd(world: World, account: Account, row: RentalWithHealth, reason: string): void {
  writeAudit(world, account, {
    ...{ kind: 'rental_ended', entity_id: row.id, details: { reason, ...costOf(row) } },
    ...{ api_key_id: null, client_address: null },
  });
}
