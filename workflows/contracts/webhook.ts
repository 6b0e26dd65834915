import type { UserId, WebhookId } from '../../domain/ids.js';
import { webhookWorkflowId } from '../../domain/webhooks/webhook.js';
import type { EventLook } from './events.js';
import { lookSignal } from './signals.js';
import { rowIdOf, type LookingWorkflow } from './workflow-contract.js';

export interface WebhookInput {
  readonly webhookId: WebhookId;
}

/** The result of one go. */
export interface WebhookLook extends EventLook {
  /** Whose endpoint it is; absent when that is not known. */
  readonly userId?: UserId;
}

type WebhookRun = (input: WebhookInput) => Promise<{ outcome: string }>;

/** The deliveries to one endpoint: `webhook:<id>`. A run lasts while there is something to send. */
export const webhookWorkflow: LookingWorkflow<'webhook', WebhookRun> = {
  type: 'webhook',
  signal: lookSignal,
  takeUp: (workflowId) => ({
    contract: webhookWorkflow,
    workflowId,
    args: [{ webhookId: rowIdOf('wh', workflowId.slice(webhookWorkflowId('').length)) }],
    summary: 'Sends events to one webhook of a user',
    details:
      'It ends when nothing is left to send, and the next event starts it again. What became of each try: "ops endpoints show". Terminated by mistake, it is started again by "webhook-waker" within a minute.',
  }),
};
