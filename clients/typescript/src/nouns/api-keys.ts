import { byCursor, type Paged } from '../pages.js';
import type { ApiKey, ApiKeyPage, ChangeApiKey, CreateApiKey, CreatedApiKey } from '../schema.js';
import type { CallOptions } from '../transport.js';
import { Noun } from './noun.js';
import type { QueryOf } from './query.js';

/** What programs call the API with. A session makes and revokes them; no key can. */
export class ApiKeys extends Noun {
  /** The newest first; those that have ended stay for a while. */
  list(query: QueryOf<'/v1/api-keys'> = {}, options?: CallOptions): Paged<ApiKey, ApiKeyPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/api-keys', { ...init, params: { query: { ...query, ...cursor } } }),
        ),
      ({ apiKeys }) => apiKeys,
    );
  }

  /** Makes a key, which is in this answer alone. It takes a fresh sign-in. */
  create(body: CreateApiKey, options?: CallOptions): Promise<CreatedApiKey> {
    return this.call('once', options, (api, init) => api.POST('/v1/api-keys', { ...init, body }));
  }

  get(id: string, options?: CallOptions): Promise<ApiKey> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/api-keys/{id}', { ...init, params: { path: { id } } }),
    );
  }

  /** What lets it be used from more addresses takes a fresh sign-in. */
  change(id: string, body: ChangeApiKey, options?: CallOptions): Promise<ApiKey> {
    return this.call('same', options, (api, init) =>
      api.PATCH('/v1/api-keys/{id}', { ...init, params: { path: { id } }, body }),
    );
  }

  /** Revokes it for good. @param query whether what it rented is stopped, and what it set up removed, as well */
  revoke(
    id: string,
    query: { readonly stopMachines?: boolean; readonly removeMade?: boolean } = {},
    options?: CallOptions,
  ): Promise<void> {
    return this.remove(options, (api, init) =>
      api.DELETE('/v1/api-keys/{id}', { ...init, params: { path: { id }, query } }),
    );
  }
}
