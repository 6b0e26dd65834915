import assert from 'node:assert/strict';
import { eventTypes } from '../../../domain/events/events.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { happen, newcomer, prune, times } from '../../support/service/events.js';

interface Page {
  readonly events: { readonly seq: number; readonly type: string; readonly id: string }[];
  readonly lastSeq: number;
}

describe('GET /v1/events', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await newcomer(api);
  });
  after(() => api.stop());

  async function pageOf(query: string, client = user): Promise<Page> {
    const { status, body } = await client.get(`/v1/events${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Page;
  }
  const seqs = ({ events }: Page): number[] => events.map(({ seq }) => seq);

  it('is empty before anything has happened', async () => {
    assert.deepEqual(await pageOf(''), { events: [], lastSeq: 0 });
    assert.deepEqual(await pageOf('?after=0'), { events: [], lastSeq: 0 });
  });

  it('tells everything once, page by page, to the one whom it is about', async () => {
    const other = await newcomer(api);
    await happen(api.db, user.user.id, times(7));
    await happen(api.db, other.user.id, ['card.removed']);
    const told: number[] = [];
    for (let after = 0, last = -1; after !== last;) {
      const page = await pageOf(`?after=${after}&pageSize=3`);
      told.push(...seqs(page));
      [last, after] = [after, page.lastSeq];
    }
    assert.deepEqual(told, [1, 2, 3, 4, 5, 6, 7]);
    const [only] = (await pageOf('', other)).events;
    assert.deepEqual(
      { ...only, id: undefined, createdAt: undefined },
      {
        ...{ id: undefined, createdAt: undefined, seq: 1, type: 'card.removed' },
        ...{ entityId: other.user.id, data: { reason: 'user' } },
      },
    );
  });

  describe('back from a number', () => {
    async function backFrom(first: number, query = ''): Promise<number[][]> {
      const pages: number[][] = [];
      for (let before = first, last = -1; before !== last;) {
        const page = await pageOf(`?before=${before}&pageSize=3${query}`);
        pages.push(seqs(page));
        [last, before] = [before, page.lastSeq];
      }
      return pages;
    }

    it('tells everything once, the newest first', async () => {
      await happen(api.db, user.user.id, times(7));
      assert.deepEqual(await backFrom(Number.MAX_SAFE_INTEGER), [[7, 6, 5], [4, 3, 2], [1], []]);
      assert.deepEqual(await backFrom(3), [[2, 1], []]);
      assert.deepEqual(await pageOf('?before=0'), { events: [], lastSeq: 0 });
    });

    it('moves on past what a filter leaves out, and ends where the feed is kept from', async () => {
      await happen(api.db, user.user.id, [...times(3), 'card.removed', ...times(4), 'card.removed']);
      assert.deepEqual(await backFrom(100, '&types=card.removed'), [[9, 4], []]);
      await prune(api.db, user.user.id, 5);
      assert.deepEqual(await backFrom(100, '&types=card.removed'), [[9], []]);
    });

    it('does not go together with a number to go on from', async () => {
      const { status, body } = await user.get('/v1/events?before=4&after=1');
      assert.deepEqual([status, body.error], [400, 'validation_failed']);
    });
  });

  describe('with a filter', () => {
    it('moves on past what is left out', async () => {
      await happen(api.db, user.user.id, ['card.saved', ...times(5), 'card.removed', ...times(4)]);
      const page = await pageOf('?types=card.saved,card.removed');
      assert.deepEqual([seqs(page), page.lastSeq], [[1, 7], 11]);
      const full = await pageOf('?types=card.saved,card.removed&pageSize=1');
      assert.deepEqual([seqs(full), full.lastSeq], [[1], 1]);
      const next = await pageOf('?types=card.saved,card.removed&pageSize=1&after=1');
      assert.deepEqual([seqs(next), next.lastSeq], [[7], 7]);
      const rest = await pageOf('?types=card.saved&after=7');
      assert.deepEqual([seqs(rest), rest.lastSeq], [[], 11]);
    });

    it('tells a gap all the same', async () => {
      await happen(api.db, user.user.id, ['card.saved', 'feed.resync', 'card.removed']);
      const page = await pageOf('?types=card.removed');
      assert.deepEqual([seqs(page), page.lastSeq], [[2, 3], 3]);
    });

    it('looks at a bounded number of events, and says how far it came', async () => {
      await api.db.raw(
        `insert into event_outbox (user_id, type, entity_id, data)
         select :id, 'ssh_key.added', :id, '{}' from generate_series(1, 2500)`,
        { id: user.user.id },
      );
      await happen(api.db, user.user.id, ['card.removed']);
      const first = await pageOf('?types=card.removed');
      assert.deepEqual([seqs(first), first.lastSeq], [[], 2_000]);
      const second = await pageOf('?types=card.removed&after=2000');
      assert.deepEqual([seqs(second), second.lastSeq], [[2_501], 2_501]);
    });

    it('refuses unknown types, naming the field and all that there are', async () => {
      for (const [types, shown] of [
        ['card.saved,card.eaten', 'card.eaten'],
        ['card', '“card”'],
        [',', '“”'],
        ['constructor', 'constructor'],
        ['x'.repeat(900), `${'x'.repeat(50)}…`],
      ] as const) {
        const { status, body } = await user.get(`/v1/events?types=${types}`);
        assert.deepEqual([status, body.error], [400, 'validation_failed'], types);
        const [field] = body.details.fields;
        assert.equal(field?.field, 'types');
        assert.ok(field.message.includes(shown));
        assert.ok(eventTypes.every((type) => field.message.includes(type)));
      }
    });
  });

  describe('with a number that is none of the feed’s', () => {
    it('answers resync beyond the newest event', async () => {
      await happen(api.db, user.user.id, times(3));
      const { status, body } = await user.get('/v1/events?after=4');
      assert.deepEqual([status, body.error, body.details], [409, 'resync', { firstSeq: 1, lastSeq: 3 }]);
      assert.match(body.message, /after=3/);
      assert.deepEqual(await pageOf('?after=3'), { events: [], lastSeq: 3 });
    });

    it('answers resync where what comes after is pruned, and begins with the oldest when asked for no number', async () => {
      await happen(api.db, user.user.id, times(5));
      await prune(api.db, user.user.id, 2);
      for (const after of [0, 1]) {
        const { status, body } = await user.get(`/v1/events?after=${after}`);
        assert.deepEqual([status, body.details], [409, { firstSeq: 3, lastSeq: 5 }], `after ${after}`);
      }
      assert.deepEqual(seqs(await pageOf('?after=2')), [3, 4, 5]);
      assert.deepEqual(seqs(await pageOf('')), [3, 4, 5]);
    });

    it('knows a feed of which nothing is kept', async () => {
      await happen(api.db, user.user.id, times(2));
      await prune(api.db, user.user.id, 2);
      assert.deepEqual(await pageOf(''), { events: [], lastSeq: 2 });
      assert.deepEqual(await pageOf('?after=2'), { events: [], lastSeq: 2 });
      const { body } = await user.get('/v1/events?after=1');
      assert.deepEqual(body.details, { firstSeq: 3, lastSeq: 2 });
    });

    for (const query of [
      'after=-1',
      'after=1.5',
      'after=x',
      'after=99999999999999999999',
      'after=1&after=2',
      'cursor=a',
    ]) {
      it(`refuses ?${query}`, async () => {
        const { status, body } = await user.get(`/v1/events?${query}`);
        assert.deepEqual([status, body.error], [400, 'validation_failed']);
      });
    }
  });

  it('asks for a session', async () => {
    assert.equal((await api.stranger().get('/v1/events')).status, 401);
    assert.equal((await api.stranger().get('/v1/events/stream')).status, 401);
  });
});
