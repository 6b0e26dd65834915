import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { findMissingPods } from '../../../adapters/postgres/machines/pods-watch.js';
import { recordPodList } from '../../../adapters/postgres/machines/pods.js';
import type { Pod } from '../../../adapters/providers/provider.js';
import { createTestDatabase } from '../../support/servers/database.js';
import { insertProvider, insertRunningRental, insertUser } from '../../support/money/factories.js';

const COUNT = 50_000;

describe(`a list of ${COUNT} machines`, () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'test');
    await insertProvider(db);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const podOf = (index: number): Pod => ({
    podId: `pod-${index}`,
    tag: `test-rent-${index}`,
    status: 'active',
    upstreamStatus: 'active',
    host: '203.0.113.1',
    port: index + 1,
    username: 'root',
    pricePerHourCents: 40,
  });
  const all = Array.from({ length: COUNT }, (_, index) => podOf(index));
  const write = (pods: readonly Pod[]): Promise<void> =>
    recordPodList(db, 'lab', { pods, askedAt: new Date() });
  /** The version of each machine's row: an untouched row keeps its version. */
  const versions = async (): Promise<Map<string, string>> => {
    const { rows } = await db.raw<{ rows: { pod_id: string; xmin: string }[] }>(
      'select pod_id, xmin::text as xmin from pods',
    );
    return new Map(rows.map(({ pod_id, xmin }) => [pod_id, xmin]));
  };

  it('is written whole, and again only where something changed', async () => {
    await write(all);
    const first = await versions();
    assert.equal(first.size, COUNT);
    await write(all.map((pod, index) => (index === 30_000 ? { ...pod, port: 1 } : pod)));
    const changed = [...(await versions())].filter(([podId, xmin]) => first.get(podId) !== xmin);
    assert.deepEqual(
      changed.map(([podId]) => podId),
      ['pod-30000'],
    );
  });

  it('tells the one machine that it misses, which is gone after the second list', async () => {
    const { id } = await insertUser(db);
    await insertRunningRental(db, id, 1_000, { pod_id: 'pod-7', tag: 'test-rent-7' });
    const others = all.filter((_, index) => index !== 7);
    const listedIds = others.map(({ podId }) => podId);
    const { missing, vanished, running } = await findMissingPods(db, 'lab', listedIds);
    assert.deepEqual([missing.map(({ podId }) => podId), vanished, running], [['pod-7'], 1, 1]);
    for (const gone of [false, true]) {
      await write(others);
      const rows = await db('pods').where('missing_lists', '>', 0);
      assert.deepEqual(
        rows.map((row) => [row.pod_id, row.gone_at !== null, row.last_alive_at !== null]),
        [['pod-7', gone, true]],
      );
    }
    await write(all);
    assert.equal((await db('pods').where({ pod_id: 'pod-7' }).first())?.gone_at, null);
  });

  it('takes the last word about a machine that it names twice, and all others', async () => {
    const booting: Pod = { ...podOf(COUNT), status: 'pending', upstreamStatus: 'creating' };
    await write([booting, podOf(COUNT), podOf(COUNT + 1), ...all]);
    const rows = await db('pods')
      .whereIn('pod_id', [booting.podId, podOf(COUNT + 1).podId])
      .orderBy('pod_id');
    assert.deepEqual(
      rows.map((row) => row.status),
      ['active', 'active'],
    );
  });
});
