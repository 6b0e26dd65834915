import { byCursor, type Paged } from '../pages.js';
import type {
  AddWebhook,
  AddedWebhook,
  ChangeWebhook,
  RedeliverWebhook,
  RotatedWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookRedelivery,
} from '../schema.js';
import type { CallOptions } from '../transport.js';
import { Noun } from './noun.js';
import type { QueryOf } from './query.js';

/** Addresses to which events are delivered. */
export class Webhooks extends Noun {
  async list(options?: CallOptions): Promise<Webhook[]> {
    const { webhooks } = await this.call('read', options, (api, init) => api.GET('/v1/webhooks', init));
    return webhooks;
  }

  /** The secret is in this answer alone. */
  add(body: AddWebhook, options?: CallOptions): Promise<AddedWebhook> {
    return this.call('once', options, (api, init) => api.POST('/v1/webhooks', { ...init, body }));
  }

  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/webhooks/{id}', { ...init, params: { path: { id } } }),
    );
  }

  change(id: string, body: ChangeWebhook, options?: CallOptions): Promise<Webhook> {
    return this.call('same', options, (api, init) =>
      api.PATCH('/v1/webhooks/{id}', { ...init, body, params: { path: { id } } }),
    );
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove(options, (api, init) =>
      api.DELETE('/v1/webhooks/{id}', { ...init, params: { path: { id } } }),
    );
  }

  /** What was sent to it, newest first. */
  deliveries(
    id: string,
    query: QueryOf<'/v1/webhooks/{id}/deliveries'> = {},
    options?: CallOptions,
  ): Paged<WebhookDelivery, WebhookDeliveryPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/webhooks/{id}/deliveries', {
            ...init,
            params: { path: { id }, query: { ...query, ...cursor } },
          }),
        ),
      ({ deliveries }) => deliveries,
    );
  }

  async ping(id: string, options?: CallOptions): Promise<void> {
    await this.call('once', options, (api, init) =>
      api.POST('/v1/webhooks/{id}/ping', { ...init, params: { path: { id } } }),
    );
  }

  /** Sends everything after an event once more. */
  redeliver(id: string, body: RedeliverWebhook, options?: CallOptions): Promise<WebhookRedelivery> {
    return this.call('once', options, (api, init) =>
      api.POST('/v1/webhooks/{id}/redeliver', { ...init, body, params: { path: { id } } }),
    );
  }

  /** The secret before it goes on signing for a day. */
  rotateSecret(id: string, options?: CallOptions): Promise<RotatedWebhook> {
    return this.call('once', options, (api, init) =>
      api.POST('/v1/webhooks/{id}/rotate-secret', { ...init, params: { path: { id } } }),
    );
  }
}
