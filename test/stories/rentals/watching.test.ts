import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptMissing, listProviders } from '../../../adapters/postgres/catalog/provider-health.js';
import { listHeldPods } from '../../../adapters/postgres/machines/pods-watch.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { ProviderError, type Provider } from '../../../adapters/providers/provider.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** The lab has a dozen of these for $0.40 to $0.69, and sells each as often as one likes. */
const machine = { familyId: 'rtx-4090', gpuCount: 1 };

describe('the watcher of an upstream', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  /** The pods that the upstream's lists hide. */
  const hidden = new Set<string>();
  let failing = false;
  let failedLists = 0;
  /** How long a list takes after it was made up, in milliseconds. */
  let onTheWayMs = 0;
  /** When the upstream made up the last list that it has answered. */
  let madeUpMs = 0;
  const withLyingLists = (provider: Provider): Provider => ({
    ...provider,
    async listPods() {
      if (failing) {
        failedLists += 1;
        throw new ProviderError('unknown', 'listing pods: HTTP 502');
      }
      const atMs = Date.now();
      const pods = (await provider.listPods()).filter(({ podId }) => !hidden.has(podId));
      await sleep(onTheWayMs);
      madeUpMs = atMs;
      return pods;
    },
  });

  before(async () => {
    service = await startService({ wrapProvider: withLyingLists });
    renting = new Renting(service);
  });
  beforeEach(async () => {
    user = await service.signIn(100_000);
  });
  afterEach(async () => {
    hidden.clear();
    failing = false;
    onTheWayMs = 0;
    const { db } = service;
    await db('providers').update({ missing_accepted_until: null });
    for (const { id } of await db('rentals').whereNull('closed_at').where({ user_id: user.user.id })) {
      await user.post(`/v1/rentals/${id}/stop`);
      await renting.awaitClosed(id);
    }
  });
  after(() => service.stop());

  const run = (count: number): Promise<RentalRow[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        // One user opens one rental at a time; several users open at once.
        const renter = await service.signIn(1_000);
        const row = await renting.run(renter, machine);
        renters.set(row.id, renter);
        return row;
      }),
    );
  const renters = new Map<string, SignedIn>();

  async function stopAll(rows: readonly RentalRow[]): Promise<void> {
    hidden.clear();
    for (const { id } of rows) {
      await renters.get(id)!.post(`/v1/rentals/${id}/stop`);
      await renting.awaitClosed(id);
    }
  }

  const lists = async (): Promise<void> => {
    const before = (await listProviders(service.db))[0]?.pods_listed_at?.getTime() ?? 0;
    await until('two more lists', async () => {
      const at = (await listProviders(service.db))[0]?.pods_listed_at?.getTime() ?? 0;
      return at > before + 500;
    });
  };

  it('takes a machine for alive at the time of the question, and not of the answer', async () => {
    onTheWayMs = 600;
    const [row] = await run(1);
    await lists();
    const listed = (await listProviders(service.db))[0]?.pods_listed_at;
    assert.ok(listed && listed.getTime() <= madeUpMs, 'it may be lost while its list is on the way');
    await stopAll([row!]);
  });

  it('holds machines that vanish many at once but answer, until they are listed again, or an operator gives them up', async () => {
    const rows = await run(2);
    for (const { pod_id } of rows) hidden.add(pod_id!);
    await until('they are held', async () => (await listHeldPods(service.db)).length === 2);
    await lists();
    for (const { id } of rows) assert.equal((await renting.row(id)).status, 'running');
    hidden.clear();
    await until('they are held no more', async () => (await listHeldPods(service.db)).length === 0);

    for (const { pod_id } of rows) hidden.add(pod_id!);
    await until('they are held again', async () => (await listHeldPods(service.db)).length === 2);
    assert.ok(await acceptMissing(service.db, 'lab', 1));
    for (const { id } of rows)
      assert.equal((await renting.awaitStatus(id, 'failed')).refunded_cents > 0, true);
    hidden.clear();
    for (const { id } of rows) await renting.awaitClosed(id);
  });

  it('gives up at once those among them that do not answer', async () => {
    const rows = await run(2);
    const [dead, alive] = rows;
    await service.gpus.crash(dead!.pod_id!, 'unreachable');
    for (const { pod_id } of rows) hidden.add(pod_id!);
    await renting.awaitStatus(dead!.id, 'failed');
    assert.equal((await renting.row(alive!.id)).status, 'running');
    await stopAll([alive!]);
  });

  it('takes lists that fail for no news of any machine', async () => {
    const { id } = await renting.run(user, machine);
    failing = true;
    await until('it is told to operators', async () => {
      const [row] = await listProviders(service.db);
      return row?.out_reason === 'failing';
    });
    const { body } = await user.get('/v1/catalog/listings');
    assert.deepEqual(body.listings, [], 'what fails is not for sale');
    // The second one is asked for after the first was taken in.
    const failed = failedLists;
    await until('two more lists fail', () => failedLists >= failed + 2);
    assert.equal((await renting.row(id)).status, 'running');
    failing = false;
    await until('it is for sale again', async () => {
      const answer = await user.get('/v1/catalog/listings');
      return answer.body.listings.length > 0;
    });
  });

  it('warns the renter of a machine that is silent again and again, and ends nothing', async () => {
    const { id, pod_id } = await renting.run(user, machine);
    await service.gpus.crash(pod_id!, 'unreachable');
    await until('it was asked often enough', async () => {
      await service.db('pods').where({ pod_id: pod_id! }).update({ probed_at: null });
      const { body } = await user.get(`/v1/rentals/${id}`);
      const { warnings } = body as unknown as { warnings: string[] };
      return warnings.includes('ssh_unreachable');
    });
    const [pod] = await service.db('pods').where({ pod_id: pod_id! });
    assert.ok((pod?.silent_probes ?? 0) >= machineLimits.silentProbes);
    assert.equal((await renting.row(id)).status, 'running');
  });

  it('warns the renter when another daemon answers at their machine’s address', async () => {
    const { id, pod_id } = await renting.run(user, machine);
    await service
      .db('rentals')
      .where({ id })
      .update({ host_key_fingerprint: 'SHA256:of-the-machine-before' });
    await until('it was asked', async () => {
      await service.db('pods').where({ pod_id: pod_id! }).update({ probed_at: null });
      const { body } = await user.get(`/v1/rentals/${id}`);
      return (body as unknown as { warnings: string[] }).warnings.includes('host_key_changed');
    });
  });

  it('follows a machine that its upstream shows at another address, once its daemon answers there', async () => {
    const { id, pod_id, host, port, host_key_fingerprint } = await renting.run(user, machine);
    const { db } = service;
    await db('rentals')
      .where({ id })
      .update({ host: '127.0.0.9', port: 1, host_key_fingerprint: 'SHA256:old' });
    await until('it has moved', async () => {
      // A pod that is being probed at the old address would be probed again only in half a minute.
      await db('pods').where({ pod_id: pod_id! }).update({ probed_at: null });
      return (await renting.row(id)).port === port;
    });
    const row = await renting.row(id);
    assert.deepEqual([row.host, row.host_key_fingerprint], [host, host_key_fingerprint]);
  });
});
