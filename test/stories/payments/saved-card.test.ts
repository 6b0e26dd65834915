import assert from 'node:assert/strict';
import { defaultSettings } from '../../../api/settings.js';
import type { SignedIn } from '../../support/http/api.js';
import { publishableKey, startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { Paying, testCards } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

describe('the saved card', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;

  before(async () => {
    service = await startService();
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(() => paying.clearFaults());
  after(() => service.stop());

  async function isAttached(pmId: string): Promise<boolean> {
    return (await service.stripe.paymentMethods.retrieve(pmId)).customer !== null;
  }

  describe('POST /v1/billing/setup-intent', () => {
    it('answers the secret with which the processor’s form goes on, and charges nothing', async () => {
      const { status, body } = await user.post('/v1/billing/setup-intent');
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['clientSecret', 'publishableKey', 'pageUrl']);
      const { clientSecret } = body as unknown as { clientSecret: string };
      const setup = await service.stripe.setupIntents.retrieve(clientSecret.split('_secret_')[0]!);
      assert.deepEqual([setup.usage, setup.metadata], ['off_session', { user_id: user.user.id }]);
      assert.equal((body as unknown as { publishableKey: string }).publishableKey, publishableKey);
    });

    it('names the simulator’s page, which leads back to the dashboard', async () => {
      const { body } = await user.post('/v1/billing/setup-intent');
      const { clientSecret, pageUrl } = body as unknown as { clientSecret: string; pageUrl: string };
      const { origin, pathname, searchParams } = new URL(pageUrl);
      assert.equal(origin + pathname, `${service.processor.url}/setup/${clientSecret.split('_secret_')[0]}`);
      assert.equal(searchParams.get('client_secret'), clientSecret);
      assert.equal(searchParams.get('return_url'), `${defaultSettings.dashboardUrl}/app/billing`);
      assert.match(await (await fetch(pageUrl)).text(), /name="cardNumber"/);
    });

    it('makes one customer of the user for two at once', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => user.post('/v1/billing/setup-intent')));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
      const { customers } = await paying.state();
      assert.equal(customers.filter(({ email }) => email === user.user.email).length, 1);
    });

    it('is a 503 while the processor is down, and works again afterwards', async () => {
      await paying.order('faults', { kind: 'status', status: 500, path: '/v1/customers' });
      const down = await user.post('/v1/billing/setup-intent');
      assert.deepEqual([down.status, down.body.error], [503, 'temporarily_unavailable']);
      assert.equal((await user.post('/v1/billing/setup-intent')).status, 200);
    });
  });

  describe('setup_intent.succeeded', () => {
    it('saves brand, last four digits and expiry', async () => {
      const none = await user.get('/v1/billing/card');
      assert.deepEqual(none.body, { brand: null, last4: null, expMonth: null, expYear: null, pmId: null });
      const pmId = await paying.saveCard(user, 'pm_card_mastercard');
      const { body } = await user.get('/v1/billing/card');
      const { expYear } = body as unknown as { expYear: number };
      assert.deepEqual(body, { brand: 'mastercard', last4: '4444', expMonth: 12, expYear, pmId });
    });

    it('replaces the card before, and detaches that one', async () => {
      const first = await paying.saveCard(user);
      const second = await paying.saveCard(user, 'pm_card_mastercard');
      await until('the first one is detached', async () => !(await isAttached(first)));
      assert.equal(await isAttached(second), true);
      await paying.awaitHandled();
      assert.equal(await paying.card(user), second);
    });

    it('saves a card once for an event that comes twice', async () => {
      await paying.order('faults', { kind: 'event_duplicate', type: 'setup_intent.succeeded' });
      const pmId = await paying.saveCard(user);
      await paying.awaitHandled();
      assert.equal((await service.db('saved_cards').where({ user_id: user.user.id })).length, 1);
      assert.equal(await paying.card(user), pmId);
    });

    it('does not bring back a card that was removed before its event came again', async () => {
      const pmId = await paying.saveCard(user);
      await user.delete('/v1/billing/card');
      await until('it is detached', async () => !(await isAttached(pmId)));
      await service.db('processor_events').where({ workflow_id: pmId }).update({ handled_at: null });
      await runUpkeepRound(service, 'redeliver');
      await service.db.raw(`update processor_events set received_at = received_at - interval '1 hour'`);
      await runUpkeepRound(service, 'redeliver');
      await paying.awaitHandled();
      assert.equal(await paying.card(user), null);
    });

    it('is nobody’s card when its metadata names a user that does not exist', async () => {
      const customer = await service.stripe.customers.create({ email: 'stranger@example.com' });
      const setup = await service.stripe.setupIntents.create({
        customer: customer.id,
        payment_method: 'pm_card_visa',
        payment_method_types: ['card'],
        confirm: true,
        metadata: { user_id: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
      });
      await until('its event is handled', async () => {
        const row = await service
          .db('processor_events')
          .where({ workflow_id: setup.payment_method as string })
          .first();
        return row?.handled_at instanceof Date;
      });
      const saved = await service.db('saved_cards').where({ pm_id: setup.payment_method as string });
      assert.deepEqual(saved, []);
    });
  });

  describe('DELETE /v1/billing/card', () => {
    it('removes the card at once, and detaches it at the processor', async () => {
      const pmId = await paying.saveCard(user);
      const answer = await user.delete('/v1/billing/card');
      assert.deepEqual([answer.status, answer.body], [200, { ok: true }]);
      assert.equal(await paying.card(user), null);
      await until('it is detached', async () => !(await isAttached(pmId)));
    });

    it('is ok without a card too', async () => {
      assert.deepEqual((await user.delete('/v1/billing/card')).body, { ok: true });
    });

    it('detaches in the end while the processor is down', async () => {
      const pmId = await paying.saveCard(user);
      await paying.order('faults', {
        kind: 'status',
        status: 500,
        times: 2,
        method: 'POST',
        path: `/v1/payment_methods/${pmId}`,
      });
      await user.delete('/v1/billing/card');
      await until('it is detached', async () => !(await isAttached(pmId)));
    });
  });

  it('that is detached at the processor is no saved card any more', async () => {
    const pmId = await paying.saveCard(user);
    await service.stripe.paymentMethods.detach(pmId);
    await until('it is gone', async () => (await paying.card(user)) === null);
    const [row] = await service.db('saved_cards').where({ pm_id: pmId });
    assert.equal(row!.removed_why, 'detached');
  });

  it('that its bank renewed has its new date', async () => {
    const pmId = await paying.saveCard(user);
    const before = (await user.get('/v1/billing/card')).body as unknown as { expYear: number };
    await paying.order(`payment_methods/${pmId}/renew`);
    await until('the date is new', async () => {
      const { body } = await user.get('/v1/billing/card');
      return (body as unknown as { expYear: number }).expYear === before.expYear + 4;
    });
  });

  it('that has expired is told about once, and is not charged: the page is opened', async () => {
    await paying.saveCard(user);
    await service.db('saved_cards').where({ user_id: user.user.id }).update({ exp_year: 2020 });
    await runUpkeepRound(service, 'housekeeping');
    await runUpkeepRound(service, 'housekeeping');
    assert.deepEqual(await paying.mails(user), ['Your saved card has expired']);
    assert.match((await paying.page(user, 500)).url, /^http/);
  });

  describe('on the payment page', () => {
    it('is saved when the payer ticks the page’s consent, and charged the next time', async () => {
      const first = await paying.page(user, 1_000);
      await paying.pay(first.url, testCards.good, { save: 'on' });
      await paying.awaitAvailable(user, 1_000);
      assert.notEqual(await paying.card(user), null);
      const second = await paying.checkout(user, 700);
      assert.deepEqual([second.status, second.body.status], [200, 'succeeded'], JSON.stringify(second.body));
      assert.equal((await paying.wallet(user)).available_cents, 1_700);
    });

    it('is not saved when they do not', async () => {
      const { url } = await paying.page(user, 1_000);
      await paying.pay(url);
      await paying.awaitAvailable(user, 1_000);
      assert.equal(await paying.card(user), null);
    });
  });
});
