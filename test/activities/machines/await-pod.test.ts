import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertStopRequest } from '../../../adapters/postgres/rentals/stop-requests.js';
import type { PodRow } from '../../../adapters/postgres/rows/tables.js';
import type { PodPort } from '../../../domain/rentals/endpoints.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertProvider, insertRental, insertUser } from '../../support/money/factories.js';

const PAGE = { name: 'page', port: 8080, kind: 'http', public: true };
const WAITED_MS = 60_000;
/** For so long a machine that is not ready is looked at. */
const LOOKED_MS = 300;
const host = '192.0.2.1';
const mapped = (hostPort: number): PodPort => ({
  ...{ port: 8080, url: null, host, hostPort, changesOnRestart: true },
});
const browsed: PodPort = { ...mapped(1), url: 'https://p1-8080.example/', host: null, hostPort: null };

/** Decision 52, "Shared and moved addresses". */
describe('own software whose port answers', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities({ settings: { ownSoftwareGraceMs: 10 * WAITED_MS } });
    await insertProvider(lone.db);
    Object.assign(lone.deps.prober, {
      ...{ probe: () => Promise.resolve({ answered: false }), answers: () => Promise.resolve(true) },
    });
  });
  beforeEach(() => lone.db('pods').delete());
  after(() => lone.close());

  const addPod = (podId: string, columns: Partial<PodRow>) => {
    const { ports = null, ...rest } = columns;
    return lone.db('pods').insert({
      ...{ provider_code: 'lab', pod_id: podId, tag: podId, status: 'active', upstream_status: 'running' },
      ...{
        first_seen_at: new Date(),
        active_at: new Date(),
        ports: ports && (JSON.stringify(ports) as never),
      },
      ...rest,
    });
  };

  async function isReady(pod: Partial<PodRow>, deadlineMs = WAITED_MS + LOOKED_MS): Promise<boolean> {
    const { id: userId } = await insertUser(lone.db);
    const started_at = new Date(Date.now() - WAITED_MS);
    const { id, no } = await insertRental(lone.db, userId, { started_at, pod_id: 'own' });
    await lone.db.raw('update rentals set software = ? where id = ?', [
      JSON.stringify({ ports: [PAGE] }),
      id,
    ]);
    await addPod('own', pod);
    const stopped = sleep(LOOKED_MS).then(() => insertStopRequest(lone.db, no, 'user'));
    const outcome = await lone.run('awaitPod', id, deadlineMs);
    await stopped;
    await lone.db('rentals').where({ id }).update({ pod_id: null });
    // One that its upstream runs has not failed, whatever the deadline of its boot.
    assert.notEqual(outcome.kind, 'failed');
    return outcome.kind === 'answered';
  }

  const others: Record<string, Partial<PodRow>> = {
    'has the same port of the same address': { ports: [mapped(30_001)] },
    'has its SSH there': { host, port: 30_001, ports: [] },
    'has all of that address': { host, port: 22 },
  };
  for (const [what, other] of Object.entries(others)) {
    it(`is not ready by it while another machine ${what}`, async () => {
      await addPod('other', other);
      assert.equal(await isReady({ ports: [mapped(30_001)] }), false);
    });

    it(`is ready by it once the other machine, which ${what}, is gone`, async () => {
      await addPod('other', { ...other, gone_at: new Date() });
      assert.equal(await isReady({ ports: [mapped(30_001)] }), true);
    });
  }

  it('has not failed because it came up late: its grace begins when its upstream runs it', async () => {
    const late = { ports: [mapped(30_001)], active_at: new Date() };
    await addPod('other', { ports: [mapped(30_001)] });
    assert.equal(await isReady(late, WAITED_MS - 1_000), false);
  });

  it('is ready by a port that is mapped to it beside those of others', async () => {
    await addPod('other', { host, port: 30_002, ports: [mapped(30_003)] });
    assert.equal(await isReady({ ports: [mapped(30_001)] }), true);
  });

  it('is ready by a name of its own, whoever shares an address', async () => {
    await addPod('other', { ports: [browsed] });
    assert.equal(await isReady({ ports: [browsed] }), true);
  });

  it('is ready by a port of an address that is its own, and not of one that others share', async () => {
    assert.equal(await isReady({ host, port: 22 }), true);
    await lone.db('pods').delete();
    assert.equal(await isReady({ host, port: 30_001 }), false);
    await lone.db('pods').delete();
    await addPod('other', { host, port: 30_002 });
    assert.equal(await isReady({ host, port: 22 }), false);
  });
});
