import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertTopup } from '../../support/money/factories.js';

describe('checkout', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  describe('POST /v1/billing/checkout', () => {
    it('refuses amounts that are no whole cents from 100 to 500000', async () => {
      const wrong = [99, 0, -100, 500_001, 1.5, 100.5, 1e21, '100', null, true, [100], {}];
      for (const amountCents of wrong) {
        const answer = await user.post('/v1/billing/checkout', { amountCents });
        assert.deepEqual(
          [answer.status, answer.body.error],
          [400, 'invalid_amount'],
          JSON.stringify(amountCents),
        );
        assert.equal(answer.body.details.fields[0]!.field, 'amountCents');
      }
      const missing = await user.post('/v1/billing/checkout', {});
      assert.deepEqual([missing.status, missing.body.error], [400, 'invalid_amount']);
    });

    it('refuses numbers that JSON can write and a number can’t hold', async () => {
      for (const number of ['1e999', '100.0000000001', '-0']) {
        const answer = await user.send('POST', '/v1/billing/checkout', `{"amountCents":${number}}`, {
          'Content-Type': 'application/json',
        });
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_amount'], number);
      }
    });

    it('refuses unknown fields', async () => {
      const answer = await user.post('/v1/billing/checkout', { amountCents: 100, currency: 'EUR' });
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    });

    it('is billing_disabled without a key of the processor', async () => {
      const free = await startApi({
        settings: { billing: { enabled: false, publishableKey: '', livemode: false, simulatorUrl: null } },
      });
      try {
        const answer = await (await free.signIn()).post('/v1/billing/checkout', { amountCents: 100 });
        assert.deepEqual([answer.status, answer.body.error], [400, 'billing_disabled']);
      } finally {
        await free.stop();
      }
    });

    it('is a 503 at once when Temporal is away: nothing was done', async () => {
      const answer = await user.post('/v1/billing/checkout', { amountCents: 100 });
      const { topupId } = answer.body.details;
      assert.match(topupId, /^top_/);
      assert.deepEqual([answer.status, answer.body.details], [503, { topupId, outcome: 'not_done' }]);
    });
  });

  describe('GET /v1/billing/topups', () => {
    it('lists the user’s own, newest first, page by page', async () => {
      const other = await api.signIn();
      await insertTopup(api.db, other.user.id);
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        ids.push((await insertTopup(api.db, user.user.id)).id);
      }
      ids.sort().reverse();
      const first = await user.get('/v1/billing/topups?pageSize=2');
      const second = await user.get(`/v1/billing/topups?pageSize=2&cursor=${first.body.nextCursor}`);
      const listed = [...first.body.topups, ...second.body.topups];
      assert.deepEqual(
        listed.map((topup) => topup.id),
        ids,
      );
      assert.equal(second.body.nextCursor, null);
    });

    it('refuses a cursor of another list', async () => {
      const answer = await user.get(`/v1/billing/topups?cursor=${Buffer.from('[1]').toString('base64url')}`);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    });
  });

  describe('GET /v1/billing/topups/:id', () => {
    it('shows one that waits for its payment', async () => {
      const topup = await insertTopup(api.db, user.user.id);
      const answer = await user.get(`/v1/billing/topups/${topup.id}`);
      assert.deepEqual(answer.body, {
        id: topup.id,
        source: 'checkout',
        status: 'requires_payment',
        amountCents: 2_000,
        creditedCents: null,
        reversedCents: 0,
        declineCode: null,
        checkoutUrl: topup.checkout_url,
        sessionId: topup.session_id,
        processorChargeId: null,
        receiptUrl: null,
        error: null,
        createdAt: topup.created_at.toISOString(),
        expiresAt: topup.session_expires_at!.toISOString(),
        creditedAt: null,
      });
    });

    it('shows one that was paid, and no page to pay at any more', async () => {
      const topup = await insertTopup(api.db, user.user.id, {
        status: 'succeeded',
        payment_id: `pi_${newId('top')}`,
        charge_id: 'ch_1',
        receipt_url: 'https://pay.example.com/r',
        credited_cents: 2_000,
        credited_at: new Date(),
        closed_at: new Date(),
      });
      const { body } = await user.get(`/v1/billing/topups/${topup.id}`);
      assert.deepEqual(
        [body.status, body.creditedCents, body.processorChargeId, body.receiptUrl, body.checkoutUrl],
        ['succeeded', 2_000, 'ch_1', 'https://pay.example.com/r', null],
      );
    });

    it('is topup_not_found for another user’s id as for one that does not exist', async () => {
      const other = await api.signIn();
      const topup = await insertTopup(api.db, other.user.id);
      for (const id of [topup.id, newId('top'), 'top_1', '%00']) {
        const answer = await user.get(`/v1/billing/topups/${id}`);
        assert.deepEqual([answer.status, answer.body.error], [404, 'topup_not_found'], id);
      }
    });
  });

  // A form by which cards can be tried begins under the guards of a payment (decision 37, "Brakes and the watermark").
  describe('POST /v1/billing/setup-intent', () => {
    async function refusal() {
      const { status, body } = await user.post('/v1/billing/setup-intent');
      assert.deepEqual(await api.db('card_setups').where({ user_id: user.user.id }), [], 'none was begun');
      return { status, body };
    }

    it('is refused for a blocked user, with the reason', async () => {
      await api
        .db('users')
        .where({ id: user.user.id })
        .update({ blocked_at: new Date(), blocked_reason: 'fraud' });
      const { status, body } = await refusal();
      assert.deepEqual([status, body.error, body.details.reason], [403, 'blocked', 'fraud']);
    });

    it('is refused while operators have paused payments', async () => {
      await api.db('brakes').insert({ kind: 'charges', pulled_by: 'ann', reason: 'test' });
      try {
        const { status, body } = await refusal();
        assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
        assert.match(body.message, /operators have paused payments/);
      } finally {
        await api.db('brakes').delete();
      }
    });
  });
});
