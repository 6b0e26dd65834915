import assert from 'node:assert/strict';
import { families } from '../../../domain/catalog/families.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertListing, insertProvider } from '../../support/money/factories.js';

describe('the catalog', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
    user = await api.signIn();
    await insertProvider(api.db, 'lab');
  });
  beforeEach(async () => {
    await api.db('listings').delete();
    await insertProvider(api.db, 'lab');
  });
  after(() => api.stop());

  async function idsOf(query: string): Promise<string[]> {
    const answer = await user.get(`/v1/catalog/listings${query}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.listings.map((listing) => listing.id);
  }

  describe('GET /v1/catalog/listings', () => {
    it('shows a listing with every field of the specification', async () => {
      const listing = await insertListing(api.db);
      const answer = await user.get('/v1/catalog/listings');
      assert.deepEqual(answer.body, {
        listings: [
          {
            id: listing.id,
            model: 'RTX_4090',
            family: 'rtx-4090',
            vramGb: 24,
            gpuCount: 1,
            pricePerHourCents: 50,
            providerCode: 'lab',
            region: 'Oslo, Norway',
            regionCode: 'NO',
            interconnect: 'pcie',
            vcpus: null,
            memoryGb: null,
            diskGb: null,
            networkMbps: null,
            cudaVersion: null,
            driverVersion: null,
            availableUntil: null,
            reliability: null,
            recentStarts: null,
          },
        ],
        nextCursor: null,
      });
    });

    /** Asks for the listings with the ETag of an earlier answer. @returns the new ETag, or undefined for a 304 */
    async function tagAfter(etag: string, query = ''): Promise<string | undefined> {
      const answer = await user.get(`/v1/catalog/listings${query}`, { 'If-None-Match': etag });
      if (answer.status === 304) return undefined;
      assert.equal(answer.status, 200);
      return answer.headers.get('etag')!;
    }

    it('are told in a word when nothing has changed, without being read', async () => {
      await insertListing(api.db);
      const etag = (await tagAfter('"none"'))!;
      const sent: string[] = [];
      const listen = ({ sql }: { sql: string }) => sent.push(sql);
      api.deps.db.on('query', listen);
      assert.equal(await tagAfter(etag), undefined);
      api.deps.db.removeListener('query', listen);
      assert.ok(sent.length > 0 && !sent.some((sql) => sql.includes('"listings"')), sent.join('\n'));
      // A sync that finds the same.
      await insertProvider(api.db, 'lab');
      assert.equal(await tagAfter(etag), undefined);
      assert.notEqual(await tagAfter(etag, '?pageSize=7'), undefined, 'another page');
      const out = await api.stranger().get('/v1/catalog/listings', { 'If-None-Match': etag });
      assert.equal(out.status, 401);
      assert.equal(out.headers.get('cache-control'), 'no-store');
    });

    it('that can not be read keep nothing by which a cache would take the failure for them', async () => {
      await insertListing(api.db);
      const fail = ({ sql }: { sql: string }) => {
        if (sql.includes('"listings"')) throw new Error('a listing can not be read');
      };
      api.deps.db.on('query', fail);
      try {
        const { status, headers } = await user.get('/v1/catalog/listings');
        const kept = [headers.get('etag'), headers.get('cache-control')];
        assert.deepEqual([status, ...kept], [500, null, 'no-store']);
      } finally {
        api.deps.db.removeListener('query', fail);
      }
    });

    it('are told anew after each change, of a listing or of an upstream', async () => {
      const listing = await insertListing(api.db);
      let etag = (await tagAfter('"none"'))!;
      const changes: Record<string, () => Promise<unknown>> = {
        'a text': () => api.db('listings').where({ id: listing.id }).update({ region: 'Bergen, Norway' }),
        'another one': () => insertListing(api.db),
        'taken off': () => api.db('listings').where({ id: listing.id }).update({ offered: false }),
        'the upstream is out': () => insertProvider(api.db, 'lab', 121_000),
        'it is back': () => insertProvider(api.db, 'lab'),
        'it is paused': () =>
          api.db('providers').update({ paused_at: new Date(), paused_by: 'ops', paused_reason: 'a test' }),
        'and goes on': () =>
          api.db('providers').update({ paused_at: null, paused_by: null, paused_reason: null }),
        'all gone': () => api.db('listings').delete(),
      };
      const former = new Set<string>();
      for (const [what, change] of Object.entries(changes)) {
        await change();
        const next = await tagAfter(etag);
        assert.ok(next !== undefined, what);
        former.add(etag);
        etag = next;
      }
      // An upstream that comes back as it was has the ETag that it had.
      assert.equal(former.size, 5);
    });

    it('sorts by price, cheapest first, ties by id', async () => {
      const dear = await insertListing(api.db, { price_per_hour_cents: 900 });
      const one = await insertListing(api.db, { price_per_hour_cents: 100 });
      const two = await insertListing(api.db, { price_per_hour_cents: 100 });
      assert.deepEqual(await idsOf(''), [...[one.id, two.id].sort(), dear.id]);
    });

    it('shows only what the last sync offered, and nothing of a sync older than two minutes', async () => {
      await insertProvider(api.db, 'stale', 121_000);
      await insertProvider(api.db, 'fresh', 110_000);
      await insertProvider(api.db, 'never');
      await api.db('providers').where({ code: 'never' }).update({ catalog_synced_at: null });
      await insertListing(api.db, { offered: false });
      await insertListing(api.db, { provider_code: 'stale' });
      await insertListing(api.db, { provider_code: 'never' });
      const live = await insertListing(api.db, { provider_code: 'fresh' });
      assert.deepEqual(await idsOf(''), [live.id]);
    });

    it('filters by model, memory, count, price and region', async () => {
      const small = await insertListing(api.db);
      const big = await insertListing(api.db, {
        model: 'H100_SXM_80GB',
        family: 'h100-80gb',
        vram_gb: 80,
        gpu_count: 8,
        price_per_hour_cents: 2_000,
        region_code: 'US',
        ...{ vcpus: 208, memory_gb: 1_800, disk_gb: 24_780 },
      });
      const filters: [string, string[]][] = [
        ['?model=H100_SXM_80GB', [big.id]],
        ['?model=nothing', []],
        ['?minVramGb=24', [small.id, big.id]],
        ['?minVramGb=24.5', [big.id]],
        ['?minVcpus=207.5', [big.id]],
        ['?minVcpus=209', []],
        ['?minMemoryGb=1', [big.id]],
        ['?minDiskGb=24780', [big.id]],
        ['?minDiskGb=0', [small.id, big.id]],
        ['?gpuCount=8', [big.id]],
        ['?gpuCount=2', []],
        ['?maxPricePerHourCents=50', [small.id]],
        ['?maxPricePerHourCents=49.9', []],
        ['?region=NO', [small.id]],
        ['?region=no', [small.id]],
        ['?region=eu', [small.id]],
        ['?region=us', [big.id]],
        ['?region=apac', []],
        ['?region=us&gpuCount=8&minVramGb=80&maxPricePerHourCents=2000&model=H100_SXM_80GB', [big.id]],
      ];
      for (const [query, ids] of filters) assert.deepEqual(await idsOf(query), ids, query);
    });

    it('pages through all of it once, also while listings come and go', async () => {
      for (let price = 10; price < 60; price += 10) {
        await insertListing(api.db, { price_per_hour_cents: price });
        await insertListing(api.db, { price_per_hour_cents: price });
      }
      const all = await idsOf('');
      const first = await user.get('/v1/catalog/listings?pageSize=3');
      await insertListing(api.db, { price_per_hour_cents: 1 });
      const rest: string[] = first.body.listings.map((listing) => listing.id);
      let cursor = first.body.nextCursor;
      while (cursor !== null) {
        const page = await user.get(`/v1/catalog/listings?pageSize=3&cursor=${cursor}`);
        rest.push(...page.body.listings.map((listing) => listing.id));
        cursor = page.body.nextCursor;
      }
      assert.deepEqual(rest, all);
    });

    it('answers no cursor when the last page is full', async () => {
      await insertListing(api.db);
      await insertListing(api.db);
      assert.equal((await user.get('/v1/catalog/listings?pageSize=2')).body.nextCursor, null);
    });

    it('shows 50 by default and 200 at most', async () => {
      for (let count = 0; count < 51; count += 1) await insertListing(api.db);
      assert.equal((await idsOf('')).length, 50);
      assert.equal((await idsOf('?pageSize=200')).length, 51);
    });

    it('refuses queries of another shape, naming each parameter', async () => {
      const other = Buffer.from('[1,"rent_1"]').toString('base64url');
      const wrong: [string, string, string][] = [
        ['?gpuCount=3', 'invalid_count', 'gpuCount'],
        ['?gpuCount=x', 'invalid_count', 'gpuCount'],
        ['?pageSize=201', 'validation_failed', 'pageSize'],
        ['?pageSize=0', 'validation_failed', 'pageSize'],
        ['?pageSize=1.5', 'validation_failed', 'pageSize'],
        ['?region=XX', 'validation_failed', 'region'],
        ['?region=', 'validation_failed', 'region'],
        ['?region=constructor', 'validation_failed', 'region'],
        ['?minVramGb=-1', 'validation_failed', 'minVramGb'],
        ['?minVramGb=1e99', 'validation_failed', 'minVramGb'],
        ['?maxPricePerHourCents=cheap', 'validation_failed', 'maxPricePerHourCents'],
        ['?model=a%00b', 'validation_failed', 'model'],
        ['?model=A&model=B', 'validation_failed', 'model'],
        ['?cursor=nonsense', 'validation_failed', 'cursor'],
        [`?cursor=${other}`, 'validation_failed', 'cursor'],
        ['?colour=red', 'validation_failed', 'colour'],
      ];
      for (const [query, code, field] of wrong) {
        const answer = await user.get(`/v1/catalog/listings${query}`);
        assert.deepEqual([answer.status, answer.body.error], [400, code], query);
        assert.equal(answer.body.details.fields[0]!.field, field, query);
      }
    });
  });

  it('GET /v1/catalog/families shows each family with its models, cheapest price and live listings', async () => {
    await insertListing(api.db, { price_per_hour_cents: 60 });
    await insertListing(api.db, { price_per_hour_cents: 40 });
    await insertListing(api.db, { price_per_hour_cents: 30, offered: false });
    const answer = await user.get('/v1/catalog/families');
    assert.equal(answer.body.families.length, families.length);
    const shown = new Map(answer.body.families.map((family) => [family.family, family]));
    assert.deepEqual(shown.get('rtx-4090'), {
      family: 'rtx-4090',
      models: ['RTX_4090'],
      fromPricePerHourCents: 40,
      liveCount: 2,
    });
    assert.deepEqual(shown.get('h100-80gb'), {
      family: 'h100-80gb',
      models: ['H100_PCIE_80GB', 'H100_SXM_80GB'],
      fromPricePerHourCents: null,
      liveCount: 0,
    });
  });

  it('GET /v1/catalog/templates shows the templates and which one is the default', async () => {
    const answer = await user.get('/v1/catalog/templates');
    const templates = answer.body.templates;
    assert.deepEqual(
      templates.map((template) => template.id),
      ['ubuntu-24-04', 'pytorch', 'jupyter', 'vllm', 'ollama', 'a1111', 'text-generation-webui'],
    );
    assert.deepEqual(
      templates.filter((template) => template.isDefault).map(({ id }) => id),
      ['ubuntu-24-04'],
    );
  });
});
