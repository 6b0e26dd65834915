import type { WebhookDeliveryRow, WebhookRow } from '../../adapters/postgres/rows/tables.js';

/** A webhook on read. Its secret is in the answers that make one, and nowhere else. */
export function presentWebhook(row: WebhookRow) {
  return {
    id: row.id,
    url: row.url,
    types: row.types,
    description: row.description,
    // No read finds one that is removed.
    state: row.state as Exclude<WebhookRow['state'], 'removed'>,
    deliveredSeq: row.cursor_seq,
    createdAt: row.created_at.toISOString(),
    lastSuccessAt: row.last_success_at?.toISOString() ?? null,
    failingSince: row.failing_since?.toISOString() ?? null,
    switchedOffAt: row.switched_off_at?.toISOString() ?? null,
    switchedOffReason: row.switched_off_why,
  };
}

/** One try on read. The answer's body is not kept. */
export function presentDelivery(row: WebhookDeliveryRow) {
  return {
    id: row.id,
    eventId: row.event_id,
    seq: row.seq,
    type: row.type,
    attempt: row.attempt,
    outcome: row.outcome,
    httpStatus: row.http_status,
    fault: row.fault,
    durationMs: row.duration_ms,
    at: row.at.toISOString(),
  };
}
