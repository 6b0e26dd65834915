import { webhookWorkflowId } from '../../domain/webhooks/webhook.js';
import type { WebhookId } from '../../domain/ids.js';
import type { TestService } from '../support/service/living-service.js';
import { until } from '../support/until.js';
import { startReceiver, type Receiver } from '../support/webhooks/receiver.js';
import { ended, type Story } from './payment-stories.js';

/** The stories of endpoints of webhooks, each with a receiver of its own. */
export const webhookStories: Record<string, Story> = {
  'webhook.delivered': (service) =>
    receiving(async (receiver) => {
      const id = await add(service, receiver);
      await until('all was sent', async () => {
        const row = await service.db('webhooks').where({ id }).first('state', 'due_at');
        return row?.state === 'enabled' && row.due_at === null;
      });
      return ended(service, webhookWorkflowId(id));
    }),
  'webhook.failing': (service) =>
    receiving(async (receiver) => {
      receiver.answer = (_message, response) => void response.writeHead(500).end();
      const id = await add(service, receiver);
      const { workflow } = service.temporal;
      await until('it has tried twice', async () => {
        const row = await service.db('webhooks').where({ id }).first('failures');
        return (row?.failures ?? 0) >= 2;
      });
      const { events } = await workflow.getHandle(webhookWorkflowId(id)).fetchHistory();
      if (!events?.some((event) => event.timerStartedEventAttributes)) throw new Error('it did not wait');
      return webhookWorkflowId(id);
    }),
};

async function receiving(play: (receiver: Receiver) => Promise<string>): Promise<string> {
  const receiver = await startReceiver();
  try {
    return await play(receiver);
  } finally {
    await receiver.close();
  }
}

async function add(service: TestService, { url }: Receiver): Promise<WebhookId> {
  const user = await service.signIn();
  return (await user.post('/v1/webhooks', { url })).body.id as WebhookId;
}
