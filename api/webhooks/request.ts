import { Refusal } from '../../domain/refusal.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import { hearsOfSignIns, namedTypes } from '../../domain/webhooks/webhook.js';
import {
  joi,
  pageFields,
  fields,
  needed,
  orElse,
  wordOf,
  wholeFrom,
  manyOf,
  type Read,
} from '../http/fields.js';

const changeable = {
  url: joi.text().maxChars(webhookLimits.urlMaxChars),
  types: manyOf(wordOf(namedTypes)).max(namedTypes.length).unique(),
  description: joi.text().allow('').maxChars(webhookLimits.descriptionMaxChars),
};

export const webhookSchema = fields({
  url: needed(changeable.url),
  types: orElse(changeable.types, []),
  description: orElse(changeable.description, ''),
});

export const changeSchema = fields(changeable).min(1);

export type WebhookChangeRequest = Read<typeof changeSchema>;

export const redeliverSchema = fields({ afterSeq: needed(wholeFrom(0, Number.MAX_SAFE_INTEGER)) });

export const deliveriesQuery = fields(pageFields);

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
 * @param after undefined: as before. An empty list has none of them (domain/webhooks/webhook.ts).
 */
export function tellsMoreOfSignIns(after: readonly string[] | undefined, before: readonly string[]): boolean {
  return after !== undefined && hearsOfSignIns(after.filter((type) => !before.includes(type)));
}
