import assert from 'node:assert/strict';
import { confirmDatabase } from '../../../adapters/postgres/restore/watermark.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { getWallet, insertRunning } from '../../support/money/money.js';

describe('the API on a restored database', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
    user = await api.signIn();
  });
  after(() => api.stop());

  it('takes stops and sign-outs, answers reads, and refuses all other changes with 503', async () => {
    const wallet = await getWallet(api.db, user.user.id);
    const rentalId = await insertRunning(api.db, wallet, { priceCents: 3_600, ranMs: 1_000, holdCents: 0 });
    await confirmDatabase(api.db, 60);
    for (const [path, body] of [
      ['/v1/rentals', { familyId: 'l40s', gpuCount: 1 }],
      ['/v1/billing/checkout', { amountCents: 2_500 }],
      ['/v1/ssh-keys', { name: 'k', publicKey: 'ssh-ed25519 A' }],
    ] as const) {
      const answer = await user.post(path, body);
      assert.equal(answer.status, 503, path);
      assert.equal(answer.body.error, 'temporarily_unavailable');
      assert.match(answer.body.message, /under repair/);
    }
    assert.equal((await user.get('/v1/rentals')).status, 200);
    const exported = await user.get('/v1/account/export');
    assert.deepEqual([exported.status, exported.body.error], [503, 'temporarily_unavailable']);
    assert.deepEqual((await user.get('/readyz')).body.checks.brakes, ['restored']);
    assert.equal((await user.post(`/v1/rentals/${rentalId}/stop`)).status, 200);
    assert.equal((await api.db('stop_requests')).length, 1);
    const { status } = await user.post('/v1/auth/logout');
    assert.ok(status < 300, String(status));
  });
});
