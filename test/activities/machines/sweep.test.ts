import assert from 'node:assert/strict';
import type { Swept } from '../../../activities/machines/sweep.js';
import { newId } from '../../../adapters/ids.js';
import { recordPodList } from '../../../adapters/postgres/machines/pods.js';
import { ProviderError, type KeptCredential } from '../../../adapters/providers/provider.js';
import type { AllocationAttemptRow, PodRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import { meteringLimits } from '../../../domain/metering/limits.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import {
  insertProvider,
  insertRental,
  insertStoppedRental,
  insertUser,
} from '../../support/money/factories.js';
import { insertRunning, insertWallet } from '../../support/money/money.js';
import { ageLoops } from '../../support/story/ageing.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const ago = (ms: number): Date => new Date(Date.now() - ms);
const nothing = { ended: [], forgotten: 0, closed: 0 };

describe('a sweep', () => {
  const upstream = new ScriptedUpstream();
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities({ providers: new Map([['lab', upstream.port]]) });
  });
  beforeEach(async () => {
    upstream.reset();
    for (const table of rowsOfTests) await lone.db(table).delete();
    await insertProvider(lone.db);
    await lone.db('providers').update({ pods_listed_at: new Date() });
  });
  after(() => lone.close());

  const sweep = () => lone.round('sweep') as Promise<Swept>;
  const terminated = (): string[] => upstream.asked.map(([, podId]) => podId);
  const stuck = () => lone.db('stuck_items').select('duty', 'item', 'attempts').orderBy('item');

  /** A machine that the upstream has shown for long. @returns its id */
  async function addPod(tag: string, columns: Partial<PodRow> = {}): Promise<string> {
    const podId = `pod-${tag}`;
    await lone.db('pods').insert({
      provider_code: 'lab',
      pod_id: podId,
      tag,
      status: 'active',
      upstream_status: 'running',
      first_seen_at: ago(10 * MINUTE),
      ...columns,
    });
    return podId;
  }

  /** A purchase for a rental, or for one of which there is no row. @returns its tag */
  async function addAttempt(
    state: AllocationAttemptRow['state'],
    columns: Partial<AllocationAttemptRow> = {},
  ): Promise<string> {
    const rentalId = columns.rental_id ?? newId('rent');
    const tag = `test-${rentalId}-1`;
    await lone.db('allocation_attempts').insert({
      rental_id: rentalId,
      attempt: 1,
      provider_code: 'lab',
      listing_id: newId('lst'),
      offer_id: 'offer',
      tag,
      price_per_hour_cents: 50,
      state,
      ...columns,
    });
    return tag;
  }

  async function closedBy(pods_listed_at: Date): Promise<number> {
    await lone.db('providers').update({ pods_listed_at });
    return (await sweep()).closed;
  }

  async function stateOf(tag: string): Promise<AllocationAttemptRow['state'] | undefined> {
    return (await lone.db('allocation_attempts').where({ tag }).first())?.state;
  }

  it('ends nothing where nothing is there', async () => {
    assert.deepEqual(await sweep(), nothing);
    assert.deepEqual(upstream.asked, []);
  });

  describe('machines that no live rental owns', () => {
    async function closedRental(): Promise<RentalId> {
      const user = await insertUser(lone.db);
      return (await insertStoppedRental(lone.db, user.id, { closed_at: new Date() })).id;
    }

    const strays: Record<string, () => Promise<string>> = {
      'whose tag no attempt carries': () => Promise.resolve('test-nobody-1'),
      'whose attempt failed': () => addAttempt('failed'),
      'whose attempt was condemned': () => addAttempt('condemned'),
      'whose attempt was taken for gone': () => addAttempt('gone'),
      'whose rental is closed': async () => addAttempt('adopted', { rental_id: await closedRental() }),
      'whose attempt a crash left open': () =>
        addAttempt('open', { created_at: ago(rentalLimits.attemptOpenMs + MINUTE) }),
    };
    for (const [which, prepare] of Object.entries(strays)) {
      it(`ends one ${which}, until the upstream shows it no more`, async () => {
        const tag = await prepare();
        const podId = await addPod(tag);
        assert.deepEqual((await sweep()).ended, [tag]);
        assert.deepEqual(terminated(), [podId]);
        await recordPodList(lone.db, 'lab', { pods: [], askedAt: new Date() });
        await recordPodList(lone.db, 'lab', { pods: [], askedAt: new Date() });
        assert.deepEqual((await sweep()).ended, []);
        assert.deepEqual(terminated(), [podId], 'once it is gone nobody asks again');
        assert.notEqual(await stateOf(tag), 'open', 'it can’t be adopted any more');
      });
    }

    const owned: Record<string, () => Promise<{ tag: string; pod?: Partial<PodRow> }>> = {
      'that is new and may still get its attempt': () =>
        Promise.resolve({ tag: 'test-new-1', pod: { first_seen_at: ago(30 * SECOND) } }),
      'whose purchase is under way': async () => ({ tag: await addAttempt('open') }),
      'whose rental lives': async () => {
        const user = await insertUser(lone.db);
        const rental = await insertRental(lone.db, user.id);
        return { tag: await addAttempt('adopted', { rental_id: rental.id }) };
      },
      'that is gone': async () => ({ tag: await addAttempt('failed'), pod: { gone_at: new Date() } }),
      'that a restored database did not know': async () => {
        const pod = { provider_code: 'lab', pod_id: 'pod-test-unknown-1', tag: 'test-unknown-1' };
        await lone.db('unknown_pods').insert(pod);
        return { tag: pod.tag };
      },
    };
    for (const [which, prepare] of Object.entries(owned)) {
      it(`leaves one alone ${which}`, async () => {
        const { tag, pod } = await prepare();
        const before = await stateOf(tag);
        await addPod(tag, pod);
        assert.deepEqual((await sweep()).ended, []);
        assert.deepEqual(upstream.asked, []);
        assert.equal(await stateOf(tag), before);
      });
    }

    it('ends the others when the upstream does not end one, which is counted and has its next try in time', async () => {
      const pods = [await addPod('test-one-1'), await addPod('test-two-1')];
      // Whichever comes first.
      let bad: string | undefined;
      upstream.terminated = (podId) => {
        bad ??= podId;
        return podId === bad ? Promise.reject(new Error('HTTP 500')) : Promise.resolve();
      };
      assert.equal((await sweep()).ended.length, 1);
      assert.deepEqual(terminated().toSorted(), pods.toSorted());
      assert.deepEqual(await stuck(), [{ duty: 'stray_pod', item: `lab/${bad}`, attempts: 1 }]);

      await sweep();
      assert.equal(terminated().filter((podId) => podId === bad).length, 1, 'not before its time');
      await ageLoops(lone.db, 20 * SECOND);
      upstream.terminated = () => Promise.resolve();
      assert.equal((await sweep()).ended.length, 2);
      assert.deepEqual(await stuck(), []);
    });

    it('leaves one to whoever adopts it after it was listed and before it is condemned', async () => {
      const old = { created_at: ago(rentalLimits.attemptOpenMs + MINUTE) };
      const user = await insertUser(lone.db);
      const tags = await Promise.all(
        [1, 2].map(async () => {
          const { id } = await insertRental(lone.db, user.id);
          return addAttempt('open', { ...old, rental_id: id });
        }),
      );
      for (const tag of tags) await addPod(tag);
      upstream.terminated = async () => {
        await lone.db('allocation_attempts').where({ state: 'open' }).update({ state: 'adopted' });
      };
      const { ended } = await sweep();
      assert.equal(ended.length, 1, 'the second one has an owner by now');
      assert.deepEqual(terminated(), [`pod-${ended[0]}`]);
      assert.deepEqual(await stuck(), []);
    });
  });

  describe('attempts that a crash left', () => {
    const old = { created_at: ago(rentalLimits.attemptOpenMs + MINUTE) };

    it('gives one up for which no rental waits, once, and not one for which one does', async () => {
      const user = await insertUser(lone.db);
      const waiting = await addAttempt('open', {
        ...old,
        rental_id: (await insertRental(lone.db, user.id)).id,
      });
      const young = await addAttempt('open');
      const forgotten = await addAttempt('open', old);
      assert.deepEqual(await sweep(), { ...nothing, forgotten: 1 });
      assert.deepEqual(await sweep(), nothing);
      const states = await Promise.all([waiting, young, forgotten].map(stateOf));
      assert.deepEqual(states, ['open', 'open', 'condemned']);
    });

    it('takes a condemned one for gone when fresh lists have shown nothing of it for long', async () => {
      const long = ago(2 * rentalLimits.attemptOpenMs + MINUTE);
      const unseen = await addAttempt('condemned', { changed_at: long });
      const recent = await addAttempt('condemned');
      assert.equal(await closedBy(ago(2 * MINUTE)), 0, 'the lists are old');
      assert.deepEqual([await closedBy(new Date()), (await sweep()).closed], [1, 0]);
      assert.deepEqual(await Promise.all([unseen, recent].map(stateOf)), ['gone', 'condemned']);
    });
  });

  it('takes a condemned attempt for gone by a list of minutes, and by none from a time to come', async () => {
    const [after, listed] = [2 * rentalLimits.attemptOpenMs, 5 * MINUTE];
    const givenUp = (ms: number) => addAttempt('condemned', { changed_at: ago(listed + after + ms) });
    const tags = [await givenUp(SECOND), await givenUp(-MINUTE)];
    assert.equal(await closedBy(ago(-2 * after)), 0, 'a clock ran ahead');
    assert.equal(await closedBy(ago(listed)), 1, 'it was asked for then, and came just now');
    assert.deepEqual(await Promise.all(tags.map(stateOf)), ['gone', 'condemned']);
  });

  it('asks for the end of a rental whose wallet can’t be metered for long, and ends its machine', async () => {
    const blockedAt = (ms: number) => ({
      metering_blocked_at: ago(ms),
      metering_blocked_reason: 'it breaks',
    });
    const [blocked, fresh] = [await insertWallet(lone.db, 1_000), await insertWallet(lone.db, 1_000)];
    const stopped = await insertRunning(lone.db, blocked, { priceCents: 100, ranMs: 1_000 });
    await insertRunning(lone.db, fresh, { priceCents: 100, ranMs: 1_000 });
    await lone
      .db('wallets')
      .where({ id: blocked.id })
      .update(blockedAt(meteringLimits.blockedForMs + MINUTE));
    await lone.db('wallets').where({ id: fresh.id }).update(blockedAt(MINUTE));
    await sweep();
    await sweep();
    assert.deepEqual(new Set(terminated()), new Set([`pod-${stopped}`]));
    const requests = await lone.db('stop_requests').join('rentals', 'no', 'rental_no').select('id', 'reason');
    assert.deepEqual(requests, [{ id: stopped, reason: 'metering was blocked' }]);
  });

  it('counts a blocked wallet’s machine of an upstream that is not configured, and ends the others', async () => {
    const wallet = await insertWallet(lone.db, 1_000);
    const [there, here] = [newId('rent'), newId('rent')];
    for (const id of [there, here])
      await insertRunning(lone.db, wallet, { id, priceCents: 100, ranMs: 1_000 });
    await lone.db('rentals').where({ id: there }).update({ provider_code: 'elsewhere' });
    const long = ago(meteringLimits.blockedForMs + MINUTE);
    const blocked = { metering_blocked_at: long, metering_blocked_reason: 'it breaks' };
    await lone.db('wallets').where({ id: wallet.id }).update(blocked);
    await sweep();
    assert.deepEqual(terminated(), [`pod-${here}`]);
    assert.deepEqual(await stuck(), [{ duty: 'blocked_pod', item: `elsewhere/pod-${there}`, attempts: 1 }]);
  });

  describe('credentials that an upstream keeps', () => {
    let kept: KeptCredential[];
    let removed: string[];
    /** What happens just before the upstream lists them. */
    let listed: () => Promise<unknown>;
    let refused: string | undefined;
    beforeEach(() => {
      kept = [];
      removed = [];
      listed = () => Promise.resolve();
      refused = undefined;
      Object.assign(upstream.port, {
        credentials: {
          async list() {
            await listed();
            return [...kept];
          },
          remove(id: string) {
            if (id === refused) return Promise.reject(new ProviderError('refused', 'HTTP 403'));
            removed.push(id);
            return Promise.resolve();
          },
        },
      });
    });
    after(() => Object.assign(upstream.port, { credentials: undefined }));

    const software = JSON.stringify({ hasRegistryAuth: true });
    async function withRegistry(columns: Partial<RentalRow>): Promise<string> {
      const user = await insertUser(lone.db);
      const { id, tag } = await insertRental(lone.db, user.id, columns);
      await lone.db.raw('update rentals set software = ? where id = ?', [software, id]);
      kept.push({ id: `of-${tag}`, tag });
      return tag;
    }

    it('go once no machine can need them, those of an old machine too', async () => {
      const [starting, running] = [
        await withRegistry({ pod_id: 'pod-1' }),
        await withRegistry({
          pod_id: 'pod-2',
          status: 'running',
          started_at: ago(9 * DAY),
          running_at: ago(9 * DAY),
        }),
      ];
      const buying = await addAttempt('open');
      kept.push({ id: 'buying', tag: buying }, { id: 'failed', tag: await addAttempt('failed') });
      await sweep();
      assert.deepEqual(removed, [`of-${running}`, 'failed']);
      assert.notEqual(starting, running);
    });

    it('stay while nobody used any for a day', async () => {
      kept.push({ id: 'old', tag: 'test-old-1' });
      await sweep();
      assert.deepEqual(removed, []);
    });

    it('stay when they are made between two looks', async () => {
      await withRegistry({ pod_id: 'pod-1' });
      listed = async () => kept.push({ id: 'new', tag: await addAttempt('open') });
      await sweep();
      await sweep();
      assert.deepEqual(removed, []);
    });

    it('go at last, however long their upstream was away', async () => {
      const tag = await withRegistry({ pod_id: 'pod-1' });
      listed = () => Promise.reject(new ProviderError('unknown', 'no answer'));
      await sweep();
      await lone.db('rentals').where({ tag }).delete();
      listed = () => Promise.resolve();
      await sweep();
      assert.deepEqual(removed, [`of-${tag}`]);
    });

    it('go although one does not, which is counted', async () => {
      await withRegistry({ pod_id: 'pod-1' });
      for (const id of ['bad', 'good']) kept.push({ id, tag: await addAttempt('failed') });
      refused = 'bad';
      await sweep();
      assert.deepEqual(removed, ['good']);
      assert.deepEqual(await stuck(), [{ duty: 'credential', item: 'lab/bad', attempts: 1 }]);
    });
  });

  it('tells operators once of a machine that does not end', async () => {
    const slow = ago(machineLimits.slowEndMs + MINUTE);
    const tag = await addAttempt('condemned', { given_up_at: slow });
    await addPod(tag, { first_seen_at: slow });
    const toldAt = async () =>
      (await lone.db('allocation_attempts').where({ tag }).first())?.slow_end_told_at;
    await sweep();
    const first = await toldAt();
    assert.ok(first);
    await sweep();
    assert.deepEqual(await toldAt(), first);
  });

  it('expects a machine of a rental that no list ever showed', async () => {
    const user = await insertUser(lone.db);
    const columns = { pod_id: 'pod-unseen', started_at: ago(2 * MINUTE) };
    await insertRental(lone.db, user.id, columns);
    await insertRental(lone.db, user.id, { pod_id: 'pod-young' });
    // A machine in the place of another one is as young as its own purchase.
    const again = await insertRental(lone.db, user.id, { ...columns, pod_id: 'pod-bought-again' });
    const tag = await addAttempt('adopted', { rental_id: again.id, pod_id: 'pod-bought-again' });
    await lone.db('rentals').where({ id: again.id }).update({ tag });
    await sweep();
    await sweep();
    const pods = await lone.db('pods').select('pod_id', 'upstream_status');
    assert.deepEqual(pods, [{ pod_id: 'pod-unseen', upstream_status: 'not listed' }]);
  });

  it('goes on with its other parts when one fails, counts that, and forgets it once it goes well', async () => {
    const { db } = lone;
    const forgotten = await addAttempt('open', { created_at: ago(rentalLimits.attemptOpenMs + MINUTE) });
    await addPod('test-stray-1');
    await db.schema.renameTable('unknown_pods', 'away');
    try {
      assert.deepEqual(await sweep(), { ...nothing, forgotten: 1 });
      assert.equal(await stateOf(forgotten), 'condemned');
      const item = 'sweep: stray machines of lab';
      assert.deepEqual(await stuck(), [{ duty: 'upkeep', item, attempts: 1 }]);
    } finally {
      await db.schema.renameTable('away', 'unknown_pods');
    }
    assert.deepEqual((await sweep()).ended, ['test-stray-1'], 'at once: a part waits for nothing');
    assert.deepEqual(await stuck(), []);
  });
});

/** What a test leaves would be swept in the next one. */
const rowsOfTests = [
  ...['stuck_items', 'stop_requests', 'meter_readings', 'rentals', 'allocation_attempts'],
  ...['unknown_pods', 'pods'],
];
