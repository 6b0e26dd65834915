import assert from 'node:assert/strict';
import { moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { adoptPod } from '../../../money/rentals/pod-adoption.js';
import { tellMachineFound } from '../../../money/rentals/rentals.js';
import type { AllocationAttemptRow } from '../../../adapters/postgres/rows/tables.js';
import type { Provider, Wait } from '../../../adapters/providers/provider.js';
import type { RentalId } from '../../../domain/ids.js';
import { catalogLimits } from '../../../domain/catalog/limits.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertRunningRental } from '../../support/money/factories.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { getRental } from '../../support/money/money.js';
import { b200, l40s, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** While true, the upstream finds nothing by its tag, although the watcher's lists show it. */
const lists = { unfound: false };
/** Runs between a create at the upstream and its answer. */
const creating: { meanwhile: (tag: string) => Promise<void> } = { meanwhile: () => Promise.resolve() };
/** The answers without a pod's price. */
const prices = { hidden: 'nobody' as 'nobody' | 'creates' | 'all' };
/** The time left to each call of an opening when it was made, in milliseconds. */
const waits: number[] = [];

function lagging(provider: Provider): Provider {
  const noteWait = ({ untilMs }: Wait = {}): void => void waits.push((untilMs ?? NaN) - performance.now());
  return {
    ...provider,
    async find(tag, wait) {
      noteWait(wait);
      const pod = lists.unfound ? undefined : await provider.find(tag, wait);
      return pod && prices.hidden === 'all' ? { ...pod, pricePerHourCents: null } : pod;
    },
    async allocate(request) {
      noteWait(request);
      const pod = await provider.allocate(request);
      await creating.meanwhile(request.tag);
      return prices.hidden === 'nobody' ? pod : { ...pod, pricePerHourCents: null };
    },
  };
}

describe('a rental’s machine', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;

  before(async () => {
    service = await startService({ wrapProvider: lagging });
    renting = new Renting(service);
  });
  beforeEach(async () => {
    user = await service.signIn(1_000);
  });
  afterEach(async () => {
    Object.assign(lists, { unfound: false });
    creating.meanwhile = () => Promise.resolve();
    prices.hidden = 'nobody';
    waits.length = 0;
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  describe('whose create does not tell what the machine costs (decision 74)', () => {
    it('reads it in the list: a dearer one is given back, and the next offer taken', async () => {
      prices.hidden = 'creates';
      await service.gpus.faults({ priceChange: { times: 1, percent: 25 } });
      const { id, price_per_hour_cents } = await renting.run(user, l40s);
      assert.equal(price_per_hour_cents, l40s.nextCents);
      await until('the dearer one is gone', async () => (await renting.bought(id))[0]?.[0] === 'deleted');
      await renting.stop(user, id);
    });

    it('waits for the price, with nothing charged, and keeps the machine once it is told', async () => {
      prices.hidden = 'all';
      const id = await renting.open(user, l40s);
      await until('the machine is up', async () => (await renting.bought(id))[0]?.[0] === 'active');
      const { status, pod_id } = await renting.row(id);
      assert.deepEqual([status, pod_id], ['provisioning', null]);
      prices.hidden = 'nobody';
      await renting.awaitStatus(id, 'running');
      assert.deepEqual(await renting.bought(id), [['active', l40s.pricePerHourCents]]);
      await renting.stop(user, id);
    });

    it('ends a machine that never tells it, and gives everything back', async () => {
      prices.hidden = 'all';
      const id = await renting.openDirectly(user, l40s, { unknownFindMs: 300 });
      await until('none of its machines has time left', async () => {
        await service.db('allocation_attempts').where({ rental_id: id }).update({ deadline_ms: 1_000 });
        return (await renting.row(id)).closed_at !== null;
      });
      const failed = await renting.row(id);
      assert.deepEqual([failed.status, failed.charged_cents - failed.refunded_cents], ['failed', 0]);
      await until('every machine is gone', async () =>
        (await renting.bought(id)).every(([podStatus]) => podStatus === 'deleted'),
      );
    });
  });

  it('is bought without letting a call wait beyond the 15 seconds in all, nor beyond what its caller waits (decision 19)', async () => {
    await service.gpus.faults({ failCreateAfterMake: 1 });
    const soon = new Date(Date.now() + 8_000).toISOString();
    const id = await renting.openDirectly(user, l40s, {}, { answerBefore: soon });
    assert.equal(waits.length >= 2, true, 'a create, and a look for what it bought');
    for (const waitMs of waits)
      assert.ok(waitMs > 0 && waitMs <= 8_000 - rentalLimits.openFinishMs, `${waitMs} ms`);
    await renting.stop(user, id);
    waits.length = 0;
    await renting.stop(user, await renting.open(user, l40s));
    assert.ok(waits[0]! <= rentalLimits.openBudgetMs, `${waits[0]} ms`);
  });

  it('that is there although its create failed, again and again, keeps its upstream on sale', async () => {
    await service.gpus.faults({ failCreateAfterMake: true });
    for (let count = 0; count <= catalogLimits.breakAfterFailures; count += 1) {
      await renting.stop(user, await renting.open(user, l40s));
    }
    const [upstream] = await service.db('providers').where({ code: 'lab' });
    assert.deepEqual([upstream?.create_failures, upstream?.out_reason], [0, null]);
  });

  it('that does not come up in the time of its offer is given up, and everything given back (decision 76)', async () => {
    await service.gpus.faults({ bootMs: 60_000 });
    const id = await renting.open(user, l40s);
    await service.db('allocation_attempts').where({ rental_id: id }).update({ deadline_ms: 1_000 });
    const failed = await renting.awaitClosed(id);
    assert.match(failed.error ?? '', /did not answer within 1 seconds/);
    assert.equal(failed.charged_cents - failed.refunded_cents, 0);
  });

  describe('that the sweep finds while nobody has adopted it', () => {
    /** A rental that looks for its machine in vain, for longer than the sweep waits. */
    async function lookingFor(): Promise<{ id: RentalId; attempt: AllocationAttemptRow; podId: string }> {
      await service.gpus.faults({ failCreateAfterMake: 1 });
      lists.unfound = true;
      const id = await renting.openDirectly(user, l40s, { unknownFindMs: 3_600_000 });
      const [attempt] = await service
        .db('allocation_attempts')
        .where({ rental_id: id })
        .update({ created_at: service.db.raw(`created_at - interval '6 minutes'`), deadline_ms: 3_600_000 })
        .returning('*');
      const pod = await until('the watcher has seen it', () =>
        service.db('pods').where({ tag: attempt!.tag }).first(),
      );
      return { id, attempt: attempt!, podId: pod.pod_id };
    }
    const sweep = async (): Promise<string[]> => {
      const { ended } = (await runUpkeepRound(service, 'sweep')) as { ended: string[] };
      return ended;
    };

    it('leaves it to the rental that adopts it in that moment', async () => {
      const { id, attempt, podId } = await lookingFor();
      const adoption = await service.db.transaction();
      await adoption('rentals').where({ id }).update({ pod_id: podId });
      assert.ok(await moveAttempt(adoption, attempt.id, 'open', 'adopted', { podId }));
      await tellMachineFound(adoption, await renting.row(id), 'lab');
      const swept = { tags: undefined as string[] | undefined };
      const sweeping = sweep().then((tags) => (swept.tags = tags));
      await until('the sweep waits for the adoption, or is over', async () => {
        const { rows } = await service.db.raw<{ rows: unknown[] }>(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
              and query like 'update "allocation_attempts"%'`,
        );
        return swept.tags !== undefined || rows.length > 0;
      });
      await adoption.commit();
      await sweeping;
      assert.deepEqual(swept.tags, []);
      assert.equal((await renting.awaitStatus(id, 'running')).pod_id, podId);
      assert.deepEqual(await renting.bought(id), [['active', l40s.pricePerHourCents]]);
      await renting.stop(user, id);
    });

    it('condemns it before it ends it: nobody adopts it any more', async () => {
      const { id, attempt, podId } = await lookingFor();
      assert.deepEqual(await sweep(), [attempt.tag]);
      assert.equal(await adoptPod(service.db, await renting.row(id), attempt, podId), false);
      lists.unfound = false;
      // No other machine is available at the agreed price.
      const failed = await renting.awaitClosed(id);
      assert.deepEqual([failed.pod_id, failed.charged_cents - failed.refunded_cents], [null, 0]);
    });
  });

  describe('is given back, and the opening refused', () => {
    /** Asserts that a refused opening leaves no rental, no hold and no lasting machine. */
    async function assertNothingIsLeft(id: string): Promise<void> {
      assert.deepEqual(await service.db('rentals').where({ user_id: user.user.id }), []);
      assert.deepEqual(
        [(await renting.wallet(user)).available_cents, (await renting.wallet(user)).reserved_cents],
        [1_000, 0],
      );
      await until('its machine is gone', async () => {
        await runUpkeepRound(service, 'sweep');
        return (await renting.bought(id as RentalId))[0]?.[0] === 'deleted';
      });
    }

    it('when the upstream answered so late that the caller has been told of a failure (decision 4)', async () => {
      const answerBefore = new Date(Date.now() + 4_000);
      creating.meanwhile = async () => {
        await until('it is too late', async () => {
          const { rows } = await service.db.raw<{ rows: { late: boolean }[] }>(
            'select clock_ms() > ?::timestamptz as late',
            [answerBefore.toISOString()],
          );
          return rows[0]?.late;
        });
      };
      const opening = renting.openDirectly(user, l40s, {}, { answerBefore: answerBefore.toISOString() });
      await assert.rejects(opening);
      const [attempt] = await service.db('allocation_attempts').orderBy('id', 'desc').limit(1);
      assert.equal(attempt?.state, 'condemned');
      await assertNothingIsLeft(attempt.rental_id);
    });

    it('when it was given up by somebody else before it was adopted (decision 22)', async () => {
      creating.meanwhile = async (tag) => {
        await service.db('allocation_attempts').where({ tag }).update({ state: 'condemned' });
      };
      const answer = await user.post('/v1/rentals', { familyId: 'l40s', gpuCount: 1 });
      assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
      const [attempt] = await service.db('allocation_attempts').orderBy('id', 'desc').limit(1);
      assert.equal(attempt?.state, 'condemned');
      await assertNothingIsLeft(attempt.rental_id);
    });
  });
});

describe('opening a rental beside one that runs', () => {
  it('first charges what the running one owes: that money is not spent twice (decision 19)', async () => {
    // Without a tick engine and a workflow of its own, nobody else charges it.
    const service = await startService({ shards: 0 });
    try {
      const hourCents = b200.pricePerHourCents;
      const user = await service.signIn(2 * hourCents + 1_000);
      const running = await insertRunningRental(service.db, user.user.id, 2 * 3_600_000, {
        price_per_hour_cents: hourCents,
      });
      const answer = await user.post('/v1/rentals', { familyId: 'a100-80gb', gpuCount: 8 });
      assert.deepEqual([answer.status, answer.body.error], [403, 'insufficient_balance']);
      const { details } = answer.body as unknown as { details: { availableCents: number } };
      assert.ok(details.availableCents <= 1_000, JSON.stringify(details));
      const { charged_cents } = await getRental(service.db, running.id);
      assert.ok(charged_cents >= 2 * hourCents, 'what was charged stays charged');
    } finally {
      await service.stop();
    }
  });
});
