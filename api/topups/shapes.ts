import type { TopupOnRead } from '../../adapters/postgres/payments/topups.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { isId, type TopupId } from '../../domain/ids.js';
import type { AnswerOf } from '../http/openapi/operation.js';
import type { createCheckout } from './describe.js';

/** The requests and answers of top-ups (decision 32, "Checkout and credit"). */

/** Tells whether a cursor's key is one of top-ups: they are sorted by id. */
export function isTopupKey(value: readonly unknown[]): value is [TopupId] {
  return value.length === 1 && typeof value[0] === 'string' && isId('top', value[0]);
}

/** The answer to POST /v1/billing/checkout: a page, or the charge of the saved card. */
export function presentCheckout(row: TopupRow): AnswerOf<typeof createCheckout> {
  if (row.source === 'checkout') {
    const { checkout_url: checkoutUrl, session_id: sessionId } = row;
    if (checkoutUrl === null || sessionId === null) throw new Error(`${row.id} has no page yet`);
    return { checkoutUrl, sessionId, topupId: row.id, status: row.status };
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
