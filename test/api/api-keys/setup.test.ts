import assert from 'node:assert/strict';
import { listDueNotices, mailNotices } from '../../../adapters/postgres/notices/notice-mails.js';
import { forgetting } from '../../../lab/mock/software.js';
import { readRentalRequest } from '../../../api/rentals/request.js';
import type { ApiKeyId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type ApiClient, type SignedIn, type TestApi } from '../../support/http/api.js';
import { until } from '../../support/until.js';
import { insertApiKeyOf } from '../../support/money/factories.js';

/** What a key that sets up can't do at any route is told by test/api/spending/capped-routes.test.ts. */
describe('keys that set up (decision 149)', () => {
  let api: TestApi;
  let user: SignedIn;
  let key: ApiClient;
  let keyId: ApiKeyId;
  const url = 'https://hooks.example.com/ci';

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
    const { row, token } = await insertApiKeyOf(api.db, user.user.id, {
      name: 'terraform',
      scopes: ['setup', 'rentals'],
    });
    keyId = row.id;
    key = api.withKey(token);
  });

  const due = async () =>
    (await listDueNotices(api.db, { quietMs: 0, longestMs: 0 })).filter(
      ({ userId }) => userId === user.user.id,
    );
  const mails = async () =>
    (await api.db('mail_outbox').where({ recipient: user.user.email }).orderBy('id')).map(
      ({ subject, body }) => `${subject}\n${body}`,
    );

  it('are mailed with all that they did, once an hour at most', async () => {
    await key.post('/v1/webhooks', { url });
    await key.post('/v1/ssh-keys', { name: 'CI', generate: true });
    assert.deepEqual(await due(), [{ userId: user.user.id, kind: 'setup_acted' }], 'and no other mail');
    await mailNotices(api.db, { userId: user.user.id, kind: 'setup_acted' }, 'http://127.0.0.1');
    const [first] = await mails();
    assert.match(first ?? '', /^API keys made 2 changes to your account’s setup\n/);
    assert.match(first ?? '', /terraform: Created a webhook: https:\/\/hooks\.example\.com\/ci/);
    assert.match(first ?? '', /terraform: Added an SSH key: CI/);

    await key.put('/v1/billing/budget', { monthlyCents: 1_000, hard: true });
    assert.deepEqual(await due(), [], 'an hour has not passed');
    await api.db.raw(
      "update user_notices set told_at = told_at - interval '1 hour' where told_at is not null",
    );
    assert.deepEqual(await due(), [{ userId: user.user.id, kind: 'setup_acted' }]);
    await mailNotices(api.db, { userId: user.user.id, kind: 'setup_acted' }, 'http://127.0.0.1');
    assert.match((await mails())[1] ?? '', /terraform: Lowered the budget: \$10\.00 a month, hard/);
  });

  it('name themselves in the audit trail', async () => {
    await key.put('/v1/billing/budget', { monthlyCents: 1_000 });
    const row = await api.db('audit_events').where({ user_id: user.user.id, kind: 'budget_changed' }).first();
    assert.equal(row?.api_key_id, keyId);
  });

  it('add SSH keys that open only machines whose request names them', async () => {
    const own = (await user.post('/v1/ssh-keys', { name: 'laptop', generate: true })).body.id;
    const ci = (await key.post('/v1/ssh-keys', { name: 'CI', generate: true })).body.id;
    const rows = await api.db('ssh_keys').where({ user_id: user.user.id }).orderBy('created_at');
    const opens = async (sshKeyIds?: string[]) => {
      const body = { familyId: 'rtx-4090', gpuCount: 1, ...(sshKeyIds && { sshKeyIds }) };
      const ctx = { state: { body } } as unknown as Parameters<typeof readRentalRequest>[0];
      const read = await readRentalRequest(ctx, user.user.id, () => Promise.resolve(rows), forgetting);
      return read.request.sshKeyIds;
    };
    assert.deepEqual(await opens(), [own]);
    assert.deepEqual(await opens([ci]), [ci]);
  });

  /** Revokes the key in a transaction that is still open, and lets the key act meanwhile. */
  async function whileRevoking(act: () => Promise<Answer>) {
    const revoking = await api.db.transaction();
    await revoking('api_keys')
      .where({ id: keyId })
      .update({ revoked_at: revoking.raw('clock_ms()') });
    const acting = act();
    await until('the act waits for the revocation', async () => {
      const { rows } = await api.db.raw<{ rows: object[] }>(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%api_keys%for share%'",
      );
      return rows.length > 0;
    });
    return { revoking, acting };
  }

  for (const act of ['changes a webhook', 'removes a webhook', 'removes an SSH key', 'lowers the budget']) {
    it(`wait for a revocation before they hold anything else, when one ${act}`, async () => {
      const hook = (await key.post('/v1/webhooks', { url })).body.id;
      const ssh = (await key.post('/v1/ssh-keys', { name: 'CI', generate: true })).body.id;
      const acts: Record<string, () => Promise<Answer>> = {
        'changes a webhook': () => key.patch(`/v1/webhooks/${hook}`, { description: 'mine' }),
        'removes a webhook': () => key.delete(`/v1/webhooks/${hook}`),
        'removes an SSH key': () => key.delete(`/v1/ssh-keys/${ssh}`),
        'lowers the budget': () => key.put('/v1/billing/budget', { monthlyCents: 1_000 }),
      };
      const { revoking, acting } = await whileRevoking(acts[act]!);
      // What a revocation removes, and an opening locks after its key: held by the act, each would be a deadlock.
      for (const [table, id] of [
        ['webhooks', hook],
        ['ssh_keys', ssh],
        ['users', user.user.id],
      ]) {
        await revoking.raw('select 1 from ?? where id = ? for no key update nowait', [table!, id!]);
      }
      await revoking.commit();
      assert.equal((await acting).body.error, 'key_revoked');
    });
  }

  it('set nothing up any more once they are revoked, however the two race', async () => {
    const { revoking, acting } = await whileRevoking(() => key.post('/v1/webhooks', { url }));
    await revoking.commit();
    const { status, body } = await acting;
    assert.deepEqual([status, body.error], [401, 'key_revoked']);
    assert.deepEqual(await api.db('webhooks').where({ user_id: user.user.id }), []);
  });
});
