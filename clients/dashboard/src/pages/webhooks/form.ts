import type { Webhook } from '@gpu-rental/client';
import { fieldError } from '../../data/errors.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import type { ChosenType, WebhookType } from './types.js';
import type { WebhookForm } from './webhook-fields.js';

/** An empty form. */
export const newForm: WebhookForm = { url: '', description: '', isAll: true, types: [] };

/** The form of a webhook that there is. */
export function formOf({ url, description, types }: Webhook): WebhookForm {
  return {
    ...{ url, description, isAll: types.length === 0 },
    types: types.filter((type): type is ChosenType => type !== 'feed.resync'),
  };
}

/** The types as the service takes them: none are all. */
export function typesOf({ isAll, types }: WebhookForm): WebhookType[] {
  return isAll ? [] : [...types];
}

/** What differs from the webhook as it is. */
export function changeOf(
  hook: Webhook,
  form: WebhookForm,
): { url?: string; description?: string; types?: WebhookType[] } {
  const before = formOf(hook);
  const types = typesOf(form);
  return {
    ...(form.url !== before.url && { url: form.url }),
    ...(form.description !== before.description && { description: form.description }),
    ...(types.join() !== typesOf(before).join() && { types }),
  };
}

/** What is wrong with a form, by what the service said or by itself. */
export function faultsOf(error: unknown, form: WebhookForm, wasSubmitted: boolean) {
  const isWithoutTypes = !form.isAll && form.types.length === 0;
  return {
    url: fieldError(error, 'url'),
    description: fieldError(error, 'description'),
    types: wasSubmitted && isWithoutTypes ? t.typesMissing : fieldError(error, 'types'),
  };
}
