import assert from 'node:assert/strict';
import { replaceLabels } from '../../../adapters/postgres/rentals/words.js';
import type { Labels } from '../../../domain/rentals/labels.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental } from '../../support/money/factories.js';

describe('labels', () => {
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

  async function insertLabelled(labels: Labels, whose = user): Promise<string> {
    const rental = await insertRental(api.db, whose.user.id);
    await api.db.transaction((trx) => replaceLabels(trx, rental, labels));
    return rental.id;
  }

  const pairs = (count: number): Labels =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'x']));

  it('are refused where there are eleven, or one is none, naming the field', async () => {
    const wrong: [labels: unknown, field: string][] = [
      [pairs(11), 'labels'],
      ['team', 'labels'],
      [['team'], 'labels'],
      [null, 'labels'],
      [{ Team: 'x' }, 'labels.Team'],
      [{ '': 'x' }, 'labels.'],
      [{ '-a': 'x' }, 'labels.-a'],
      [{ 'a:b': 'x' }, 'labels.a:b'],
      [{ ['a'.repeat(64)]: 'x' }, `labels.${'a'.repeat(64)}`],
      [{ team: 7 }, 'labels.team'],
      [{ team: null }, 'labels.team'],
      [{ team: 'x'.repeat(256) }, 'labels.team'],
      [{ team: 'a\u0000' }, 'labels.team'],
      [{ team: '\ud800' }, 'labels.team'],
    ];
    for (const [labels, field] of wrong) {
      const { status, body } = await user.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1, labels });
      assert.deepEqual([status, body.error], [400, 'validation_failed'], field);
      assert.deepEqual(
        body.details.fields.map((fault) => fault.field),
        [field],
      );
    }
  });

  it('are shown with their rental, in the order of their keys', async () => {
    const most = { ...pairs(8), 'a.b_c-d': '', z: '\u{1F600}'.repeat(255) };
    const id = await insertLabelled(most);
    const shown = (await user.get(`/v1/rentals/${id}`)).body as unknown as { labels: Labels };
    assert.deepEqual(shown.labels, most);
    assert.deepEqual(Object.keys(shown.labels), Object.keys(most).sort());
  });

  it('filter the list, page by page, and show nobody else’s rentals', async () => {
    const other = await api.signIn();
    await insertLabelled({ team: 'a:b' }, other);
    const ids = [];
    for (const team of ['a:b', 'c', 'a:b', 'a', 'a:b']) ids.push(await insertLabelled({ team, at: 'x' }));
    const wanted = [ids[4], ids[2], ids[0]];
    const first = (await user.get('/v1/rentals?label=team:a:b&pageSize=2')).body;
    const { rentals } = (await user.get(`/v1/rentals?label=team:a:b&cursor=${first.nextCursor}`)).body;
    assert.deepEqual(
      [...first.rentals, ...rentals].map(({ id }) => id),
      wanted,
    );
    assert.deepEqual((await user.get('/v1/rentals?label=team:')).body.rentals, []);
    assert.equal((await user.get('/v1/rentals?label=at:x&status=provisioning')).body.rentals.length, 5);
    assert.deepEqual((await user.get('/v1/rentals?label=at:x&status=running')).body.rentals, []);
  });

  it('refuse a filter that is no label, naming it', async () => {
    for (const label of ['team', ':x', 'Team:x', '', 'a%00:b', `a:${'x'.repeat(256)}`]) {
      const { status, body } = await user.get(`/v1/rentals?label=${label}`);
      assert.deepEqual([status, body.details.fields.map(({ field }) => field)], [400, ['label']], label);
    }
  });
});
