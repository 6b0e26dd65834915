import { parseCause, type Cause } from '../../../domain/causes.js';
import {
  deriveCharge,
  deriveRefund,
  type ChargeOccasion,
  type PricedRental,
} from '../../../domain/ledger/charge-derivation.js';
import type { Evidence, ExplainedEntry, Explanation } from '../../../domain/ledger/explanation.js';
import { closingWorkflowId } from '../../../domain/accounts/closing.js';
import { whyOf } from '../../../domain/ledger/why.js';
import type { ApiKeyId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import {
  findByHand,
  findInvoiceOf,
  findPaymentOf,
  findReversalOf,
  type DocumentFacts,
} from './entry-documents.js';
import { podEvidence } from './entry-evidence.js';
import { explainRental, priceRental } from './explained-rows.js';
import { getLedgerIds, type LedgerIds } from '../ledger/ledger-ids.js';
import { readEntry } from '../ledger/ledger-reads.js';
import type { LedgerEntryRow, RentalRow, WalletRow } from '../rows/tables.js';

/** An entry with its wallet and its purpose. */
export interface FoundEntry {
  readonly row: LedgerEntryRow;
  readonly wallet: WalletRow;
  readonly cause: string | null;
}

/**
 * Explains a ledger entry from the rows of the database. Metering writes nothing extra for it, so the reading walks
 * over the rental's entries before this one.
 * @param id a public id, of any wallet, or its plain one of release 0.1 (decision 86, "Ids of ledger entries")
 * @param shards how many shards the wallets are hashed to: tells which tick engine wrote it
 * @param onlyOf a key: entries of other rentals than its own, and of none, count as none
 * @returns undefined when there is no such entry
 */
export async function explainEntry(
  db: Database,
  id: string,
  shards: number,
  userId?: string,
  onlyOf?: ApiKeyId,
): Promise<Explanation | undefined> {
  const ids = await getLedgerIds(db);
  const key = ids.parse(id);
  if (!key) return undefined;
  return db.transaction(
    async (trx) => {
      const found = await findEntry(trx, key.walletId, key.seq);
      // Another user's entry counts as none (decision 5, "Foreign ids").
      if (!found || (userId !== undefined && found.wallet.user_id !== userId)) return undefined;
      if (onlyOf !== undefined && !(await isOfKey(trx, found.row, onlyOf))) return undefined;
      // A plain id of an entry that never had one was guessed: by such guesses a user would find the number of their
      // wallet.
      if (key.isPlain && userId !== undefined && found.row.created_at > ids.since) return undefined;
      return explain(trx, found, shards, ids);
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** Tells whether an entry is of a rental that this key opened. */
async function isOfKey(trx: Transaction, { rental_no: no }: LedgerEntryRow, key: ApiKeyId): Promise<boolean> {
  if (no === null) return false;
  return (await trx('rentals').where({ no, api_key_id: key }).first('no')) !== undefined;
}

async function findEntry(trx: Transaction, walletId: number, seq: number): Promise<FoundEntry | undefined> {
  const row = await readEntry(trx, walletId, seq);
  const wallet = await trx('wallets').where({ id: walletId }).first();
  if (!row || !wallet) return undefined;
  const cause = await trx('ledger_causes').where({ wallet_id: walletId, seq }).first('cause');
  return { row, wallet, cause: cause?.cause ?? null };
}

async function explain(
  trx: Transaction,
  found: FoundEntry,
  shards: number,
  ids: LedgerIds,
): Promise<Explanation> {
  const { row, cause } = found;
  const rental =
    row.rental_no === null ? undefined : await trx('rentals_now').where({ no: row.rental_no }).first();
  const documents = await documentsOf(trx, cause);
  const money = rental ? await derive(trx, found, rental) : { charge: null, rentalRefund: null };
  const facts = {
    entry: entryOf(row, rental, ids),
    ...money,
    rental: rental ? explainRental(rental) : null,
    ...documents.shown,
  };
  const evidence: Evidence = {
    userId: found.wallet.user_id,
    walletId: row.wallet_id,
    seq: row.seq,
    cause,
    operator: documents.operator,
    pod: rental ? await podEvidence(trx, rental) : null,
    workflowIds: [
      ...documents.workflowIds,
      // A tick has no cause of its own: the tick engine of the wallet's shard wrote it, or the rental's own loop.
      ...(cause === null && shards > 0 ? [`meter:${row.wallet_id % shards}`] : []),
      ...(rental ? [rental.id] : []),
    ],
  };
  return { ...facts, why: whyOf(facts), evidence };
}

function entryOf(row: LedgerEntryRow, rental: RentalRow | undefined, ids: LedgerIds): ExplainedEntry {
  return {
    id: ids.of(row.wallet_id, row.seq),
    type: row.type,
    amountCents: row.amount_cents,
    balanceBeforeCents: row.balance_after_cents - row.amount_cents,
    balanceAfterCents: row.balance_after_cents,
    createdAt: row.created_at,
    rentalId: rental?.id ?? null,
    processorChargeId: row.processor_charge_id,
    note: row.note,
  };
}

async function derive(
  trx: Transaction,
  { row, cause }: FoundEntry,
  rental: RentalRow,
): Promise<Pick<Explanation, 'charge' | 'rentalRefund'>> {
  const priced = await pricedOf(trx, rental);
  const before = await chargedBefore(trx, rental, row.seq);
  if (row.type === 'refund') {
    const refund = deriveRefund({ ...priced, failed: rental.status === 'failed' }, before.cents);
    return { charge: null, rentalRefund: refund };
  }
  const charge = deriveCharge(priced, {
    occasion: occasionOf(cause),
    amountCents: -row.amount_cents,
    at: row.created_at,
    chargedBeforeCents: before.cents,
    previousAt: before.at,
  });
  return { charge, rentalRefund: null };
}

/** Returns the occasion on which an entry of a rental was written: only ticks have no cause. */
export function occasionOf(cause: string | null): ChargeOccasion {
  if (cause === null) return 'tick';
  return parseCause(cause)?.kind === 'capture' ? 'capture' : 'settlement';
}

/** Reads the parts of a rental that its price is a function of. */
export async function pricedOf(db: Database | Transaction, rental: RentalRow): Promise<PricedRental> {
  const stop = await db('stop_requests').where({ rental_no: rental.no }).first('requested_at');
  return priceRental(rental, stop?.requested_at ?? null);
}

async function chargedBefore(
  trx: Transaction,
  rental: RentalRow,
  seq: number,
): Promise<{ cents: number; at: Date | null }> {
  const { rows } = await trx.raw<{ rows: { cents: number; at: Date | null }[] }>(
    `select coalesce(-sum(amount_cents), 0)::bigint as cents, max(latest_at) as at
       from ledger_sums(:walletId, :openedSeq::bigint + 1, :seq::bigint - 1)
      where rental_no = :no and type = 'rental_charge'`,
    { walletId: rental.wallet_id, no: rental.no, openedSeq: rental.opened_seq, seq },
  );
  return rows[0] ?? { cents: 0, at: null };
}

const none: DocumentFacts = {
  shown: { payment: null, reversal: null, invoice: null, byHand: null },
  operator: null,
  workflowIds: [],
};

async function documentsOf(trx: Transaction, text: string | null): Promise<DocumentFacts> {
  const cause = text === null ? undefined : parseCause(text);
  return cause === undefined ? none : { ...none, ...(await findDocuments(trx, cause)) };
}

/** Finds the documents that a cause names. A rental's charges and refunds are derived: they have no document. */
async function findDocuments(trx: Transaction, cause: Cause): Promise<Partial<DocumentFacts>> {
  if (cause.kind === 'set_off_returned') return findReversalOf(trx, { invoice_id: cause.invoiceId });
  if ('invoiceId' in cause) return findInvoiceOf(trx, cause.invoiceId);
  switch (cause.kind) {
    case 'payment':
      return findPaymentOf(trx, cause.paymentId);
    case 'operation':
    case 'operation_rental':
      return findByHand(trx, cause.operationId);
    case 'reversal':
    case 'reversal_returned':
      return findReversalOf(trx, { id: cause.id });
    case 'closing':
      return { workflowIds: [closingWorkflowId(cause.userId)] };
    default:
      return {};
  }
}
