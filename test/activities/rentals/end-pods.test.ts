import assert from 'node:assert/strict';
import { CancelledFailure } from '@temporalio/activity';
import { createActivities } from '../../../activities/index.js';
import { newId } from '../../../adapters/ids.js';
import { readClock } from '../../../adapters/postgres/clock.js';
import { recordPodList } from '../../../adapters/postgres/machines/pods.js';
import type { AllocationAttemptRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { ProviderError, type PodStatus } from '../../../adapters/providers/provider.js';
import type { RentalId } from '../../../domain/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { runAlone } from '../../support/service/activity-context.js';
import { insertListing, insertProvider } from '../../support/money/factories.js';
import { getRental, insertWallet } from '../../support/money/money.js';
import { until } from '../../support/until.js';

describe('the end of the machines of a rental', () => {
  let lone: LoneActivities;
  const upstream = new ScriptedUpstream();
  before(async () => {
    lone = await startActivities({ providers: new Map([['lab', upstream.port]]) });
    await insertProvider(lone.db);
    await insertListing(lone.db);
  });
  beforeEach(() => upstream.reset());
  after(() => lone.close());

  /** The upstream's list with its one machine, or without any. */
  async function list(status?: PodStatus): Promise<void> {
    const [pod = assert.fail()] = upstream.pods.values();
    const pods = status ? [{ ...pod, status, upstreamStatus: status }] : [];
    await recordPodList(lone.db, 'lab', { pods, askedAt: await readClock(lone.db) });
  }

  /** Removes the rental's pod from the upstream's lists. */
  async function vanish({ provider_code, pod_id }: RentalRow): Promise<void> {
    await lone
      .db('pods')
      .where({ provider_code, pod_id: pod_id! })
      .update({ gone_at: lone.db.raw('clock_ms()') });
  }

  /** A rental that has its machine, and is given up while that boots. */
  async function givenUp(whenOpened = () => Promise.resolve()): Promise<RentalId> {
    const { user_id: userId } = await insertWallet(lone.db, 1_000);
    const rentalId = newId('rent');
    const answerBefore = '2099-01-01T00:00:00.000Z';
    await lone.db('rental_requests').insert({
      ...{ id: rentalId, user_id: userId, family_id: 'rtx-4090', gpu_count: 1 },
      ...{ template_id: 'ubuntu-24-04', ssh_key_ids: [], answer_before: new Date(answerBefore) },
    });
    await lone.run('openRental', { rentalId, open: { answerBefore } });
    upstream.asked.length = 0;
    await whenOpened();
    await lone.run('giveUpProvisioning', rentalId, null);
    return rentalId;
  }

  const end = (rentalId: RentalId) => {
    const activities = createActivities(lone.deps);
    return runAlone(() => activities.endPods(rentalId));
  };

  async function attempts(rentalId: RentalId): Promise<AllocationAttemptRow[]> {
    return lone.db('allocation_attempts').where({ rental_id: rentalId }).orderBy('id');
  }

  it('asks the upstream again until the machine is gone from its lists, also when a call fails', async () => {
    const rentalId = await givenUp();
    const row = await getRental(lone.db, rentalId);
    let asked = 0;
    upstream.terminated = async () => {
      asked += 1;
      if (asked === 1) throw new ProviderError('unknown', 'no answer');
      if (asked === 3) await vanish(row);
    };
    await lone.run('endPods', rentalId);
    const terminate = ['terminate', row.pod_id];
    assert.deepEqual(upstream.asked, [terminate, terminate, terminate]);
    const [{ state, failed_by: failedBy } = assert.fail()] = await attempts(rentalId);
    assert.deepEqual([state, failedBy], ['gone', null], 'the upstream is not to blame');

    await lone.run('endPods', rentalId);
    assert.equal(upstream.asked.length, 3, 'one that is gone is asked for no more');
  });

  it('asks once, and again only when a later list shows the machine as if nobody had', async () => {
    const rentalId = await givenUp(() => list('active'));
    const ending = end(rentalId);
    const someRounds = () => {
      const { length } = ending.beats;
      return until('it has looked some rounds more', () => ending.beats.length > length + 3);
    };
    const asked = () => upstream.asked.filter(([name]) => name === 'terminate').length;
    await someRounds();
    assert.equal(asked(), 1, 'the list is older than the answer');
    await list('active');
    await until('it has asked again', () => asked() === 2);
    await someRounds();
    for (const shown of [undefined, 'ending', undefined] as const) {
      await list(shown);
      await someRounds();
      assert.equal(asked(), 2, `the list shows ${shown}`);
    }
    await list();
    await ending.result;
    assert.equal(asked(), 2);
    assert.deepEqual(
      (await attempts(rentalId)).map(({ state }) => state),
      ['gone'],
    );
  });

  it('asks again what no list tells of for a minute', async () => {
    const rentalId = await givenUp(() => list('active'));
    let lateMs = 0;
    const real = performance.now.bind(performance);
    performance.now = () => real() + lateMs;
    try {
      const ending = end(rentalId);
      await until('it has asked', () => upstream.asked.length === 1);
      await until('it has looked again', () => ending.beats.length > 3);
      assert.equal(upstream.asked.length, 1);
      lateMs = 61_000;
      await until('it has asked again', () => upstream.asked.length === 2);
      ending.cancel();
      await assert.rejects(ending.result, CancelledFailure);
    } finally {
      performance.now = real;
    }
  });

  it('has nothing to end of a rental that never was', async () => {
    await lone.run('endPods', newId('rent'));
    assert.deepEqual(upstream.asked, []);
  });
});
