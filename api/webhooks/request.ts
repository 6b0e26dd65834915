import type { EventType } from '../../domain/events/events.js';
import { Refusal } from '../../domain/refusal.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import { namedTypes } from '../../domain/webhooks/webhook.js';
import { joi, pageFields } from '../http/validation.js';

interface WebhookRequest {
  readonly url: string;
  readonly types: readonly EventType[];
  readonly description: string;
}

export type WebhookChangeRequest = {
  readonly [Field in keyof WebhookRequest]?: WebhookRequest[Field] | undefined;
};

const fields = {
  url: joi.text().maxChars(webhookLimits.urlMaxChars),
  types: joi
    .array()
    .items(joi.string().valid(...namedTypes))
    .max(namedTypes.length)
    .unique(),
  description: joi.text().allow('').maxChars(webhookLimits.descriptionMaxChars),
};

export const webhookSchema = joi.object<WebhookRequest>({
  url: fields.url.required(),
  types: fields.types.default([]),
  description: fields.description.default(''),
});

export const changeSchema = joi.object<WebhookChangeRequest>(fields).min(1);

export const redeliverSchema = joi.object<{ afterSeq: number }>({
  afterSeq: joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER).required(),
});

export const deliveriesQuery = joi.object<{ cursor?: string; pageSize: number }>(pageFields);

/** The refusal of a webhook beyond the number that a user may have. */
export function tooManyWebhooks(): Refusal {
  const { perUser: maxWebhooks } = webhookLimits;
  return new Refusal(
    'too_many_webhooks',
    `You have ${maxWebhooks} webhooks, the most you can have. Remove one that you no longer use: DELETE /v1/webhooks/:id.`,
    { maxWebhooks },
  );
}

/**
 * Whether a change of a webhook's types adds events by which its receiver follows sign-ins and keys.
 * @param after undefined: as before. An empty list is all types.
 */
export function tellsMoreOfSignIns(after: readonly string[] | undefined, before: readonly string[]): boolean {
  const hears = (types: readonly string[], type: string): boolean =>
    types.length === 0 || types.includes(type);
  return (
    after !== undefined &&
    namedTypes.some((type) => /^(session|api_key)\./.test(type) && hears(after, type) && !hears(before, type))
  );
}
