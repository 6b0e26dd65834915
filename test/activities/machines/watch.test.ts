import assert from 'node:assert/strict';
import { CancelledFailure } from '@temporalio/activity';
import { newId } from '../../../adapters/ids.js';
import { createActivities } from '../../../activities/index.js';
import { listProviders } from '../../../adapters/postgres/catalog/provider-health.js';
import { ProviderError, type Offer, type Provider } from '../../../adapters/providers/provider.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { runAlone } from '../../support/service/activity-context.js';
import { insertProvider } from '../../support/money/factories.js';
import { getRental, insertRunning, insertWallet } from '../../support/money/money.js';
import { until } from '../../support/until.js';
import { json, startScriptedUpstream } from '../../adapters/providers/upstream/scripted-upstream.js';

describe('the watcher of an upstream that tells its quotas and its balance', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities();
  });
  after(() => lone.close());

  /** Watches an upstream until something is there, then ends the watcher as a worker's stop does. */
  async function watch(parts: Partial<Provider>, what: string, isThere: () => boolean | Promise<boolean>) {
    const provider = { ...new ScriptedUpstream().port, ...parts };
    const activities = createActivities({
      ...{ ...lone.deps, providers: new Map([['lab', provider]]) },
      oddities: { take: () => [] } as never,
    });
    const running = runAlone(() => activities.watchProvider('lab', 60_000));
    running.result.catch(() => undefined);
    try {
      await until(what, isThere);
    } finally {
      running.cancel();
      await assert.rejects(running.result, CancelledFailure);
    }
    return (await listProviders(lone.db))[0]!;
  }

  it('reads only when the quotas let it, and a list before a catalog comes again', async () => {
    // A list is due again after 50 ms: both wait for each read that is let through.
    const APART_MS = 80;
    const reads: string[] = [];
    let lastMs = 0;
    let isAllowed = false;
    const read = (what: string): void => {
      assert.ok(isAllowed, `${what} was read although the quotas put it off`);
      isAllowed = false;
      reads.push(what);
    };
    await watch(
      {
        pace() {
          isAllowed = performance.now() - lastMs > APART_MS;
          if (isAllowed) lastMs = performance.now();
          return Promise.resolve(isAllowed ? 0 : 1);
        },
        listPods() {
          read('list');
          return Promise.resolve([]);
        },
        listOffers() {
          read('catalog');
          return Promise.reject(new ProviderError('unknown', 'no answer', {}));
        },
      },
      'four reads',
      () => reads.length >= 4,
    );
    assert.deepEqual(reads.slice(0, 4), ['list', 'catalog', 'list', 'catalog']);
  });

  it('takes nothing off sale for what it puts off itself', async () => {
    await lone.db('providers').delete();
    let asks = 0;
    const row = await watch(
      {
        pace() {
          asks += 1;
          return Promise.resolve(60_000);
        },
        listPods: () => Promise.reject(new Error('not now')),
        listOffers: () => Promise.reject(new Error('not now')),
      },
      'it has asked a few times',
      () => asks > 6,
    );
    assert.deepEqual([row.out_until, row.failures], [null, 0]);
  });

  it('reads a list of any length beside the catalog, as long as it makes progress', async () => {
    await lone.db('providers').delete();
    let catalogs = 0;
    let pages = 0;
    let lists = 0;
    const row = await watch(
      {
        async listPods(tell) {
          lists += 1;
          const before = catalogs;
          // It takes longer than the time after which the catalog is read again.
          for (; lists > 1 || catalogs < before + 2; pages += 1) {
            tell?.();
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          return [];
        },
        listOffers() {
          catalogs += 1;
          return Promise.reject(new ProviderError('rate_limited', 'not now', { outOfTurn: true }));
        },
      },
      'the second list',
      () => lists === 2,
    );
    assert.ok(catalogs >= 2 && pages > 0, `${catalogs} catalogs, ${pages} pages`);
    assert.notEqual(row.pods_listed_at, null, 'the first list counts');
    const seen = pages;
    await until('the second list has ended with its watcher', () => pages === seen);
    assert.deepEqual([row.failures, row.out_until], [0, null], 'which is no failure of the upstream');
  });

  it('keeps the balance; one that can’t be read disturbs no list', async () => {
    await lone.db('providers').delete();
    const balance = { balanceCents: 1_000_000, burnCentsPerHour: 70 };
    const kept = await watch(
      { readBalance: () => Promise.resolve(balance) },
      'the balance',
      async () => typeof (await listProviders(lone.db))[0]?.balance_cents === 'number',
    );
    assert.deepEqual([kept.balance_cents, kept.burn_cents_per_hour], [1_000_000, 70]);
    let lists = 0;
    let balances = 0;
    const after = await watch(
      {
        listPods() {
          lists += 1;
          return Promise.resolve([]);
        },
        readBalance() {
          balances += 1;
          return Promise.reject(new ProviderError('unknown', 'no answer', {}));
        },
      },
      'lists after it',
      () => balances === 1 && lists > 3,
    );
    assert.deepEqual([after.failures, after.out_reason], [0, null]);
    assert.deepEqual(after.balance_read_at, kept.balance_read_at);
  });

  /** An offer as the port tells it, at a price that no listing may have. */
  const dearest: Offer = {
    ...{ offerId: 'dear', model: 'H100_SXM_80GB', family: 'h100-80gb', vramGb: 80, gpuCount: 1 },
    ...{ pricePerHourCents: 10_000_001, region: 'Texas', regionCode: 'US', interconnect: 'sxm5' },
  };

  it('watches its machines although its catalog can’t be kept, and tells operators of that', async () => {
    await lone.db('providers').delete();
    let lists = 0;
    const row = await watch(
      {
        listPods: () => Promise.resolve(void (lists += 1)).then(() => []),
        listOffers: () => Promise.resolve([dearest]),
      },
      'lists, and the failure of the catalog',
      async () => lists > 3 && (await isStuck('catalog of lab')),
    );
    assert.notEqual(row.pods_listed_at, null);
  });

  it('reads lists beside a catalog that takes its time', async () => {
    await lone.db('providers').delete();
    let [lists, isOver] = [0, false];
    await watch(
      {
        listPods: () => Promise.resolve(void (lists += 1)).then(() => []),
        listOffers: () => until('lists beside it', () => isOver || lists > 3).then(() => []),
      },
      'lists',
      () => lists > 3,
    ).finally(() => {
      isOver = true;
    });
  });

  async function isStuck(item: string): Promise<boolean> {
    return (await lone.db('stuck_items').where({ duty: 'upkeep', item }).first()) !== undefined;
  }

  it('keeps all that an upstream tells beside what no row can hold', async () => {
    await lone.db('providers').delete();
    const upstream = await startScriptedUpstream('shadeform');
    const pod = { status: 'active', ip: '192.0.2.1', ssh_user: 'shadeform', hourly_price: 210 };
    upstream.handlers['GET /v1/instances'] = json(200, {
      instances: [
        { ...pod, id: 'well', name: 'test-1' },
        { ...pod, id: 'half-a-port', name: 'test-2', ssh_port: 22.5 },
        { ...pod, id: 'far-port', name: 'test-3', ssh_port: 3_000_000_000 },
        { ...pod, id: 'dear', name: 'test-4', hourly_price: 3_000_000_000 },
        { ...pod, id: 'nul', name: 'test-5', ssh_user: 'a\0b', status: 'act\0ive' },
        { ...pod, id: 'lone', name: 'test-6', ip: 'a\ud800' },
      ],
    });
    const type = (name: string, price: number, region: string) => ({
      ...{ cloud: 'lambda', shade_instance_type: name, hourly_price: price, deployment_type: 'vm' },
      configuration: {
        ...{ gpu_type: 'H100', interconnect: 'sxm5', vram_per_gpu_in_gb: 80, num_gpus: 1 },
        os_options: ['ubuntu24.04_cuda12.8_shade_os'],
      },
      availability: [{ available: true, region: 'us-east-1', display_name: region }],
    });
    upstream.handlers['GET /v1/instances/types'] = json(200, {
      instance_types: [
        type('well', 210, 'Virginia'),
        type('dear', 10_000_001, 'Virginia'),
        type('nul', 210, 'Virgi\0nia'),
        type('l'.repeat(10_000), 210, 'Virginia'),
      ],
    });
    try {
      await watch(
        { ...upstream.provider, code: 'lab' },
        'lists and a catalog',
        async () =>
          (await lone.db('pods').where({ missing_lists: 0 })).length > 0 &&
          (await lone.db('listings').where({ offered: true })).length > 0,
      );
    } finally {
      await upstream.stop();
    }
    const pods = await lone.db('pods').orderBy('tag');
    const most = 2 ** 31 - 1;
    assert.deepEqual(
      pods.map((row) => [row.pod_id, row.status, row.host, row.port, row.username, row.price_per_hour_cents]),
      [
        ['well', 'active', '192.0.2.1', 22, 'shadeform', 210],
        ['half-a-port', 'active', null, null, 'shadeform', 210],
        ['far-port', 'active', null, null, 'shadeform', 210],
        ['dear', 'active', '192.0.2.1', 22, 'shadeform', most],
        ['nul', 'pending', '192.0.2.1', 22, null, 210],
        ['lone', 'active', null, null, 'shadeform', 210],
      ],
    );
    const listings = await lone.db('listings').where({ offered: true }).orderBy('offer_id');
    assert.deepEqual(
      listings.map(({ offer_id, region }) => [offer_id, region]),
      [
        ['lambda/nul/us-east-1', 'us-east-1'],
        ['lambda/well/us-east-1', 'Virginia'],
      ],
    );
    assert.deepEqual(
      upstream.oddities.filter(({ kind }) => kind === 'malformed').length >= 5,
      true,
      JSON.stringify(upstream.oddities),
    );
  });

  describe('and ends its machines by a date', () => {
    const HOUR = 3_600_000;
    /** More than one round renews. */
    const LATE = 23;
    let begunMs: number;
    beforeEach(async () => {
      await lone.db('allocation_attempts').delete();
      await lone.db('rentals').delete();
      await insertProvider(lone.db);
      begunMs = Date.now();
      for (const hours of [3, 4, 5]) await run(`paid-less-${hours}`, { hours, cents: 1 });
      for (let hours = LATE; hours > 0; hours -= 1) await run(`paid-on-${hours}`, { hours, cents: 10_000 });
    });

    /** Nothing meters it, so that a cent pays for an hour. */
    async function run(podId: string, { hours, cents }: { hours: number; cents: number }): Promise<void> {
      const id = await insertRunning(lone.db, await insertWallet(lone.db, cents), {
        ...{ podId, priceCents: 100, holdCents: 0, ranMs: HOUR },
      });
      const { tag } = await getRental(lone.db, id);
      await lone.db('allocation_attempts').insert({
        ...{
          rental_id: id,
          attempt: 1,
          provider_code: 'lab',
          listing_id: newId('lst'),
          offer_id: 'offer',
          tag,
        },
        ...{ price_per_hour_cents: 100, state: 'adopted', pod_id: podId },
        end_by: new Date(begunMs + hours * HOUR),
      });
    }

    it('renews all of them without a pause, those first that it would end too early', async () => {
      const renewed: string[] = [];
      await watch(
        {
          endBy(podId) {
            renewed.push(podId);
            return Promise.resolve();
          },
        },
        'all dates are renewed',
        () => renewed.length >= LATE + 3,
      );
      const soonestFirst = Array.from({ length: LATE }, (_, n) => `paid-on-${n + 1}`);
      assert.deepEqual(renewed, [...soonestFirst, ...[3, 4, 5].map((hours) => `paid-less-${hours}`)]);
    });

    /** Refuses the first renewals as our own budget does. @returns the renewals that were asked for */
    async function watchShort(retryAfterMs: number, what: string, isThere: (lists: number) => boolean) {
      let [asked, lists] = [0, 0];
      const refused = { retryAfterMs, outOfTurn: true };
      await watch(
        {
          endBy: () =>
            (asked += 1) === 1
              ? Promise.reject(new ProviderError('rate_limited', 'the budget is used up', refused))
              : Promise.resolve(),
          listPods: () => Promise.resolve(void (lists += 1)).then(() => []),
        },
        what,
        () => isThere(asked > 1 ? Infinity : lists),
      );
      return asked;
    }

    it('waits for its share of the requests, and reads no machine for a renewal until then', async () => {
      assert.equal(await watchShort(60_000, 'the lists go on', (lists) => lists > 5), 1);
      assert.ok((await watchShort(1, 'it goes on with the next share', (lists) => lists === Infinity)) > 1);
    });
  });
});
