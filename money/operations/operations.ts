import { causeOf } from '../../domain/causes.js';
import type { InvoiceId, OperationId, UserId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { walletChangedMail } from '../../domain/mails/wallet.js';
import { Refusal } from '../../domain/refusal.js';
import type {
  MoneyAction,
  Operation as AnyOperation,
  OperationResult,
  OrderedAction,
} from '../../domain/operations/operation.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { wakeClosing } from '../../adapters/postgres/accounts/closings.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { recordAction, refuseWhenTextUnfit } from '../../adapters/postgres/operators/operator-actions.js';
import { readUnusedCents } from '../../adapters/postgres/rentals/meter-reads.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import type { InvoiceRow } from '../../adapters/postgres/rows/tables.js';
import { refuseHandMove } from '../closing/hand-moves.js';
import { noteTaken } from '../closing/returns.js';
import { requestVoid } from '../invoices/invoice-voids.js';
import { insertManualInvoice } from '../invoices/manual-invoice.js';
import {
  endOf,
  endOrder,
  lockOrder,
  needsSecondOperator,
  operationOf,
  refuseOrder,
  type OrderOutcome,
} from './orders.js';
import { post } from '../ledger/post.js';
import { lockWalletOfUser, type LockedWallet } from '../ledger/wallets.js';

type Operation = AnyOperation<MoneyAction>;

/**
 * Does what a row of `operator_orders` asks for, once, under the row's lock and the wallet's, in one transaction with
 * its record in `operator_actions` (decision 48, "Operations by hand", and decision 87, "Operator orders"). An order
 * that can't be done is recorded in the row as refused.
 * @param singleLimitCents the most that one operator may move alone in a day; above it a second one must have approved
 */
export async function operate(
  db: Database,
  operationId: OperationId,
  singleLimitCents: number,
): Promise<OrderOutcome> {
  try {
    return await db.transaction((trx) => operateUnderLock(trx, operationId, singleLimitCents));
  } catch (error) {
    if (error instanceof NeedsApproval) return { outcome: 'waiting' };
    if (!(error instanceof Refusal)) throw error;
    return refuseOrder(db, operationId, error);
  }
}

/** Rolls the try back: the order can be done, and a second operator must approve it first. */
class NeedsApproval extends Error {}

async function operateUnderLock(
  trx: Transaction,
  operationId: OperationId,
  singleLimitCents: number,
): Promise<OrderOutcome> {
  const order = await lockOrder(trx, operationId);
  const end = endOf(order);
  if (end) return end;
  const { request: action } = order;
  if (!isMoneyAction(action)) throw new Error(`${operationId} is a ${action.kind}, which is done elsewhere`);
  const userId = await userOf(trx, action);
  const needsApproval = await needsSecondOperator(trx, order, await stakeOf(trx, action), singleLimitCents);
  const wallet = await lockWalletOfUser(trx, userId);
  await refuseHandMove(trx, userId, action);
  await wakeClosing(trx, userId);
  const input = operationOf(order, action);
  const result = await act(trx, wallet, input);
  // Thrown after the try: an order that can't be done is refused before a second operator is asked.
  if (needsApproval) throw new NeedsApproval();
  await recordAction(trx, input, result);
  await endOrder(trx, operationId, result);
  await insertAuditEvent(trx, {
    userId: wallet.userId,
    kind: 'changed_by_operator',
    entityId: operationId,
    details: { action: action.kind },
  });
  return { outcome: 'done' };
}

function isMoneyAction(action: OrderedAction): action is MoneyAction {
  return !['terminate_rental', 'close_ports', 'reconcile_restored', 'refund_rentals'].includes(action.kind);
}

/** Returns the cents that are given, taken, asked for or given up. */
async function stakeOf(trx: Transaction, action: MoneyAction): Promise<number> {
  if ('amountCents' in action) return Math.abs(action.amountCents);
  return (await getInvoice(trx, action.invoiceId)).amount_cents;
}

async function userOf(trx: Transaction, action: MoneyAction): Promise<UserId> {
  if ('userId' in action) {
    const user = await trx('users').where({ id: action.userId }).first('id');
    if (!user) throw new Refusal('not_found', `There is no user ${action.userId}.`);
    return user.id;
  }
  return (await getInvoice(trx, action.invoiceId)).user_id;
}

async function act(trx: Transaction, wallet: LockedWallet, input: Operation): Promise<OperationResult> {
  const { action } = input;
  switch (action.kind) {
    case 'issue_invoice':
      return issue(trx, wallet, input, action);
    case 'void_invoice':
      return voidInvoice(trx, input, action.invoiceId);
    case 'write_off_invoice':
      return writeOff(trx, wallet, input, action);
    case 'refund':
      return refund(trx, wallet, input, action);
    case 'adjust':
      return adjust(trx, wallet, input, action.amountCents);
  }
}

async function issue(
  trx: Transaction,
  wallet: LockedWallet,
  { operationId }: Operation,
  { amountCents, description }: Extract<MoneyAction, { kind: 'issue_invoice' }>,
): Promise<OperationResult> {
  refuseWhenAmountUnfit(amountCents, paymentLimits.minInvoiceCents);
  refuseWhenTextUnfit('The description', description);
  const cause = { kind: 'operation', operationId } as const;
  const invoiceId = await insertManualInvoice(trx, wallet, { cause, amountCents, description });
  return { invoiceId, amountCents };
}

async function voidInvoice(
  trx: Transaction,
  { reason }: Operation,
  invoiceId: InvoiceId,
): Promise<OperationResult> {
  const { status } = await getInvoice(trx, invoiceId);
  if (await requestVoid(trx, invoiceId, reason)) return { invoiceId, was: status };
  const state = stateOf(await getInvoice(trx, invoiceId));
  throw new Refusal('validation_failed', `${invoiceId} is already ${state}: there is nothing to void.`);
}

/** Writes an invoice off: its workflow gives it up, after it asked the processor whether it was paid. */
async function writeOff(
  trx: Transaction,
  wallet: LockedWallet,
  { reason }: Operation,
  { invoiceId, blockUser }: Extract<MoneyAction, { kind: 'write_off_invoice' }>,
): Promise<OperationResult> {
  await getInvoice(trx, invoiceId);
  const requested = await trx('invoices')
    .where({ id: invoiceId, status: 'open' })
    .whereNull('void_requested_at')
    .update({
      write_off_requested_at: trx.raw('coalesce(write_off_requested_at, clock_ms())'),
      attention_at: trx.raw('clock_ms()'),
      told_at: null,
    });
  if (requested === 1) {
    if (blockUser !== true) return { invoiceId, was: 'open' };
    await trx('users')
      .where({ id: wallet.userId })
      .whereNull('blocked_at')
      .update({ blocked_at: trx.raw('clock_ms()'), blocked_reason: reason });
    return { invoiceId, was: 'open', blocked: wallet.userId };
  }
  const state = stateOf(await getInvoice(trx, invoiceId));
  throw new Refusal('validation_failed', `${invoiceId} is ${state}: only an open one can be written off.`);
}

/** Tells a person how an invoice stands. */
function stateOf({ status, void_requested_at: requestedAt }: InvoiceRow): string {
  return requestedAt !== null && status !== 'void' && status !== 'paid' ? 'being voided' : status;
}

/**
 * Refunds by hand, to the wallet (spec: Ledger entry, `refund`). The entry names the rental in its note only: the
 * rental's own charge stays as it was metered (decision 25, "Usage as running total").
 */
async function refund(
  trx: Transaction,
  wallet: LockedWallet,
  input: Operation,
  { amountCents, rentalId }: Extract<MoneyAction, { kind: 'refund' }>,
): Promise<OperationResult> {
  refuseWhenAmountUnfit(amountCents, 1);
  if (rentalId !== undefined) {
    const rental = await trx('rentals').where({ id: rentalId, user_id: wallet.userId }).first('id');
    if (!rental) throw new Refusal('rental_not_found', `${wallet.userId} has no rental ${rentalId}.`);
  }
  const note = [input.reason, ...(rentalId === undefined ? [] : [rentalId])].join('; ');
  await move(trx, wallet, input, 'refund', amountCents, note);
  return { amountCents, availableCents: wallet.availableCents + amountCents };
}

async function adjust(
  trx: Transaction,
  wallet: LockedWallet,
  input: Operation,
  amountCents: number,
): Promise<OperationResult> {
  refuseWhenAmountUnfit(Math.abs(amountCents), 1);
  const availableCents = await readUnusedCents(trx, wallet.id);
  if (availableCents + amountCents < 0) {
    throw new Refusal(
      'insufficient_balance',
      `Only ${availableCents} cents are available that no machine has used. Take that much, and issue an invoice for the rest.`,
      { availableCents },
    );
  }
  await move(trx, wallet, input, 'adjustment', amountCents, input.reason);
  await noteTaken(trx, wallet);
  return { amountCents, availableCents: wallet.availableCents + amountCents };
}

async function move(
  trx: Transaction,
  wallet: LockedWallet,
  { operationId, reason }: Operation,
  type: 'refund' | 'adjustment',
  availableCents: number,
  note: string,
): Promise<void> {
  const cause = { kind: 'operation', operationId } as const;
  const posted = await post(trx, wallet, { type, availableCents, cause, note });
  if (!posted) throw new Error(`${causeOf(cause)} was posted before, and has no record`);
  await mailUser(trx, wallet.userId, cause, walletChangedMail({ amountCents: availableCents, reason }));
}

/** The most that one operation may move: it catches slips of the hand before they move money. */
const MAX_CENTS = 10_000_000;

function refuseWhenAmountUnfit(cents: number, minCents: number): void {
  if (Number.isSafeInteger(cents) && cents >= minCents && cents <= MAX_CENTS) return;
  throw new Refusal(
    'invalid_amount',
    `The amount must be whole cents, at least ${minCents} and at most ${MAX_CENTS}.`,
  );
}

async function getInvoice(trx: Transaction, id: InvoiceId): Promise<InvoiceRow> {
  const invoice = await trx('invoices').where({ id }).first();
  if (!invoice) throw new Refusal('invoice_not_found', `There is no invoice ${id}.`);
  return invoice;
}
