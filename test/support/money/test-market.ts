import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { noStarts } from '../../../domain/catalog/starts.js';
import type { Bargain, Market, PodOrder, Purchase } from '../../../money/rentals/purchase.js';

/** Upstreams that sell everything by default; a test may change that. */
export class TestMarket implements Market {
  readonly providerCodes = ['lab'];
  readonly starts = noStarts;
  readonly asked: PodOrder[] = [];
  bought: Bargain | undefined;
  sell: (order: PodOrder) => Promise<Purchase> = (order) => this.attempt(order);

  constructor(private readonly db: Database) {}

  findBought(): Promise<Bargain | undefined> {
    return Promise.resolve(this.bought);
  }

  buy(order: PodOrder): Promise<Purchase> {
    this.asked.push(order);
    return this.sell(order);
  }

  queue(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async attempt({ rentalId, listing }: Pick<PodOrder, 'rentalId' | 'listing'>) {
    const attempt = await insertAttempt(this.db, {
      rentalId,
      deployment: 'test',
      providerCode: listing.provider_code,
      listingId: listing.id,
      offerId: listing.offer_id,
      pricePerHourCents: listing.price_per_hour_cents,
      endBy: null,
      deadlineMs: 60_000,
    });
    return { kind: 'bought' as const, attempt, podId: `pod-${rentalId}` };
  }
}
