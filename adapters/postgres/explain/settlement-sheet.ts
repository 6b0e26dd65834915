import {
  billed,
  deriveCharge,
  deriveRefund,
  final,
  type ChargeDerivation,
  type RefundDerivation,
} from '../../../domain/ledger/charge-derivation.js';
import type { InvoiceId, LedgerEntryId, OperationId, RentalId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import { occasionOf, pricedOf } from './explain-entry.js';
import { getLedgerIds, type LedgerIds } from '../ledger/ledger-ids.js';
import { listGiven } from '../operators/order-items.js';
import type { RentalRow } from '../rows/tables.js';

/** One entry of a rental with its sum. */
export interface SheetLine {
  readonly id: LedgerEntryId;
  readonly at: Date;
  readonly amountCents: number;
  readonly balanceAfterCents: number;
  readonly charge: ChargeDerivation | null;
  readonly refund: RefundDerivation | null;
}

/** How a rental was settled, so that a stranger can check it by hand. Amounts in cents. */
export interface SettlementSheet {
  readonly rental: RentalRow;
  readonly lines: readonly SheetLine[];
  readonly chargedCents: number;
  readonly refundedCents: number;
  readonly netCents: number;
  readonly overage: { readonly invoiceId: InvoiceId; readonly status: string; readonly cents: number } | null;
  readonly writtenOffCents: number;
  /** net + overage + written off; it must equal the price. */
  readonly settledCents: number;
  /** The price by the formula of decision 25, "Usage as running total"; null until the rental is settled. */
  readonly price: { readonly cents: number; readonly billedMs: number; readonly formula: string } | null;
  /** null until the rental is settled. */
  readonly agrees: boolean | null;
  /** Refunds by operators: on top, and not part of its price. */
  readonly byHand: readonly { readonly operationId: OperationId; readonly cents: number }[];
}

interface EntryRow {
  wallet_id: number;
  seq: number;
  type: string;
  amount_cents: number;
  balance_after_cents: number;
  created_at: Date;
  cause: string | null;
}

/**
 * Reads the whole sheet from one moment.
 * @returns undefined when there is no such rental
 */
export async function readSettlementSheet(db: Database, id: RentalId): Promise<SettlementSheet | undefined> {
  const ids = await getLedgerIds(db);
  return db.transaction(
    async (trx) => {
      const rental = await trx('rentals_now').where({ id }).first();
      if (!rental) return undefined;
      const lines = await linesOf(trx, rental, ids);
      const overage = await trx('invoices').where({ rental_no: rental.no, reason: 'overage' }).first();
      const byHand = await trx('operator_actions')
        .where({ kind: 'refund' })
        .whereRaw(`request ->> 'rentalId' = ?`, [id])
        .orderBy('done_at');
      return {
        rental,
        lines,
        ...totals(rental, lines),
        price: priceOf(rental),
        agrees: agrees(rental, lines),
        overage: overage
          ? { invoiceId: overage.id, status: overage.status, cents: overage.amount_cents }
          : null,
        byHand: [
          ...byHand.map(({ id: operationId, request }) => ({
            operationId,
            cents: (request as { amountCents: number }).amountCents,
          })),
          ...(await listGiven(trx, rental.no)).map(({ operationId, cents }) => ({ operationId, cents })),
        ],
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** The rental's entries lie between two numbers that its row keeps: the walk is along the primary key. */
async function linesOf(db: Database, rental: RentalRow, ids: LedgerIds): Promise<SheetLine[]> {
  const { rows } = await db.raw<{ rows: EntryRow[] }>(
    `select e.wallet_id, e.seq, e.type, e.amount_cents, e.balance_after_cents, e.created_at, c.cause
       from wallets w
      cross join lateral ledger_between(w.id, :openedSeq::bigint + 1, coalesce(:settledSeq::bigint, w.seq)) e
       left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
      where w.id = :walletId and e.rental_no = :no order by e.seq`,
    {
      no: rental.no,
      walletId: rental.wallet_id,
      openedSeq: rental.opened_seq,
      settledSeq: rental.settled_seq,
    },
  );
  const priced = { ...(await pricedOf(db, rental)), failed: rental.status === 'failed' };
  const sums = { cents: 0, at: null as Date | null };
  return rows.map((row) => {
    const before = { ...sums };
    if (row.type !== 'refund')
      Object.assign(sums, { cents: sums.cents - row.amount_cents, at: row.created_at });
    return {
      id: ids.of(row.wallet_id, row.seq),
      at: row.created_at,
      amountCents: row.amount_cents,
      balanceAfterCents: row.balance_after_cents,
      charge:
        row.type === 'refund'
          ? null
          : deriveCharge(priced, {
              occasion: occasionOf(row.cause),
              amountCents: -row.amount_cents,
              at: row.created_at,
              chargedBeforeCents: before.cents,
              previousAt: before.at,
            }),
      refund: row.type === 'refund' ? deriveRefund(priced, before.cents) : null,
    };
  });
}

function totals(rental: RentalRow, lines: readonly SheetLine[]) {
  const chargedCents = sum(lines.filter(({ amountCents }) => amountCents < 0));
  const refundedCents = sum(lines.filter(({ amountCents }) => amountCents > 0));
  const netCents = -chargedCents - refundedCents;
  return {
    chargedCents: -chargedCents,
    refundedCents,
    netCents,
    writtenOffCents: rental.written_off_cents,
    settledCents: netCents + rental.overage_cents + rental.written_off_cents,
  };
}

function sum(lines: readonly SheetLine[]): number {
  return lines.reduce((cents, line) => cents + line.amountCents, 0);
}

function priceOf(rental: RentalRow): SettlementSheet['price'] {
  if (rental.settled_at === null) return null;
  const instants = { runningAt: rental.running_at, endedAt: rental.ended_at };
  if (rental.status === 'failed')
    return { cents: 0, billedMs: 0, formula: 'it failed, so it costs nothing: 0' };
  const priced = { pricePerHourCents: rental.price_per_hour_cents, maxSpendCents: rental.max_spend_cents };
  const billedMs = billed({
    ...priced,
    ...instants,
    autoStopAt: null,
    spendLimitAt: null,
    stopRequestedAt: null,
  });
  const { cents, text } = final(priced, billedMs);
  return { cents, billedMs, formula: text };
}

function agrees(rental: RentalRow, lines: readonly SheetLine[]): boolean | null {
  const price = priceOf(rental);
  return price === null ? null : totals(rental, lines).settledCents === price.cents;
}
