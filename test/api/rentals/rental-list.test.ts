import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { replaceLabels } from '../../../adapters/postgres/rentals/words.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { rentalSorts } from '../../../domain/rentals/listing.js';
import type { Labels } from '../../../domain/rentals/labels.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental, insertRunningRental, insertStoppedRental } from '../../support/money/factories.js';

describe('the list of rentals', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    // Temporal is away: answers that do not need it must come all the same.
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  const stopped = (name: string | null, columns: Partial<RentalRow> = {}) =>
    insertStoppedRental(api.db, user.user.id, { name, ...columns });

  async function ask(query: string) {
    const answer = await user.get(`/v1/rentals?${query}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  }
  const namesOf = async (query: string) => (await ask(query)).rentals.map(({ name }) => name);

  /** A settled one keeps the labels that it had. */
  async function labelled(
    name: string,
    labels: Labels,
    columns: Partial<RentalRow> = {},
  ): Promise<RentalRow> {
    const rental = await insertRunningRental(api.db, user.user.id, 1_000, { name, ...columns });
    await api.db.transaction((trx) => replaceLabels(trx, rental, labels));
    const end = { ended_at: rental.running_at, settled_at: rental.running_at, stop_reason: 'user' } as const;
    await api
      .db('rentals')
      .where({ no: rental.no })
      .update({ status: 'stopped', ...end });
    return rental;
  }

  /** All pages of a query, a few at a time; `between` happens after each. */
  async function pages(query: string, between?: () => Promise<unknown>) {
    const names: (string | null)[] = [];
    let cursor = '';
    do {
      const { rentals, nextCursor } = await ask(`${query}&pageSize=2${cursor}`);
      names.push(...rentals.map(({ name }) => name));
      cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`;
      assert.ok(names.length < 20, 'the cursors go round in circles');
      await between?.();
    } while (cursor !== '');
    return names;
  }

  describe('searched', () => {
    it('finds by name, id, machine, place, provider and label, whatever the case, each word anywhere', async () => {
      const one = await labelled('Train-7', { team: 'Research', run: '12' }, { family: 'h100-80gb' });
      await labelled('eval', { team: 'web' }, { region: 'Texas', provider_code: 'acme' });
      const searches: [search: string, names: string[]][] = [
        ['train', ['Train-7']],
        ['TRAIN-7', ['Train-7']],
        [one.id.slice(-6).toLowerCase(), ['Train-7']],
        ['h100 80', ['Train-7']],
        ['norway 7', ['Train-7']],
        ['team:research', ['Train-7']],
        ['research RUN:12', ['Train-7']],
        ['web acme', ['eval']],
        ['team:', ['eval', 'Train-7']],
        ['research web', []],
        ['%', []],
        ['_____', []],
        ['\\', []],
      ];
      for (const [search, names] of searches) {
        assert.deepEqual(await namesOf(`search=${encodeURIComponent(search)}`), names, search);
      }
    });

    it('looks through all of them, and at nobody else’s', async () => {
      const other = await api.signIn();
      await insertRental(api.db, other.user.id, { name: 'needle' });
      await stopped('needle');
      for (let count = 0; count < 4; count += 1) await stopped('hay');
      assert.deepEqual(await namesOf('search=needle&pageSize=1'), ['needle']);
    });

    it('goes together with a label, a status and the ended ones', async () => {
      await labelled('a', { team: 'x' }, { family: 'b200' });
      await stopped('b', { family: 'b200' });
      await insertRental(api.db, user.user.id, { name: 'c', family: 'b200' });
      assert.deepEqual(await namesOf('search=b200&label=team:x'), ['a']);
      assert.deepEqual(await namesOf('search=b200&status=provisioning'), ['c']);
      assert.deepEqual(await namesOf('search=b200&live=false'), ['b', 'a']);
      assert.deepEqual(await namesOf('search=b200&live=true'), ['c']);
      assert.deepEqual(await namesOf('live=true&status=stopped'), []);
    });
  });

  describe('sorted', () => {
    async function insertMixed(): Promise<void> {
      await stopped('b', { price_per_hour_cents: 50, charged_cents: 900, refunded_cents: 800 });
      await stopped('A', { price_per_hour_cents: 70, charged_cents: 300 });
      await stopped(null, { price_per_hour_cents: 50, charged_cents: 300 });
      await insertRunningRental(api.db, user.user.id, 0, { name: 'c', price_per_hour_cents: 60 });
      await stopped('d', { price_per_hour_cents: 10, charged_cents: 5_000 });
    }
    const orders: Record<(typeof rentalSorts)[number], (string | null)[]> = {
      newest: ['d', 'c', null, 'A', 'b'],
      oldest: ['b', 'A', null, 'c', 'd'],
      name: ['A', 'b', 'c', 'd', null],
      price: ['A', 'c', null, 'b', 'd'],
      cost: ['c', 'd', null, 'A', 'b'],
    };

    it('has each order, the same by pages as at once', async () => {
      await insertMixed();
      for (const sort of rentalSorts) {
        assert.deepEqual(await namesOf(`sort=${sort}`), orders[sort], sort);
        assert.deepEqual(await pages(`sort=${sort}`), orders[sort], `${sort} by pages`);
      }
      assert.deepEqual(await namesOf(''), orders.newest);
    });

    it('leads on where a page ends among those without a name', async () => {
      for (const name of [null, 'z', null, null]) await stopped(name);
      assert.deepEqual(await pages('sort=name'), ['z', null, null, null]);
    });

    it('shows each once by cost though those that run cost more and more', async () => {
      await insertMixed();
      const rise = () => api.db('rentals').where({ status: 'running' }).increment('charged_cents', 2_000);
      assert.deepEqual(await pages('sort=cost', rise), orders.cost);
    });

    it('has cursors that lead on under their own order alone', async () => {
      await insertMixed();
      const { nextCursor } = await ask('sort=price&pageSize=2');
      for (const query of ['', 'sort=cost&', 'sort=name&', 'sort=newest&']) {
        const { status, body } = await user.get(`/v1/rentals?${query}cursor=${nextCursor}`);
        assert.deepEqual([status, body.details.fields[0]?.field], [400, 'cursor'], query);
      }
    });

    it('refuses cursors that are made up', async () => {
      const mine = await stopped('a');
      const made = (key: unknown) => Buffer.from(JSON.stringify(key)).toString('base64url');
      const keys = [
        ['price', mine.id, 'x'],
        ['price', mine.id, 1.5],
        ['price', mine.id, 1, 1],
        ['price', newId('rent'), 1],
        ['price', mine.id],
        [],
      ];
      for (const key of keys) {
        const { status, body } = await user.get(`/v1/rentals?sort=price&cursor=${made(key)}`);
        assert.deepEqual([status, body.details.fields[0]?.field], [400, 'cursor'], JSON.stringify(key));
      }
    });
  });

  describe('counted', () => {
    it('tells how many fit by status, over all pages and whatever status is listed', async () => {
      for (let count = 0; count < 3; count += 1) await stopped('train');
      await stopped('eval');
      await insertRental(api.db, user.user.id, { name: 'train' });
      await insertRental(api.db, (await api.signIn()).user.id, { name: 'train' });
      const none = { provisioning: 0, running: 0, stopping: 0, stopped: 0, failed: 0 };
      const counts = async (query: string) => (await ask(query)) as unknown as { counts?: object };
      assert.deepEqual((await counts('counts=true&pageSize=1')).counts, {
        ...none,
        ...{ provisioning: 1, stopped: 4 },
      });
      assert.deepEqual((await counts('counts=true&search=train&status=stopped')).counts, {
        ...none,
        ...{ provisioning: 1, stopped: 3 },
      });
      assert.deepEqual((await counts('counts=true&label=a:b')).counts, none);
      assert.equal('counts' in (await counts('')), false);
    });
  });

  it('lists the rentals of some ids, and leaves out what is nobody’s or somebody else’s', async () => {
    const [one, two] = [await stopped('one'), await stopped('two')];
    await stopped('three');
    const foreign = await insertRental(api.db, (await api.signIn()).user.id);
    const ids = [one.id, two.id, foreign.id, newId('rent'), 'rent_nonsense'].join(',');
    assert.deepEqual(await namesOf(`ids=${ids}`), ['two', 'one']);
    assert.deepEqual(await namesOf('ids=,'), []);
  });

  it('refuses what it does not know, naming the field', async () => {
    const wrong: [query: string, field: string][] = [
      ['sort=best', 'sort'],
      ['live=perhaps', 'live'],
      ['counts=1', 'counts'],
      [`search=${'a'.repeat(101)}`, 'search'],
      ['search=', 'search'],
      ['search=a+b+c+d+e+f+g+h+i', 'search'],
      [`ids=${Array.from({ length: 101 }, () => 'rent_1').join(',')}`, 'ids'],
    ];
    for (const [query, field] of wrong) {
      const { status, body } = await user.get(`/v1/rentals?${query}`);
      assert.deepEqual([status, body.details.fields[0]?.field], [400, field], query);
    }
  });
});
