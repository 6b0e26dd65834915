import assert from 'node:assert/strict';
import { askRunningPods } from '../../../activities/machines/watch-pods.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import type { PodRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertProvider, insertRunningRental, insertUser } from '../../support/money/factories.js';

const there = { host: '192.0.2.1', port: 22 };

describe('running machines, asked themselves', () => {
  let lone: LoneActivities;
  /** The key of the daemon that answers; undefined: none does. */
  let key: string | undefined;
  let answer: () => Promise<string | undefined>;
  before(async () => {
    lone = await startActivities();
    await insertProvider(lone.db);
    Object.assign(lone.deps.prober, { hostKey: () => answer() });
  });
  beforeEach(async () => {
    key = undefined;
    answer = () => Promise.resolve(key);
    await lone.db('pods').delete();
    await lone.db('rentals').delete();
  });
  after(() => lone.close());

  async function addRunning(columns: Partial<RentalRow>, pod: Partial<PodRow>) {
    const { id: userId } = await insertUser(lone.db);
    const { id } = await insertRunningRental(lone.db, userId, 1_000, { pod_id: 'pod-1', ...columns });
    await lone.db('pods').insert({
      ...{ provider_code: 'lab', pod_id: 'pod-1', tag: 'tag-1', status: 'active', upstream_status: 'x' },
      ...{ first_seen_at: new Date(), ...there, username: 'ubuntu', ...pod },
    });
    return { row: () => lone.db('rentals').where({ id }).first(), userId };
  }
  const ask = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await lone.db('pods').update({ probed_at: null });
      await askRunningPods(lone.deps, 'lab');
    }
  };
  const addressOf = (row: RentalRow | undefined) => [
    ...[row?.host, row?.port, row?.username, row?.host_key_fingerprint],
  ];

  for (const status of ['active', 'pending'] as const) {
    it(`warns the owner of one that is silent while its upstream shows it ${status}`, async () => {
      const { userId } = await addRunning({ ...there, username: 'root' }, { status });
      await ask(machineLimits.silentProbes);
      const events = await lone.db('event_outbox').where({ user_id: userId, type: 'rental.warned' });
      assert.deepEqual(
        events.map(({ data }) => (data as { warning: string }).warning),
        ['ssh_unreachable'],
      );
    });
  }

  it('gives a rental that had no SSH its address, its user and its key once the daemon answers', async () => {
    const { row } = await addRunning(
      { host: null, port: null, username: null, host_key_fingerprint: null },
      {},
    );
    await lone.db('rentals').update({ software: JSON.stringify({ ports: [] }) as never });
    await ask();
    assert.deepEqual(addressOf(await row()), [null, null, null, null]);
    key = 'SHA256:first';
    await ask();
    assert.deepEqual(addressOf(await row()), [there.host, there.port, 'ubuntu', key]);
  });

  it('learns the key of one that showed none in its first moment, and keeps it', async () => {
    const { row } = await addRunning({ ...there, username: 'root', host_key_fingerprint: null }, {});
    await ask();
    assert.deepEqual(addressOf(await row()), [there.host, there.port, 'root', null]);
    key = 'SHA256:late';
    await ask();
    key = 'SHA256:other';
    await ask();
    assert.deepEqual(addressOf(await row()), [there.host, there.port, 'root', 'SHA256:late']);
    assert.equal((await lone.db('pods').first())?.host_key_changed, true);
  });

  it('keeps the user of a rental whose machine has moved', async () => {
    const { row } = await addRunning({ host: '192.0.2.9', port: 2_222, username: 'root' }, {});
    key = 'SHA256:moved';
    await ask();
    assert.deepEqual(addressOf(await row()), [there.host, there.port, 'root', key]);
  });

  it('asks all at once, those that have moved and the others', async () => {
    for (const host of ['192.0.2.8', '192.0.2.9', there.host])
      await addRunning({ host, port: 22, pod_id: `pod-${host}` }, { pod_id: `pod-${host}`, tag: host });
    let asked = 0;
    let answerAll: (key: string | undefined) => void = () => undefined;
    const answered = new Promise<string | undefined>((resolve) => (answerAll = resolve));
    answer = () => {
      asked += 1;
      if (asked === 3) answerAll(undefined);
      return answered;
    };
    await ask();
    assert.equal(asked, 3);
  });
});
