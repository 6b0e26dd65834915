import { byCursor, type Paged } from '../pages.js';
import type { Family, FamilyHistory, Listing, ListingPage, Template } from '../schema.js';
import type { CallOptions } from '../transport.js';
import { Noun } from './noun.js';
import type { QueryOf } from './query.js';

/** What can be rented. */
export class Catalog extends Noun {
  /** Machines on offer now, cheapest first. */
  listings(query: QueryOf<'/v1/catalog/listings'> = {}, options?: CallOptions): Paged<Listing, ListingPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/catalog/listings', { ...init, params: { query: { ...query, ...cursor } } }),
        ),
      ({ listings }) => listings,
    );
  }

  /** The kinds of GPU, with the lowest price of each. */
  async families(options?: CallOptions): Promise<Family[]> {
    const { families } = await this.call('read', options, (api, init) =>
      api.GET('/v1/catalog/families', init),
    );
    return families;
  }

  /** The lowest price and the number of machines of a family, hour by hour. */
  history(
    id: string,
    query: QueryOf<'/v1/catalog/families/{id}/history'> = {},
    options?: CallOptions,
  ): Promise<FamilyHistory> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/catalog/families/{id}/history', { ...init, params: { path: { id }, query } }),
    );
  }

  /** What may be installed on a machine. */
  async templates(options?: CallOptions): Promise<Template[]> {
    const { templates } = await this.call('read', options, (api, init) =>
      api.GET('/v1/catalog/templates', init),
    );
    return templates;
  }
}
