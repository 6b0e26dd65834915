import assert from 'node:assert/strict';
import type { Provider } from '../../../adapters/providers/provider.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, l40s, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** More than the general pool of the worker has connections (living-service.ts). */
const STOPS = 12;
/** How long the upstream is silent at one create: several times what any other user may feel of it. */
const HELD_MS = 9_000;
/**
 * The longest time between two entries of a wallet that owes each second. Whoever waits for the held wallet waits for the
 * rest of its time.
 */
const FELT_MS = HELD_MS / 2;

describe('one user whose wallet is held for long', () => {
  const upstream: { holding: boolean; release: () => void } = { holding: false, release: () => undefined };
  let service: TestService;
  let renting: Renting;
  before(async () => {
    service = await startService({ wrapProvider: withSlowCreate });
    renting = new Renting(service);
  });
  after(async () => {
    upstream.release();
    await service.stop();
  });

  /**
   * The first create after `holding` was set is done at once, and its answer waits until it is released: one that begins
   * after an opening's 15 seconds (decision 19) would buy nothing. All others are as quick as ever.
   */
  function withSlowCreate(provider: Provider): Provider {
    return {
      ...provider,
      async allocate(order) {
        if (!upstream.holding) return provider.allocate(order);
        upstream.holding = false;
        const released = new Promise<void>((resolve) => {
          upstream.release = resolve;
        });
        const pod = await provider.allocate(order);
        await released;
        return pod;
      },
    };
  }

  it('delays neither the ticks of others nor their creates and stops', async () => {
    const [slow, other] = [await service.signIn(1_000_000), await service.signIn(1_000_000)];
    const ids: RentalId[] = [];
    for (let n = 0; n < STOPS; n += 1) ids.push(await renting.open(slow, rtx4090));
    const steady = await renting.open(other, b200);
    for (const id of [...ids, steady]) await renting.awaitStatus(id, 'running');

    upstream.holding = true;
    const state = { slowAnswered: false };
    const opening = slow
      .post('/v1/rentals', { familyId: l40s.familyId, gpuCount: l40s.gpuCount })
      .finally(() => (state.slowAnswered = true));
    await until('the upstream is asked, under the wallet’s lock', () => !upstream.holding);
    const heldFrom = performance.now();
    const since = await clock();
    const stops = ids.map((id) => slow.post(`/v1/rentals/${id}/stop`));
    const told = Promise.all(stops);
    await until('all stops are asked for', async () => {
      const rows = await service.db('stop_requests').whereIn('rental_no', nosOf(ids));
      return rows.length === STOPS;
    });

    const another = await renting.open(other, rtx4090);
    await renting.stop(other, another);
    await renting.awaitStatus(another, 'stopped');
    await until('the wallet was held for long', () => performance.now() - heldFrom > HELD_MS);
    assert.equal(state.slowAnswered, false, 'all this happened while the create was under way');
    const gapMs = await longestGapMs(other.user.id, since);
    assert.ok(gapMs < FELT_MS, `${gapMs} ms between two charges of another user`);

    upstream.release();
    assert.equal((await opening).status, 200);
    for (const answer of await told) assert.equal(answer.status, 200);
    for (const id of ids) await renting.awaitStatus(id, 'stopped');
    await renting.assertAddsUp(slow.user.id);
    await renting.assertAddsUp(other.user.id);
  });

  function nosOf(ids: readonly string[]): never {
    return service.db('rentals').whereIn('id', ids).select('no') as never;
  }

  async function clock(): Promise<Date> {
    const { rows } = await service.db.raw<{ rows: { at: Date }[] }>('select clock_ms() as at');
    return rows[0]!.at;
  }

  /** The longest gap between entries from an instant to now, by the database's own clock. */
  async function longestGapMs(userId: UserId, since: Date): Promise<number> {
    const { rows } = await service.db.raw<{ rows: { ms: number }[] }>(
      `with instants as (
         select created_at as at from ledger_entries
          where wallet_id = (select id from wallets where user_id = :userId) and type = 'rental_charge'
            and created_at >= :since
         union all select :since union all select clock_ms()
       )
       select max(gap)::int as ms from (
         select extract(epoch from at - lag(at) over (order by at)) * 1000 as gap from instants) g`,
      { userId, since },
    );
    return rows[0]!.ms;
  }
});
