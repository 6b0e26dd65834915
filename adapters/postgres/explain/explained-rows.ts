import type { PricedRental } from '../../../domain/ledger/charge-derivation.js';
import type {
  ExplainedInvoice,
  ExplainedPayment,
  ExplainedRental,
} from '../../../domain/ledger/explanation.js';
import type { InvoiceRow, RentalRow, TopupRow } from '../rows/tables.js';

/** A rental as an explanation shows it: no more than GET /v1/rentals/:id shows. */
export function explainRental(row: RentalRow): ExplainedRental {
  return {
    id: row.id,
    status: row.status,
    family: row.family,
    model: row.model,
    gpuCount: row.gpu_count,
    provider: row.provider_code,
    startedAt: row.started_at,
    runningAt: row.running_at,
    stoppedAt: row.ended_at,
    terminatedAt: row.terminated_at,
    stopReason: row.stop_reason,
    error: row.error,
  };
}

/** The parts of a rental that its price is a function of. */
export function priceRental(row: RentalRow, stopRequestedAt: Date | null): PricedRental {
  return {
    pricePerHourCents: row.price_per_hour_cents,
    maxSpendCents: row.max_spend_cents,
    runningAt: row.running_at,
    autoStopAt: row.auto_stop_at,
    spendLimitAt: row.spend_limit_at,
    stopRequestedAt,
    endedAt: row.ended_at,
  };
}

/**
 * The payment behind an entry.
 * @param topup the one that it was for; a page may be paid twice, under one top-up
 */
export function explainPayment(paymentId: string, topup: TopupRow | undefined): ExplainedPayment {
  const isFirst = topup?.payment_id === paymentId;
  return {
    paymentId,
    chargeId: isFirst ? topup.charge_id : null,
    sessionId: topup?.session_id ?? null,
    topupId: topup?.id ?? null,
    source: topup?.source ?? null,
    receiptUrl: isFirst ? topup.receipt_url : null,
  };
}

/** The invoice behind an entry. */
export function explainInvoice(row: InvoiceRow): ExplainedInvoice {
  return {
    id: row.id,
    reason: row.reason,
    status: row.status,
    amountCents: row.amount_cents,
    paidAt: row.paid_at,
    receiptUrl: row.receipt_url,
    voidReason: row.void_reason,
  };
}
