import assert from 'node:assert/strict';
import type { Transaction } from '../../../adapters/postgres/database.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import type { RentalId } from '../../../domain/ids.js';
import type { RentalPhase } from '../../../domain/rentals/progress.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { l40s, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** What the upstream does not do or tell yet. */
const upstream = { hidesPrices: false, boots: true, hasAddress: true, ends: Promise.resolve() };

function controlled(provider: Provider): Provider {
  const unpriced = <T extends { pricePerHourCents: number | null }>(pod: T): T =>
    upstream.hidesPrices ? { ...pod, pricePerHourCents: null } : pod;
  return {
    ...provider,
    /** All machines of the family cost the same in one country, so that another one may be had at the agreed price. */
    async listOffers() {
      const offers = await provider.listOffers();
      return offers.map((offer) => {
        const isOne = offer.family === l40s.familyId && offer.gpuCount === 1;
        return isOne ? { ...offer, pricePerHourCents: l40s.pricePerHourCents, regionCode: 'US' } : offer;
      });
    },
    allocate: async (request) => unpriced(await provider.allocate(request)),
    async find(tag, wait) {
      const pod = await provider.find(tag, wait);
      return pod && unpriced(pod);
    },
    async listPods() {
      const pods = await provider.listPods();
      return pods.map((pod) => ({
        ...pod,
        ...(upstream.boots || pod.status !== 'active' ? {} : { status: 'pending' as const }),
        ...(upstream.hasAddress ? {} : { host: null, port: null }),
      }));
    },
    async terminate(podId, wait) {
      await upstream.ends;
      return provider.terminate(podId, wait);
    },
  };
}

interface Shown {
  readonly status: string;
  readonly phase: RentalPhase | null;
  readonly phaseSince: string | null;
  readonly attempt: number | null;
  readonly expectedReadyAt: string | null;
  readonly startedAt: string;
  readonly runningAt: string | null;
}

