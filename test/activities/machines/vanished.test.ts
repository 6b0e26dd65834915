import assert from 'node:assert/strict';
import { judgePodList } from '../../../activities/machines/watch-pods.js';
import type { OpenPort } from '../../../adapters/providers/ssh/port-probe.js';
import type { ProbeTarget } from '../../../adapters/providers/ssh/ssh-probe.js';
import { acceptMissing } from '../../../adapters/postgres/catalog/provider-health.js';
import type { PodRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { HOUR, MINUTE } from '../../../domain/durations.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { whileClockIsOff } from '../../support/clock-off.js';
import { insertProvider, insertRunningRental, insertUser } from '../../support/money/factories.js';

const KEY = 'SHA256:own';
const web = { name: 'web', kind: 'http', port: 8_080, public: true };
const stillHeld = { gone_at: null, missing_lists: 0, held_since: new Date() };
const noSsh = { host: null, port: null, username: null, host_key_fingerprint: null };

/** Decision 51, "Lost machines". */
describe('machines that vanish from a list many at once', () => {
  let lone: LoneActivities;
  /** The hosts that nobody answers at. */
  const silent = new Set<string>();
  before(async () => {
    lone = await startActivities();
    await insertProvider(lone.db);
    Object.assign(lone.deps.prober, {
      hostKey: ({ host }: ProbeTarget) => Promise.resolve(silent.has(host) ? undefined : KEY),
      answers: ({ host }: OpenPort) => Promise.resolve(host !== null && !silent.has(host)),
    });
  });
  beforeEach(async () => {
    silent.clear();
    await lone.db('pods').delete();
    await lone.db('rentals').delete();
    await lone.db('providers').update({ missing_accepted_until: null });
  });
  after(() => lone.close());

  async function addRunning(podId: string, columns: Partial<RentalRow>, pod: Partial<PodRow> = {}) {
    const { id: userId } = await insertUser(lone.db);
    await insertRunningRental(lone.db, userId, 1_000, { pod_id: podId, tag: podId, ...columns });
    await lone.db('pods').insert({
      ...{ provider_code: 'lab', pod_id: podId, tag: podId, status: 'active', upstream_status: 'x' },
      ...{ first_seen_at: new Date(), host: podId, port: null, username: null },
      ...pod,
      ports: pod.ports === undefined ? null : (JSON.stringify(pod.ports) as never),
    });
  }
  const addSsh = (podId: string) =>
    addRunning(
      podId,
      { ...{ host: podId, port: 22, username: 'root', host_key_fingerprint: KEY }, ready_by: 'ssh' },
      { port: 22, username: 'root' },
    );
  const softwareOf = (ports: object[]) =>
    JSON.stringify({ image: 'team/server:1', ports, diskGb: null, secretsId: null }) as never;
  const addReadyByPort = (podId: string) =>
    addRunning(
      podId,
      { ...noSsh, ready_by: 'port', software: softwareOf([web]) },
      { ports: [{ port: web.port, url: null, host: podId, hostPort: 40_000, changesOnRestart: false }] },
    );
  const addReadyByGrace = (podId: string) =>
    addRunning(podId, { ...noSsh, ready_by: 'grace', software: softwareOf([]) });

  /** Judges lists that show none but these. */
  async function list(times: number, shown: readonly string[] = []): Promise<void> {
    const pods = (await lone.db('pods').whereIn('pod_id', [...shown])).map((row) => ({
      ...{ podId: row.pod_id, tag: row.tag, status: row.status, upstreamStatus: row.upstream_status },
      ...{ host: row.host, port: row.port, username: row.username, ports: row.ports ?? [] },
      pricePerHourCents: row.price_per_hour_cents,
    }));
    for (let time = 0; time < times; time += 1) {
      await judgePodList(lone.deps, 'lab', { pods, askedAt: new Date() });
    }
  }
  const gone = async (): Promise<string[]> =>
    (await lone.db('pods').whereNotNull('gone_at').orderBy('pod_id')).map(({ pod_id: podId }) => podId);

  it('are held though most of them have no SSH, but for those that do not answer any more', async () => {
    for (const podId of ['ssh-1', 'ssh-dead']) await addSsh(podId);
    for (const podId of ['port-1', 'port-2', 'port-dead']) await addReadyByPort(podId);
    for (const podId of ['grace-1', 'grace-2', 'grace-3', 'grace-4', 'grace-5']) await addReadyByGrace(podId);
    silent.add('ssh-dead').add('port-dead').add('grace-1');
    await list(4);
    assert.deepEqual(await gone(), ['port-dead', 'ssh-dead']);
    const held = await lone.db('pods').whereNotNull('held_since');
    assert.equal(held.length, 8);
  });

  it('are held on when most of them were dead indeed', async () => {
    for (const podId of ['ssh-1', 'dead-1', 'dead-2', 'dead-3', 'dead-4', 'dead-5']) await addSsh(podId);
    for (let n = 1; n <= 5; n += 1) silent.add(`dead-${n}`);
    await list(4);
    assert.deepEqual(await gone(), ['dead-1', 'dead-2', 'dead-3', 'dead-4', 'dead-5']);
  });

  it('are held on when so many others run by then that they are few', async () => {
    await addSsh('ssh-1');
    await addReadyByGrace('grace-1');
    await list(2);
    const others = Array.from({ length: 9 }, (_, n) => `other-${n}`);
    for (const podId of others) await addSsh(podId);
    await list(2, others);
    assert.deepEqual(await gone(), []);
    silent.add('ssh-1');
    await lone.db('pods').update({ probed_at: null });
    await list(2, others);
    assert.deepEqual(await gone(), ['ssh-1'], 'one that is silent by now is not held');
  });

  it('are asked again by the database’s clock, whatever this process’s says', async () => {
    await addSsh('ssh-1');
    await list(2);
    silent.add('ssh-1');
    await whileClockIsOff(HOUR, () => list(2));
    assert.deepEqual(await gone(), [], 'it answered a moment ago');
    for (const aheadMs of [MINUTE, -MINUTE]) {
      await lone.db('pods').update({ ...stillHeld, probed_at: new Date(Date.now() + aheadMs) });
      await whileClockIsOff(-HOUR, () => list(2));
      assert.deepEqual(await gone(), ['ssh-1']);
    }
  });

  it('are gone once an operator says so, with or without SSH', async () => {
    await addSsh('ssh-1');
    await addReadyByGrace('grace-1');
    await addReadyByPort('port-1');
    await list(2);
    assert.deepEqual(await gone(), []);
    const byFastClock = new Date(Date.now() + 24 * 3_600_000);
    await lone.db('providers').update({ missing_accepted_until: byFastClock });
    await list(2);
    assert.deepEqual(await gone(), [], 'no operator accepts it for so long');
    await acceptMissing(lone.db, 'lab', 1);
    await list(2);
    assert.deepEqual(await gone(), ['grace-1', 'port-1', 'ssh-1']);
  });

  it('are gone as any where they are one or two that nobody can ask, or all that can be asked are silent', async () => {
    for (const podId of ['grace-1', 'grace-2']) await addReadyByGrace(podId);
    await list(2);
    assert.deepEqual(await gone(), ['grace-1', 'grace-2']);
    for (const podId of ['grace-3', 'grace-4', 'grace-5']) await addReadyByGrace(podId);
    await addSsh('dead');
    silent.add('dead');
    await list(2);
    assert.deepEqual(await gone(), ['dead', 'grace-1', 'grace-2', 'grace-3', 'grace-4', 'grace-5']);
  });

  it('are held where three vanish that nobody can ask, and were seen last before that began', async () => {
    const shown = ['grace-1', 'grace-2', 'grace-3'];
    for (const podId of shown) await addReadyByGrace(podId);
    await list(1, shown);
    const { pods_listed_at: seenAt } = (await lone.db('providers').where({ code: 'lab' }).first())!;
    await list(4);
    assert.deepEqual(await gone(), []);
    await acceptMissing(lone.db, 'lab', 1);
    await list(2);
    assert.deepEqual(await gone(), shown);
    const seen = await lone.db('pods').pluck('last_alive_at');
    assert.deepEqual(seen, [seenAt, seenAt, seenAt]);
  });

  it('are gone without a question where they are few', async () => {
    const others = ['port-1', 'port-2', 'port-3', 'port-4'];
    for (const podId of others) await addReadyByPort(podId);
    await addReadyByGrace('grace-1');
    await list(2, others);
    assert.deepEqual(await gone(), ['grace-1']);
  });
});
