import { causeOf, type LedgerCause } from '../../domain/causes.js';
import type { LedgerEntryType } from '../../domain/ledger/ledger.js';
import { assertCents } from '../../domain/money.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { recordTopupIntent } from '../../adapters/postgres/payments/topup-level.js';
import type { LockedWallet } from './wallets.js';

/** One change of a wallet's total, with the one cause that it was made for. */
export interface Posting {
  /**
   * Signed: the cents that enter or leave the available part and the reserved part. Their sum is the entry's amount.
   */
  readonly availableCents: number;
  readonly reservedCents?: number;
  readonly type: LedgerEntryType;
  /** Unique for ever. A second posting for the same cause does nothing. */
  readonly cause: LedgerCause;
  readonly rentalNo?: number;
  readonly processorChargeId?: string;
  readonly note?: string;
}

/**
 * Writes one ledger entry and moves the wallet with it, in one statement. It is the only writer of balances beside the
 * metering statement. A posting that lowers the available part below the level leaves an intent for auto-topup
 * (decision 34, "Trigger of auto-topup"). One that brings money in tells its user so. The wallet must be locked by this
 * transaction.
 * @returns false when the cause was posted before: nothing is written then
 */
export async function post(trx: Transaction, wallet: LockedWallet, posting: Posting): Promise<boolean> {
  const reservedCents = posting.reservedCents ?? 0;
  assertCents(posting.availableCents, 'availableCents');
  assertCents(reservedCents, 'reservedCents');
  const { rows } = await trx.raw<{ rows: { seq: number; total: number }[] }>(
    `with w as (
       update wallets
          set available_cents = available_cents + :availableCents,
              reserved_cents = reserved_cents + :reservedCents,
              seq = seq + 1
        where id = :walletId and not exists (select 1 from ledger_causes where cause = :cause)
        returning id, seq, available_cents + reserved_cents as total
     ), entry as (
       insert into ledger_entries
         (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, processor_charge_id, note, created_at)
       select id, seq, :type::ledger_entry_type, :availableCents::bigint + :reservedCents::bigint, total,
              :rentalNo::bigint, :processorChargeId::text, :note::text, clock_ms()
         from w
     ), caused as (
       insert into ledger_causes (cause, wallet_id, seq) select :cause, id, seq from w
     )
     select seq, total from w`,
    {
      walletId: wallet.id,
      availableCents: posting.availableCents,
      reservedCents,
      type: posting.type,
      cause: causeOf(posting.cause),
      rentalNo: posting.rentalNo ?? null,
      processorChargeId: posting.processorChargeId ?? null,
      note: posting.note ?? null,
    },
  );
  const [entry] = rows;
  if (!entry) return false;
  if (posting.availableCents < 0) await recordTopupIntent(trx, wallet.id);
  const amountCents = posting.availableCents + reservedCents;
  if (amountCents > 0) {
    await recordEvent(trx, {
      type: 'wallet.credited',
      userId: wallet.userId,
      entityId: wallet.userId,
      data: { amountCents, balanceCents: entry.total, ledgerSeq: entry.seq, entryType: posting.type },
    });
  }
  return true;
}
