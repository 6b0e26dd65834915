import { continueAsNew, upsertSearchAttributes } from '@temporalio/workflow';
import { HOUR } from '../domain/durations.js';
import { sendingWebhooks } from './activity-proxies.js';
import { userIdAttribute } from './contracts/search-attributes.js';
import { lookSignal } from './contracts/signals.js';
import type { WebhookInput } from './contracts/webhook.js';
import { followEvents } from './follow-events.js';

/**
 * The deliveries to one endpoint (decision 102, "Webhooks out"): a go of up to a hundred tries, again at each signal and
 * when a pause is over, until nothing is left to send. The rows are the state: cursor, retry line and pauses.
 */
export async function webhook(input: WebhookInput): Promise<{ outcome: string }> {
  const told = { user: false };
  const look = async () => {
    const seen = await sendingWebhooks.lookAtWebhook(input.webhookId);
    if (seen.userId !== undefined && !told.user) {
      upsertSearchAttributes([{ key: userIdAttribute, value: seen.userId }]);
      told.user = true;
    }
    return seen;
  };
  const seen = await followEvents(look, [HOUR], lookSignal);
  return seen === undefined ? continueAsNew<typeof webhook>(input) : { outcome: seen.status };
}
