import assert from 'node:assert/strict';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental, insertRunningRental } from '../../support/money/factories.js';

interface Budget {
  readonly monthlyCents: number | null;
  readonly hard: boolean;
  readonly spentCents: number;
  readonly reservedCents: number;
  readonly leftCents: number | null;
}

describe('PUT /v1/billing/budget', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  async function put(body: object): Promise<[status: number, error: string | undefined, budget: Budget]> {
    const answer = await user.put('/v1/billing/budget', body);
    return [answer.status, answer.body.error, answer.body as unknown as Budget];
  }

  /** Their sign-in was an hour ago. */
  async function comeLater(): Promise<void> {
    await api
      .db('sessions')
      .where({ user_id: user.user.id })
      .update({
        proved_at: api.db.raw(`clock_ms() - interval '1 hour'`),
      });
  }

  it('tells what this month’s rentals have cost and may still cost', async () => {
    await insertRunningRental(api.db, user.user.id, 1_000, { charged_cents: 30, max_spend_cents: 100 });
    await insertRental(api.db, user.user.id, { max_spend_cents: 50 });
    const [status, , budget] = await put({ monthlyCents: 1_000 });
    assert.equal(status, 200);
    const { monthlyCents, hard, spentCents, reservedCents, leftCents } = budget;
    assert.deepEqual([monthlyCents, hard, leftCents], [1_000, false, 850]);
    assert.deepEqual([spentCents, reservedCents], [30, 120]);
    assert.deepEqual((await user.get('/v1/billing/budget')).body, budget);
  });

  it('is audited, and looked at anew', async () => {
    await put({ monthlyCents: 1_000 });
    await api.db('budgets').where({ user_id: user.user.id }).update({ looked_at: new Date() });
    await put({ monthlyCents: 100, hard: true });
    const row = (await api.db('budgets').where({ user_id: user.user.id }).first())!;
    assert.deepEqual([row.monthly_cents, row.hard, row.looked_at], [100, true, null]);
    const audit = await api
      .db('audit_events')
      .where({ user_id: user.user.id, kind: 'budget_changed' })
      .orderBy('no');
    assert.deepEqual(
      audit.map(({ details }) => details),
      [
        { monthlyCents: 1_000, hard: false },
        { monthlyCents: 100, hard: true },
      ],
    );
    assert.equal(audit[0]?.client_address, '127.0.0.1');
  });

  it('can’t be hard while a rental has no limit, and may be less than what is reserved', async () => {
    const { id } = await insertRental(api.db, user.user.id);
    const refused = await user.put('/v1/billing/budget', { monthlyCents: 100, hard: true });
    assert.deepEqual([refused.status, refused.body.error], [403, 'budget_reserved']);
    assert.deepEqual((refused.body.details as unknown as { unlimited: unknown }).unlimited, [
      { rentalId: id },
    ]);
    assert.equal(await api.db('budgets').where({ user_id: user.user.id }).first('hard'), undefined);
    await api.db('rentals').where({ id }).update({ max_spend_cents: 500 });
    const [status, , { leftCents }] = await put({ monthlyCents: 100, hard: true });
    assert.deepEqual([status, leftCents], [200, 0]);
  });

  it('is loosened after a fresh sign-in only, and tightened at any time', async () => {
    await put({ monthlyCents: 500, hard: true });
    await comeLater();
    for (const looser of [{ monthlyCents: 501, hard: true }, { monthlyCents: 100 }, { monthlyCents: null }]) {
      const [status, error] = await put(looser);
      assert.deepEqual([status, error], [403, 'fresh_sign_in_required'], JSON.stringify(looser));
    }
    assert.equal((await put({ monthlyCents: 499, hard: true }))[0], 200);
  });

  it('is soft at any time', async () => {
    await comeLater();
    for (const soft of [{ monthlyCents: 500 }, { monthlyCents: 900 }, { monthlyCents: null }]) {
      assert.equal((await put(soft))[0], 200, JSON.stringify(soft));
    }
  });
});
