import assert from 'node:assert/strict';
import { until } from '../support/until.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

/** Rentals searched, sorted and counted by the service, over all there are (decision 143, "Sorted rentals"). */
export function describeListing(backend: () => Backend): void {
  describe('the list of rentals', () => {
    let person: Person;
    let ids: string[];

    before(async () => {
      person = await signIn(backend());
      await topUp(backend(), person, 20_000);
      const wanted = [
        { familyId: 'b200', gpuCount: 8, name: 'Train-1', labels: { team: 'research' } },
        { familyId: 'rtx-4090', gpuCount: 1, name: 'eval' },
        { familyId: 'rtx-4090', gpuCount: 1 },
      ];
      ids = [];
      for (const rental of wanted) ids.push((await person.post('/v1/rentals', rental)).body.id);
      await reach(0, 'running');
      await until('it was charged', async () => {
        return (await person.get(`/v1/rentals/${ids[0] ?? ''}`)).body.totalChargedCents > 0;
      });
      for (const place of [0, 1]) await person.post(`/v1/rentals/${ids[place] ?? ''}/stop`);
      await reach(0, 'stopped');
      await until('the other is over', async () => /stopped|failed/.test(await statusOf(1)));
      await reach(2, 'running');
    });

    const statusOf = async (place: number) =>
      (await person.get(`/v1/rentals/${ids[place] ?? ''}`)).body.status;
    const reach = (place: number, status: string) =>
      until(`no. ${place} is ${status}`, async () => (await statusOf(place)) === status);
    const ask = async (query: string) => {
      const { status, body } = await person.get(`/v1/rentals?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const placesOf = async (query: string) => (await ask(query)).rentals.map(({ id }) => ids.indexOf(id));

    it('is searched in name, machine, label and id, and narrowed', async () => {
      const searches: [query: string, places: number[]][] = [
        ['search=train', [0]],
        ['search=TEAM:res+b200', [0]],
        ['search=rtx', [2, 1]],
        [`search=${ids[1]?.slice(-8) ?? ''}`, [1]],
        ['search=%25', []],
        ['live=true', [2]],
        ['live=false', [1, 0]],
        ['search=rtx&live=false', [1]],
        [`ids=${ids[0] ?? ''},${ids[2] ?? ''},rent_x`, [2, 0]],
      ];
      for (const [query, places] of searches) assert.deepEqual(await placesOf(query), places, query);
    });

    it('has orders, the same page by page, and cursors for their own order alone', async () => {
      const orders = {
        newest: [2, 1, 0],
        oldest: [0, 1, 2],
        name: [1, 0, 2],
        price: [0, 2, 1],
        cost: [2, 0, 1],
      };
      for (const [sort, places] of Object.entries(orders)) {
        assert.deepEqual(await placesOf(`sort=${sort}`), places, sort);
        const paged: number[] = [];
        for (let cursor: string | null = ''; cursor !== null;) {
          const part = `sort=${sort}&pageSize=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
          const { rentals, nextCursor } = await ask(part);
          assert.ok(paged.length < 9, 'the cursors go round in circles');
          paged.push(...rentals.map(({ id }) => ids.indexOf(id)));
          cursor = nextCursor;
        }
        assert.deepEqual(paged, places, `${sort}, by pages`);
      }
      const { nextCursor } = await ask('sort=name&pageSize=1');
      for (const sort of ['newest', 'cost']) {
        const { status, body } = await person.get(`/v1/rentals?sort=${sort}&cursor=${nextCursor ?? ''}`);
        assert.deepEqual([status, body.details.fields[0]?.field], [400, 'cursor'], sort);
      }
    });

    it('is counted by status over all pages, only where that is asked for', async () => {
      const countsOf = async (query: string) =>
        ((await ask(query)) as { counts?: Record<string, number> }).counts;
      const all = await countsOf('counts=true&pageSize=1&live=true');
      assert.ok(all);
      const { running, ...over } = all;
      assert.equal(running, 1);
      assert.equal(
        Object.values(over).reduce((sum, count) => sum + count, 0),
        2,
      );
      assert.equal((await countsOf('counts=true&search=train'))?.['stopped'], 1);
      assert.equal(await countsOf('search=train'), undefined);
    });
  });
}
