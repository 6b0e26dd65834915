import assert from 'node:assert/strict';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

/** A form by which cards can be tried begins under the guards of a payment (decision 37, "Brakes and the watermark"). */
describe('POST /v1/billing/setup-intent', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

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
