import assert from 'node:assert/strict';
import type { Provider } from '../../../adapters/providers/provider.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import { getWallet } from '../../support/money/money.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, l40s, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** More than the general pool of the worker has connections (living-service.ts). */
const STOPS = 12;
/** The charges of a wallet that owes each second, while another one is held. */
const CHARGES = 4;
/** How long one of them may take. Whoever waits for the held wallet waits for 5 s (decision 20, "Wallet lock while buying"). */
const FELT_MS = 4_500;

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
    const stops = ids.map((id) => slow.post(`/v1/rentals/${id}/stop`));
    const told = Promise.all(stops);
    await until('all stops are asked for', async () => {
      const rows = await service.db('stop_requests').whereIn('rental_no', nosOf(ids));
      return rows.length === STOPS;
    });

    await Promise.all([rentAndStop(other), awaitCharges(other.user.id)]);
    assert.equal(state.slowAnswered, false, 'all this happened while the create was under way');

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

  async function rentAndStop(user: SignedIn): Promise<void> {
    const id = await renting.open(user, rtx4090);
    await renting.stop(user, id);
    await renting.awaitStatus(id, 'stopped');
  }

  /** Waits for one charge after the other; the time in which the whole machine stands still hardly counts. */
  async function awaitCharges(userId: UserId): Promise<void> {
    let seen = await chargesOf(userId);
    for (let n = 0; n < CHARGES; n += 1) {
      seen = await until(
        'another user is charged again',
        async () => {
          const charges = await chargesOf(userId);
          return charges > seen && charges;
        },
        FELT_MS,
      );
    }
  }

  async function chargesOf(userId: UserId): Promise<number> {
    const { id } = await getWallet(service.db, userId);
    const rows = await service.db('ledger_entries').where({ wallet_id: id, type: 'rental_charge' });
    return rows.length;
  }
});
