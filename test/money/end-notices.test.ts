import assert from 'node:assert/strict';
import type { ActivityDeps } from '../../activities/deps.js';
import { createRentalActivities } from '../../activities/rentals/rental.js';
import { ensureProvider } from '../../adapters/postgres/catalog/catalog.js';
import type { Database } from '../../adapters/postgres/database.js';
import { recordPodList } from '../../adapters/postgres/machines/pods.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import type { UserNoticeRow, WalletRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { tick } from '../../money/metering/tick.js';
import {
  getRental,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
  type NewRunning,
} from '../support/money/money.js';

const whole = { shard: 0, shards: 1 };
const SECOND = 1_000;
/** A cent each second. */
const priceCents = 3_600;

describe('the end of a machine that its user did not ask for (decision 103)', () => {
  let db: Database;
  let steps: ReturnType<typeof createRentalActivities>;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    await ensureProvider(db, 'lab');
    steps = createRentalActivities({ db } as ActivityDeps);
  });

  async function rent(
    rental: Omit<NewRunning, 'priceCents'>,
    cents = 10_000,
  ): Promise<{ id: RentalId; wallet: WalletRow }> {
    const wallet = await insertWallet(db, cents);
    return { id: await insertRunning(db, wallet, { priceCents, ...rental }), wallet };
  }

  /** Does what the rental's workflow does, each step twice: attempts overlap. */
  async function finish(id: RentalId): Promise<void> {
    await tick(db, whole);
    for (const step of [() => steps.meterRental(id, 3_600 * SECOND), () => steps.settleRental(id)]) {
      await Promise.all([step(), step()]);
    }
    assert.notEqual((await getRental(db, id)).settled_at, null);
  }

  async function notices(id: RentalId): Promise<Pick<UserNoticeRow, 'kind' | 'facts'>[]> {
    return db('user_notices')
      .where({ cause: `rental-ended:${id}` })
      .select('kind', 'facts');
  }

  const facts = (rentalId: RentalId, chargedCents: number, error: string | null = null) => ({
    ...{ rentalId, name: null, gpuCount: 1, model: 'RTX_4090' },
    ...{ chargedCents, error },
  });

  it('is noted with its bill when its time is over', async () => {
    const { id } = await rent({ ranMs: 900 * SECOND, autoStopAfterMs: 600 * SECOND });
    await finish(id);
    assert.deepEqual(await notices(id), [{ kind: 'rental_auto_stop', facts: facts(id, 600) }]);
  });

  it('is noted when its spend limit is reached', async () => {
    const { id } = await rent({ ranMs: 900 * SECOND, maxSpendCents: 500 });
    await finish(id);
    assert.deepEqual(await notices(id), [{ kind: 'rental_spend_limit', facts: facts(id, 500) }]);
  });

  it('is noted when the money is used up, for each machine of the wallet', async () => {
    const wallet = await insertWallet(db, 7_300);
    const ids = [
      await insertRunning(db, wallet, { priceCents, ranMs: 4_000 * SECOND, holdCents: 3_600 }),
      await insertRunning(db, wallet, { priceCents, ranMs: 4_000 * SECOND, holdCents: 3_600 }),
    ];
    for (const id of ids) await finish(id);
    const kinds = (await Promise.all(ids.map(notices))).flat().map(({ kind }) => kind);
    assert.deepEqual(kinds, ['rental_balance_exhausted', 'rental_balance_exhausted']);
  });

  it('is noted when an operator stops it, and not when its user does', async () => {
    const { id } = await rent({ ranMs: 100 * SECOND });
    const other = await rent({ ranMs: 100 * SECOND });
    await insertStopRequest(db, (await getRental(db, id)).no, 'operator', 'maintenance');
    await insertStopRequest(db, (await getRental(db, other.id)).no, 'user', null);
    await finish(id);
    await finish(other.id);
    assert.deepEqual(
      (await notices(id)).map(({ kind }) => kind),
      ['rental_operator_stop'],
    );
    assert.deepEqual(await notices(other.id), []);
  });

  it('is noted as a loss, with the refund that it brought', async () => {
    for (const [aliveMs, cents] of [
      [300 * SECOND, 300],
      [50 * SECOND, 0],
    ] as const) {
      const { id } = await rent({ ranMs: 900 * SECOND });
      await lose(id, aliveMs);
      await finish(id);
      const [notice, ...more] = await notices(id);
      assert.deepEqual([notice?.kind, more], ['rental_lost', []]);
      const { error } = await getRental(db, id);
      assert.match(error ?? '', /machine was lost|lost the machine/);
      assert.deepEqual(notice?.facts, facts(id, cents, error));
    }
  });

  it('is noted as a failure when it never answered, with nothing charged', async () => {
    const id = await provisioning();
    await Promise.all([
      steps.giveUpProvisioning(id, 'It did not answer.'),
      steps.giveUpProvisioning(id, 'It did not answer.'),
    ]);
    assert.deepEqual(await notices(id), [
      { kind: 'rental_failed', facts: facts(id, 0, 'It did not answer.') },
    ]);
  });

  it('is not noted when its user stopped it before it answered', async () => {
    const id = await provisioning();
    await insertStopRequest(db, (await getRental(db, id)).no, 'user', null);
    await steps.giveUpProvisioning(id, 'It did not answer.');
    assert.deepEqual(await notices(id), []);
  });

  it('is noted when an operator stopped it before it answered', async () => {
    const id = await provisioning();
    await insertStopRequest(db, (await getRental(db, id)).no, 'operator', 'maintenance');
    await steps.giveUpProvisioning(id, null);
    assert.deepEqual(
      (await notices(id)).map(({ kind }) => kind),
      ['rental_operator_stop'],
    );
  });

  async function provisioning(): Promise<RentalId> {
    const { id } = await rent({ ranMs: 0 });
    await db('rentals')
      .where({ id })
      .update({ status: 'provisioning', running_at: null, auto_stop_at: null, spend_limit_at: null });
    return id;
  }

  /** The upstream's lists showed the machine alive until this long after its start, and then lost. */
  async function lose(id: RentalId, aliveMs: number): Promise<void> {
    await db('pods').insert({
      ...{ provider_code: 'lab', pod_id: `pod-${id}`, tag: `test-${id}-1`, status: 'active' },
      ...{ upstream_status: 'active', first_seen_at: db.raw('clock_ms()') },
    });
    for (const [status, atMs] of [
      ['active', aliveMs],
      ['lost', aliveMs + 10 * SECOND],
    ] as const) {
      await recordPodList(db, 'lab', {
        pods: [
          {
            ...{ podId: `pod-${id}`, tag: `test-${id}-1`, status, upstreamStatus: status },
            ...{ host: null, port: null, username: null, pricePerHourCents: priceCents },
          },
        ],
        askedAt: new Date(),
      });
      await db.raw(
        `update providers set pods_listed_at = running_at + :atMs * interval '1 millisecond'
           from rentals where code = 'lab' and id = :id`,
        { id, atMs },
      );
    }
  }
});
