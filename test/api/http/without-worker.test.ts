import assert from 'node:assert/strict';
import { defaultSettings } from '../../../api/settings.js';
import { userIdAttribute } from '../../../workflows/contracts/search-attributes.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { getTemporal } from '../../support/servers/servers.js';

describe('opening without any worker', () => {
  let api: TestApi;
  let user: SignedIn;
  const opened: string[] = [];

  before(async () => {
    api = await startApi({
      temporalAddress: (await getTemporal()).address,
      settings: { answerWithinMs: 400, answerGraceMs: 200, reachMs: 2_000, stopWaitMs: 300 },
    });
    user = await api.signIn();
  });
  after(async () => {
    const { client } = api.deps.temporal;
    for (const id of opened) await client.workflow.getHandle(id).terminate('the test is over');
    await api.stop();
  });

  it('POST /v1/rentals is a 503 within its limit, and names the rental that never will be', async () => {
    const startMs = performance.now();
    const answer = await user.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
    assert.ok(
      performance.now() - startMs < defaultSettings.answerWithinMs,
      'the limit of the product is longer',
    );
    assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
    assert.match(answer.body.details.rentalId, /^rent_/);
    assert.equal(answer.body.details.outcome, 'not_done');
    opened.push(answer.body.details.rentalId);
    const { memo, typedSearchAttributes } = await api.deps.temporal.client.workflow
      .getHandle(answer.body.details.rentalId)
      .describe();
    assert.equal(typedSearchAttributes.get(userIdAttribute), user.user.id);
    assert.ok(
      !JSON.stringify([memo, typedSearchAttributes.getAll()]).includes(user.user.email),
      'no personal data',
    );
  });

  it('POST /v1/billing/checkout likewise', async () => {
    const answer = await user.post('/v1/billing/checkout', { amountCents: 100 });
    assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
    assert.match(answer.body.details.topupId, /^top_/);
    opened.push(answer.body.details.topupId);
  });
});
