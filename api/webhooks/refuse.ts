import type { Standing } from '../../adapters/postgres/requests/request-counts.js';
import type { WebhookRow } from '../../adapters/postgres/rows/tables.js';
import type { ResentEvents } from '../../adapters/postgres/webhooks/endpoints.js';
import { Refusal } from '../../domain/refusal.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import { fieldRefusal } from '../http/validation.js';

const { redeliveriesPerHour, redeliveredAtOnce } = webhookLimits;

/** @throws Refusal webhook_not_enabled: nothing is sent to it now */
export function refuseUnlessEnabled({ state }: Pick<WebhookRow, 'state'>): void {
  if (state === 'enabled') return;
  const message =
    state === 'pending'
      ? 'This webhook has not answered its challenge yet. GET /v1/webhooks/:id/deliveries shows the tries.'
      : 'This webhook is off. PATCH it with its url, and we send it a new challenge.';
  throw new Refusal('webhook_not_enabled', message, { state });
}

/** @throws Refusal rate_limited for more redeliveries than a user may ask for in an hour */
export function refuseWhenTooOften({ allowed, resetMs }: Pick<Standing, 'allowed' | 'resetMs'>): void {
  if (allowed) return;
  const retryAfterSeconds = Math.ceil(resetMs / 1_000);
  throw new Refusal(
    'rate_limited',
    `You asked for ${redeliveriesPerHour} redeliveries within an hour. Try again in ${retryAfterSeconds} s, or read the events with GET /v1/events.`,
    { retryAfterSeconds },
  );
}

/**
 * Refuses a redelivery of too many events, or of such as were not sent yet.
 * @param afterSeq the number after which all are sent again
 * @throws Refusal validation_failed
 */
export function refuseSeq(afterSeq: number, { first, last }: ResentEvents): void {
  if (afterSeq < first) {
    throw fieldRefusal(
      'afterSeq',
      `afterSeq must be at least ${first}: we resend at most ${redeliveredAtOnce} events at once. Read older ones with GET /v1/events`,
    );
  }
  if (afterSeq > last) {
    throw fieldRefusal('afterSeq', `afterSeq must be at most ${last}: later events are still on their way`);
  }
}
