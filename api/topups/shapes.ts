import type { TopupOnRead } from '../../adapters/postgres/payments/topups.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { isId, type TopupId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { keyFilter } from '../http/idempotency.js';
import { pageFields, fields, needed, wholeFrom } from '../http/fields.js';

/** The requests and answers of top-ups (decision 32, "Checkout and credit"). */

export const checkoutSchema = fields({
  amountCents: needed(wholeFrom(paymentLimits.minTopupCents, paymentLimits.maxTopupCents)),
});

export const topupsQuery = fields({
  idempotencyKey: keyFilter,
  ...pageFields,
});

/** Tells whether a cursor's key is one of top-ups: they are sorted by id. */
export function isTopupKey(value: readonly unknown[]): value is [TopupId] {
  return value.length === 1 && typeof value[0] === 'string' && isId('top', value[0]);
}

/** The answer to POST /v1/billing/checkout: a page, or the charge of the saved card. */
export function presentCheckout(row: TopupRow) {
  if (row.source === 'checkout') {
    return {
      checkoutUrl: row.checkout_url,
      sessionId: row.session_id,
      topupId: row.id,
      status: row.status,
    };
  }
  return {
    checkoutUrl: null,
    sessionId: null,
    topupId: row.id,
    status: row.status,
    amountCents: row.amount_cents,
    processorChargeId: row.charge_id,
  };
}

/** A top-up on read. */
export function presentTopup(row: TopupOnRead) {
  return {
    id: row.id,
    source: row.source,
    status: row.status,
    amountCents: row.amount_cents,
    creditedCents: row.credited_cents,
    reversedCents: row.reversed_cents ?? 0,
    checkoutUrl: row.status === 'requires_payment' ? row.checkout_url : null,
    sessionId: row.session_id,
    processorChargeId: row.charge_id,
    receiptUrl: row.receipt_url,
    error: row.error,
    declineCode: row.decline_code,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.session_expires_at?.toISOString() ?? null,
    creditedAt: row.credited_at?.toISOString() ?? null,
  };
}
