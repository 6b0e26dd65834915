import assert from 'node:assert/strict';
import type { SignedIn } from '../../support/http/api.js';
import { AutoTopping } from '../../support/story/auto-topping.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { until } from '../../support/until.js';

const settings = { enabled: true, thresholdCents: 1_000, topupAmountCents: 2_000 };

export function describeAutoTopup(world: KilledWorker): void {
  describe('a worker that is killed in the middle of an auto-topup', () => {
    let service: TestService;
    let topping: AutoTopping;
    let user: SignedIn;

    before(() => {
      ({ service } = world);
      topping = new AutoTopping(service);
    });
    beforeEach(async () => {
      user = await service.signIn(500);
      await topping.saveCard(user);
      await topping.run(user, 60);
    });

    /** Starts another worker, and asserts that the card is charged once and the wallet credited once. */
    async function assertOneCharge(): Promise<void> {
      await topping.clearFaults();
      await world.startWorker();
      await topping.awaitAttempt(user, 'succeeded');
      await topping.awaitHandled();
      assert.deepEqual(await topping.charges(user), ['succeeded']);
      assert.deepEqual(await topping.credits(user), [2_000]);
      assert.equal((await topping.attempts(user)).length, 1);
      const receipts = (await topping.mails(user)).filter((subject) => subject.includes('automatic'));
      assert.equal(receipts.length, 1);
      await topping.assertAddsUp();
    }

    it('before the call: the next one makes it, once', async () => {
      await topping.order('faults', { kind: 'hang', method: 'POST', path: '/v1/payment_intents' });
      await topping.put(user, settings);
      await topping.awaitAttempt(user, 'processing');
      await world.kill();
      assert.deepEqual(await topping.charges(user), []);
      await assertOneCharge();
    });

    it('after the call and before the commit: the next one hears of the same charge', async () => {
      await topping.order('faults', {
        ...{ kind: 'lost', silent: true, method: 'POST', path: '/v1/payment_intents' },
      });
      await topping.order('faults', { kind: 'event_drop', times: 20 });
      await topping.put(user, settings);
      await until('the card is charged', async () => (await topping.charges(user))[0] === 'succeeded');
      await world.kill();
      assert.deepEqual(await topping.credits(user), []);
      await assertOneCharge();
    });

    it('after the commit and before the answer: the next one finds it done', async () => {
      await topping.put(user, settings);
      await until('it is credited', async () => (await topping.credits(user)).length === 1);
      await world.kill();
      await assertOneCharge();
    });

    it('after a decline’s commit: one offer, one mail, off', async () => {
      const declined = await service.signIn(500);
      await topping.saveCard(declined, 'pm_card_chargeCustomerFail');
      await topping.run(declined, 60);
      await topping.put(declined, settings);
      await topping.awaitAttempt(declined, 'failed');
      await world.kill();
      await world.startWorker();
      await topping.awaitHandled();
      await topping.awaitQuiet(declined);
      assert.equal((await topping.invoices(declined)).length, 1);
      assert.deepEqual(await topping.mails(declined), [
        'Your automatic top-up failed: please update your card',
      ]);
      assert.equal((await declined.get('/v1/billing/auto-topup')).body.enabled, false);
    });
  });
}
