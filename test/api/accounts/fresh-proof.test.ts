import assert from 'node:assert/strict';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

const url = 'https://hooks.example.com/gpu';

describe('a fresh sign-in', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
  });
  /** Lets the user have shown this long ago who they are. */
  const prove = (secondsAgo: number | null) =>
    api
      .db('sessions')
      .where({ user_id: user.user.id })
      .update({ proved_at: api.db.raw(`clock_ms() - ? * interval '1 second'`, [secondsAgo]) });
  const faultOf = ({ status, body }: Answer) => [status, body.error];

  it('is younger than fifteen minutes', async () => {
    await prove(14 * 60 + 50);
    assert.equal((await user.post('/v1/webhooks', { url })).status, 200);
    await prove(15 * 60);
    assert.deepEqual(faultOf(await user.post('/v1/webhooks', { url })), [403, 'fresh_sign_in_required']);
    assert.equal((await api.db('webhooks').where({ user_id: user.user.id })).length, 1);
  });

  it('is told when it was, and what to do next', async () => {
    await prove(60 * 60);
    const [session] = await api.db('sessions').where({ user_id: user.user.id });
    const { body } = await user.post('/v1/webhooks', { url });
    assert.deepEqual(body.details, { provedAt: session!.proved_at!.toISOString() });
    assert.match(body.message, /less than 15 minutes old.*POST \/v1\/auth\/refresh-proof/);
  });

  it('is none where an account elsewhere has not told when', async () => {
    await prove(null);
    const { status, body } = await user.post('/v1/webhooks', { url });
    assert.deepEqual([status, body.error, body.details], [403, 'fresh_sign_in_required', { provedAt: null }]);
  });

  it('is asked for where the address of a webhook is set, and where it begins to hear of sign-ins', async () => {
    const { id } = (await user.post('/v1/webhooks', { url })).body as unknown as { id: string };
    await prove(null);
    const change = (body: object) => user.patch(`/v1/webhooks/${id}`, body);
    assert.deepEqual(faultOf(await change({ url: `${url}/2` })), [403, 'fresh_sign_in_required']);
    assert.deepEqual(faultOf(await change({ url })), [403, 'fresh_sign_in_required']);
    assert.deepEqual(faultOf(await change({ types: ['session.started'] })), [403, 'fresh_sign_in_required']);
    for (const types of [['rental.running'], []]) assert.equal((await change({ types })).status, 200);
    assert.equal((await user.delete(`/v1/webhooks/${id}`)).status, 200);
  });

  it('comes after the body is checked: what is wrong with it is told first', async () => {
    await prove(null);
    assert.deepEqual(faultOf(await user.post('/v1/webhooks', {})), [400, 'validation_failed']);
  });
});
