import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { saveCard } from '../../../adapters/postgres/payments/saved-cards.js';
import { ApiClient, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { getWallet, insertRunning } from '../../support/money/money.js';

const path = '/v1/billing/auto-topup';

describe('PUT and GET /v1/billing/auto-topup', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  /** Saves a card as its workflow does. */
  async function save(of = user): Promise<void> {
    const cardId = `pm_${newId('top')}`;
    const details = { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2099, fingerprint: null };
    const card = { cardId, customerId: null, keptByConsent: false, ...details };
    await saveCard(api.db, { userId: of.user.id, card, setUpAt: new Date() });
  }

  /** Stores settings. @throws AssertionError when the answer is no 200 */
  async function put(settings: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { status, body } = await user.put(path, settings);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Record<string, unknown>;
  }

  it('reads nulls before the first PUT', async () => {
    const { status, body } = await user.get(path);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...{ enabled: false, thresholdCents: null, topupAmountCents: null },
      ...{ dailyCapCents: null, disabledReason: null, nextAttemptAt: null },
    });
  });

  it('stores and echoes the settings; the default amount is 2000', async () => {
    await save();
    const stored = await put({ enabled: true, thresholdCents: 500 });
    assert.deepEqual(stored, {
      ...{ enabled: true, thresholdCents: 500, topupAmountCents: 2_000 },
      ...{ dailyCapCents: null, disabledReason: null, nextAttemptAt: null, warnings: [] },
    });
    assert.deepEqual({ ...(await user.get(path)).body, warnings: [] }, stored);
    const next = new Date(Date.now() + 60_000);
    const failed = { enabled: false, disabled_why: 'charge_failed', next_attempt_at: next } as const;
    await api.db('auto_topups').where({ user_id: user.user.id }).update(failed);
    const { disabledReason, nextAttemptAt } = (await user.get(path)).body as unknown as Record<
      string,
      unknown
    >;
    assert.deepEqual([disabledReason, nextAttemptAt], ['charge_failed', next.toISOString()]);
  });

  it('is no_saved_card without a card, or with one that has expired, and stores nothing', async () => {
    const answer = await user.put(path, { enabled: true, thresholdCents: 500 });
    assert.deepEqual([answer.status, answer.body.error], [409, 'no_saved_card']);
    await save();
    await api.db('saved_cards').where({ user_id: user.user.id }).update({ exp_year: 2020 });
    assert.equal((await user.put(path, { enabled: true, thresholdCents: 500 })).body.error, 'no_saved_card');
    assert.equal((await user.get(path)).body.thresholdCents, null);
  });

  it('can be disabled without a card, and keeps the numbers', async () => {
    await save();
    await put({ enabled: true, thresholdCents: 700, topupAmountCents: 3_000 });
    const off = await put({ enabled: false });
    assert.deepEqual([off['enabled'], off['thresholdCents'], off['topupAmountCents']], [false, 700, 3_000]);
    const other = await api.signIn();
    assert.equal((await other.put(path, { enabled: false })).status, 200);
  });

  const refused: [why: string, body: Record<string, unknown>, field: string][] = [
    ['no switch', { thresholdCents: 500 }, 'enabled'],
    ['no threshold when enabled', { enabled: true }, 'thresholdCents'],
    ['a threshold below 100', { enabled: true, thresholdCents: 99 }, 'thresholdCents'],
    ['a threshold above 100000', { enabled: true, thresholdCents: 100_001 }, 'thresholdCents'],
    ['a fraction of a cent', { enabled: true, thresholdCents: 100.5 }, 'thresholdCents'],
    [
      'an amount below 1000',
      { enabled: true, thresholdCents: 100, topupAmountCents: 999 },
      'topupAmountCents',
    ],
    [
      'an amount above 500000',
      { enabled: true, thresholdCents: 100, topupAmountCents: 500_001 },
      'topupAmountCents',
    ],
    [
      'a cap that would never let anything be charged',
      { enabled: true, thresholdCents: 100, topupAmountCents: 3_000, dailyCapCents: 2_000 },
      'dailyCapCents',
    ],
    ['an unknown field', { enabled: false, amount: 1 }, 'amount'],
    ['a switch that is a text', { enabled: 'true', thresholdCents: 100 }, 'enabled'],
  ];
  for (const [why, body, field] of refused) {
    it(`refuses ${why}, names the field, and changes nothing`, async () => {
      await save();
      const answer = await user.put(path, body);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
      const { fields } = answer.body.details as unknown as { fields: { field: string }[] };
      assert.deepEqual(
        fields.map((fault) => fault.field),
        [field],
      );
      assert.equal((await user.get(path)).body.enabled, false);
    });
  }

  for (const [thresholdCents, topupAmountCents] of [
    [100, 1_000],
    [100_000, 500_000],
  ]) {
    it(`takes the bounds ${thresholdCents} and ${topupAmountCents}`, async () => {
      await save();
      const stored = await put({ enabled: true, thresholdCents, topupAmountCents });
      assert.deepEqual(
        [stored['thresholdCents'], stored['topupAmountCents']],
        [thresholdCents, topupAmountCents],
      );
    });
  }

  it('warns when the amount can’t keep up with what runs', async () => {
    await save();
    const wallet = await getWallet(api.db, user.user.id);
    await insertRunning(api.db, wallet, { priceCents: 24_000, ranMs: 0, holdCents: 0 });
    const enough = await put({ enabled: true, thresholdCents: 100, topupAmountCents: 2_000 });
    assert.deepEqual(enough['warnings'], []);
    const tooLittle = await put({
      enabled: true,
      thresholdCents: 100,
      topupAmountCents: 1_999,
    });
    assert.match(String(tooLittle['warnings']), /\$20\.00 in 5 minutes/);
  });

  it('is switched off with the card’s removal, and on again only by its owner', async () => {
    await save();
    await put({ enabled: true, thresholdCents: 500 });
    await user.delete('/v1/billing/card');
    const off = (await user.get(path)).body as unknown as Record<string, unknown>;
    assert.deepEqual(
      [off['enabled'], off['disabledReason'], off['thresholdCents']],
      [false, 'card_removed', 500],
    );
    await save();
    assert.equal((await user.get(path)).body.enabled, false);
    const on = await put({ enabled: true, thresholdCents: 500 });
    assert.deepEqual([on['enabled'], on['disabledReason']], [true, null]);
  });

  it('stays on when another card replaces the one before', async () => {
    await save();
    await put({ enabled: true, thresholdCents: 500 });
    await save();
    assert.equal((await user.get(path)).body.enabled, true);
  });

  it('ends switched off, whoever comes first, when the card is removed at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const racer = await api.signIn();
      await save(racer);
      await Promise.all([
        racer.put(path, { enabled: true, thresholdCents: 500 }),
        racer.delete('/v1/billing/card'),
      ]);
      assert.equal((await racer.get(path)).body.enabled, false);
    }
  });

  it('is billing_disabled where payments are switched off', async () => {
    const { billing } = api.deps.settings;
    const off = await startApi({ settings: { billing: { ...billing, enabled: false } } });
    try {
      const someone = await off.signIn();
      const answer = await someone.put(path, { enabled: true, thresholdCents: 500 });
      assert.deepEqual([answer.status, answer.body.error], [400, 'billing_disabled']);
    } finally {
      await off.stop();
    }
  });

  it('needs a session', async () => {
    const stranger = new ApiClient(api.url);
    assert.equal((await stranger.put(path, { enabled: false })).status, 401);
    assert.equal((await stranger.get(path)).status, 401);
  });
});