describe('the progress of a rental, as its user sees it', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;

  before(async () => {
    service = await startService({ wrapProvider: controlled });
    renting = new Renting(service);
    await service.db('reliability').insert({
      ...{ provider_code: 'lab', family: 'l40s', created: 20, not_created: 0, losses: 0, machine_ms: 0 },
      ...{ ready_p50_seconds: 60, ready_p90_seconds: 90, ssh_p50_seconds: 50, ssh_p90_seconds: 80 },
    });
  });
  beforeEach(async () => {
    user = await service.signIn(1_000);
  });
  afterEach(async () => {
    Object.assign(upstream, { hidesPrices: false, boots: true, hasAddress: true, ends: Promise.resolve() });
    await service.gpus.clearFaults();
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  const show = async (id: RentalId) => (await user.get(`/v1/rentals/${id}`)).body as unknown as Shown;
  const awaitPhase = (id: RentalId, phase: RentalPhase) =>
    until(`it is ${phase}`, async () => {
      const shown = await show(id);
      return shown.phase === phase && shown;
    });

  /** Keeps billing from beginning, as somebody does who holds the wallet. */
  async function holdWallet(): Promise<() => Promise<void>> {
    const trx: Transaction = await service.db.transaction();
    await trx('wallets').where({ user_id: user.user.id }).forUpdate().first('id');
    return async () => {
      await trx.rollback();
    };
  }

  it('walks from phase to phase, and begins again with another machine', async () => {
    upstream.hidesPrices = true;
    await service.gpus.faults({ priceChange: { percent: -25 } });
    const id = await renting.openDirectly(user, l40s, { unknownFindMs: 1 });
    const seen = [await awaitPhase(id, 'buying')];
    assert.equal(seen[0]?.attempt, 1);

    const ending = deferred();
    upstream.ends = ending.promise;
    await service.db('allocation_attempts').where({ rental_id: id }).update({ deadline_ms: 1 });
    const queued = await awaitPhase(id, 'queued');
    seen.push(queued);
    assert.deepEqual([queued.attempt, queued.expectedReadyAt], [2, null], 'the first was given up');
    const [given] = await service.db('allocation_attempts').where({ rental_id: id });
    assert.equal(given?.failed_by, 'upstream');

    Object.assign(upstream, { hidesPrices: false, boots: false, hasAddress: false });
    ending.resolve();
    const booting = await awaitPhase(id, 'booting');
    seen.push(booting);
    const bought = await service.db('allocation_attempts').where({ rental_id: id, state: 'adopted' }).first();
    assert.equal(booting.phaseSince, bought?.changed_at.toISOString());
    assert.equal(booting.expectedReadyAt, new Date(bought!.created_at.getTime() + 60_000).toISOString());

    upstream.boots = true;
    seen.push(await awaitPhase(id, 'installing'));
    upstream.boots = false;
    const lists = await listsRead();
    await until('two more lists were read', async () => (await listsRead()) >= lists + 2);
    assert.deepEqual(
      await show(id),
      seen.at(-1),
      'an upstream that takes its word back does not take the phase back',
    );
    upstream.boots = true;

    const release = await holdWallet();
    upstream.hasAddress = true;
    seen.push(await awaitPhase(id, 'checking'));
    await release();
    const ready = await awaitPhase(id, 'ready');
    seen.push(ready);
    assert.deepEqual(
      [ready.status, ready.phaseSince, ready.expectedReadyAt],
      ['running', ready.runningAt, null],
    );

    const since = seen.map(({ phaseSince, startedAt }) => phaseSince ?? startedAt);
    assert.deepEqual(since, since.toSorted(), 'each phase begins after the one before');
    assert.deepEqual(
      seen.slice(1).map(({ attempt }) => attempt),
      [2, 2, 2, 2, null],
    );
    assert.deepEqual(await eventsBetween(id, since), [
      'rental.machine_found',
      'rental.ssh_answered',
      'rental.running',
    ]);
    const { rentals } = (await user.get('/v1/rentals')).body;
    assert.equal((rentals[0] as unknown as Shown).phase, 'ready', 'the list tells it too');
    await renting.stop(user, id);
    const ended = await show(id);
    assert.deepEqual(
      [ended.phase, ended.phaseSince, ended.attempt, ended.expectedReadyAt],
      [null, null, null, null],
    );
    await renting.awaitClosed(id);
  });

  it('has no phase when the machine never came, and says why', async () => {
    upstream.boots = false;
    const id = await renting.open(user, l40s);
    await awaitPhase(id, 'booting');
    await service.db('allocation_attempts').where({ rental_id: id }).update({ deadline_ms: 1 });
    await renting.awaitClosed(id);
    const failed = (await user.get(`/v1/rentals/${id}`)).body as unknown as Shown & {
      failure: { code: string };
    };
    assert.deepEqual([failed.phase, failed.attempt, failed.failure.code], [null, null, 'not_provisioned']);
  });

  /** The events of a rental that begin a phase, each only if it stands between its phase's beginning and the next. */
  async function eventsBetween(id: RentalId, since: readonly string[]): Promise<string[]> {
    const begun = { 'rental.machine_found': 2, 'rental.ssh_answered': 4, 'rental.running': 5 };
    const { rows } = await service.db.raw<{ rows: { type: keyof typeof begun; at: Date }[] }>(
      `select type, at from event_outbox where entity_id = :id and type = any (:types)
       union all select type, at from events where entity_id = :id and type = any (:types) order by at`,
      { id, types: Object.keys(begun) },
    );
    return rows
      .filter(({ type, at }) => {
        const phase = begun[type];
        return at.toISOString() >= since[phase]! && at.toISOString() <= (since[phase + 1] ?? '9999');
      })
      .map(({ type }) => type);
  }

  /** How often the upstream's lists were written down: each time moves this instant. */
  async function listsRead(): Promise<number> {
    const at = (await service.db('providers').where({ code: 'lab' }).first('pods_listed_at'))?.pods_listed_at;
    if (at?.getTime() !== counted.at) Object.assign(counted, { at: at?.getTime(), lists: counted.lists + 1 });
    return counted.lists;
  }
  const counted = { at: 0 as number | undefined, lists: 0 };
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  const held: { resolve?: () => void } = {};
  const promise = new Promise<void>((resolve) => {
    held.resolve = resolve;
  });
  return { promise, resolve: () => held.resolve?.() };
}
