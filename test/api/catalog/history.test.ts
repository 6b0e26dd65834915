import assert from 'node:assert/strict';
import { recordOfferHour } from '../../../adapters/postgres/catalog/offer-history.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertListing, insertProvider } from '../../support/money/factories.js';

describe('what is known of a family’s machines', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
    user = await api.signIn();
    await insertProvider(api.db);
    await insertListing(api.db);
    await insertListing(api.db, { family: 'b200', model: 'B200', price_per_hour_cents: 400 });
    await api.db('reliability').insert({
      ...{
        provider_code: 'lab',
        family: 'rtx-4090',
        created: 98,
        not_created: 2,
        losses: 2,
        machine_ms: 3_600_000_000,
      },
      ...{ ready_p50_seconds: 41, ready_p90_seconds: 95, ssh_p50_seconds: 40, ssh_p90_seconds: 90 },
    });
  });
  after(() => api.stop());

  it('is told with each listing, and is null where too little is known', async () => {
    const { body } = await user.get('/v1/catalog/listings');
    assert.deepEqual(
      body.listings.map((listing) => (listing as unknown as { reliability: unknown }).reliability),
      [
        {
          createSuccess: 0.98,
          timeToSshSeconds: { p50: 40, p90: 90 },
          lossesPer1000Hours: 2,
          samples: 100,
          days: 30,
        },
        null,
      ],
    );
  });

  it('is its history by the hour, everywhere or in a region', async () => {
    await recordOfferHour(api.db, 'lab');
    const { rows } = await api.db.raw<{ rows: { at: Date }[] }>(`select max(hour) as at from catalog_hours`);
    const at = rows[0]!.at.toISOString();
    const read = async (query = '') => user.get(`/v1/catalog/families/rtx-4090/history${query}`);
    const everywhere = await read();
    assert.equal(everywhere.status, 200);
    assert.deepEqual(everywhere.body, {
      familyId: 'rtx-4090',
      points: [{ at, lowestPricePerHourCents: 50, available: 1 }],
    });
    assert.deepEqual((await read('?region=EU')).body, everywhere.body);
    const none = { familyId: 'rtx-4090', points: [{ at, lowestPricePerHourCents: null, available: 0 }] };
    assert.deepEqual((await read('?region=us')).body, none);
    const odd = await read('?region=moon');
    assert.deepEqual([odd.status, odd.body.error], [400, 'validation_failed']);
  });

  it('is not found for a family that there is not', async () => {
    for (const id of ['rtx-1', 'RTX-4090', '%00', 'rtx-4090%2F']) {
      const { status, body } = await user.get(`/v1/catalog/families/${id}/history`);
      assert.deepEqual([status, body.error], [404, 'not_found'], id);
    }
  });
});
