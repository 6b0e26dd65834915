import assert from 'node:assert/strict';
import { CancelledFailure } from '@temporalio/activity';
import { newId } from '../../../adapters/ids.js';
import { createActivities } from '../../../activities/index.js';
import { listProviders } from '../../../adapters/postgres/catalog/provider-health.js';
import { ProviderError, type Provider } from '../../../adapters/providers/provider.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { runAlone } from '../../support/service/activity-context.js';
import { insertProvider } from '../../support/money/factories.js';
import { getRental, insertRunning, insertWallet } from '../../support/money/money.js';
import { until } from '../../support/until.js';

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
    assert.deepEqual(reads.slice(0, 4), ['catalog', 'list', 'catalog', 'list']);
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
