import assert from 'node:assert/strict';
import type { TopupId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

/** The worst moment: the bank has paid, and the worker is killed before it hears of that. */
export function describeCharge(world: KilledWorker): void {
  describe('a worker that is killed between the charge of a saved card and its credit', () => {
    let service: TestService;
    let paying: Paying;
    let user: SignedIn;

    before(async () => {
      ({ service } = world);
      await world.startWorker();
      paying = new Paying(service);
      user = await service.signIn();
      await paying.saveCard(user);
    });

    async function chargesAtProcessor(): Promise<number> {
      const { charges } = await paying.state();
      const row = await service.db('users').where({ id: user.user.id }).first();
      const own = charges.filter(({ customer }) => customer === row?.processor_customer_id);
      return own.filter(({ status }) => status === 'succeeded').length;
    }

    it('is followed by another one that credits once, and the card is charged once', async () => {
      // The charge is made. Its answer never comes, and none of its events arrives.
      await paying.order('faults', {
        ...{ kind: 'lost', silent: true, method: 'POST', path: '/v1/payment_intents' },
      });
      await paying.order('faults', { kind: 'event_drop', times: 20 });
      const answer = paying.checkout(user, 4_200);
      await until('the card is charged', async () => (await chargesAtProcessor()) === 1);
      await world.kill();

      assert.deepEqual(await paying.entries(user), []);
      const [open] = await service.db('topups').where({ user_id: user.user.id });
      assert.deepEqual([open?.status, open?.payment_id, open?.closed_at], ['processing', null, null]);
      assert.ok(open?.charge_sent_at);

      await world.startWorker();
      const { status, body } = await answer;
      assert.equal(status, 200, JSON.stringify(body));
      assert.ok(['succeeded', 'processing'].includes(body.status), body.status);
      const topup = await paying.awaitTopup(body.topupId, 'succeeded');
      assert.equal(topup.id, open.id satisfies TopupId);
      assert.deepEqual(await paying.entries(user), [['processor_topup', 4_200]]);
      assert.equal(await chargesAtProcessor(), 1);
      await paying.clearFaults();
      await paying.assertAddsUp();
    });
  });
}
