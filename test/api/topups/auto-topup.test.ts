import assert from 'node:assert/strict';
import { ApiClient, type SignedIn } from '../../support/http/api.js';
import { AutoTopping } from '../../support/story/auto-topping.js';
import { startService, type TestService } from '../../support/service/living-service.js';

const path = '/v1/billing/auto-topup';

describe('PUT and GET /v1/billing/auto-topup', () => {
  let service: TestService;
  let topping: AutoTopping;
  let user: SignedIn;

  before(async () => {
    service = await startService({ shards: 0 });
    topping = new AutoTopping(service);
  });
  beforeEach(async () => {
    user = await service.signIn(10_000);
  });
  after(() => service.stop());

  it('reads nulls before the first PUT', async () => {
    const { status, body } = await user.get(path);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...{ enabled: false, thresholdCents: null, topupAmountCents: null },
      ...{ dailyCapCents: null, disabledReason: null, nextAttemptAt: null },
    });
  });

  it('stores and echoes the settings; the default amount is 2000', async () => {
    await topping.saveCard(user);
    const stored = await topping.put(user, { enabled: true, thresholdCents: 500 });
    assert.deepEqual(stored, {
      ...{ enabled: true, thresholdCents: 500, topupAmountCents: 2_000 },
      ...{ dailyCapCents: null, disabledReason: null, nextAttemptAt: null, warnings: [] },
    });
    assert.deepEqual({ ...(await user.get(path)).body, warnings: [] }, stored);
  });

  it('is no_saved_card without a card, or with one that has expired, and stores nothing', async () => {
    const answer = await user.put(path, { enabled: true, thresholdCents: 500 });
    assert.deepEqual([answer.status, answer.body.error], [409, 'no_saved_card']);
    await topping.saveCard(user);
    await service.db('saved_cards').where({ user_id: user.user.id }).update({ exp_year: 2020 });
    assert.equal((await user.put(path, { enabled: true, thresholdCents: 500 })).body.error, 'no_saved_card');
    assert.equal((await user.get(path)).body.thresholdCents, null);
  });

  it('can be disabled without a card, and keeps the numbers', async () => {
    await topping.saveCard(user);
    await topping.put(user, { enabled: true, thresholdCents: 700, topupAmountCents: 3_000 });
    const off = await topping.put(user, { enabled: false });
    assert.deepEqual([off['enabled'], off['thresholdCents'], off['topupAmountCents']], [false, 700, 3_000]);
    const other = await service.signIn();
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
      await topping.saveCard(user);
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
      await topping.saveCard(user);
      const stored = await topping.put(user, { enabled: true, thresholdCents, topupAmountCents });
      assert.deepEqual(
        [stored['thresholdCents'], stored['topupAmountCents']],
        [thresholdCents, topupAmountCents],
      );
    });
  }

  it('warns when the amount can’t keep up with what runs', async () => {
    await topping.saveCard(user);
    await topping.run(user, 24_000);
    const enough = await topping.put(user, { enabled: true, thresholdCents: 100, topupAmountCents: 2_000 });
    assert.deepEqual(enough['warnings'], []);
    const tooLittle = await topping.put(user, {
      enabled: true,
      thresholdCents: 100,
      topupAmountCents: 1_999,
    });
    assert.match(String(tooLittle['warnings']), /\$20\.00 in 5 minutes/);
  });

  it('is switched off with the card’s removal, and on again only by its owner', async () => {
    await topping.saveCard(user);
    await topping.put(user, { enabled: true, thresholdCents: 500 });
    await user.delete('/v1/billing/card');
    const off = (await user.get(path)).body as unknown as Record<string, unknown>;
    assert.deepEqual(
      [off['enabled'], off['disabledReason'], off['thresholdCents']],
      [false, 'card_removed', 500],
    );
    await topping.saveCard(user);
    assert.equal((await user.get(path)).body.enabled, false);
    const on = await topping.put(user, { enabled: true, thresholdCents: 500 });
    assert.deepEqual([on['enabled'], on['disabledReason']], [true, null]);
  });

  it('stays on when another card replaces the one before', async () => {
    await topping.saveCard(user);
    await topping.put(user, { enabled: true, thresholdCents: 500 });
    await topping.saveCard(user, 'pm_card_mastercard');
    assert.equal((await user.get(path)).body.enabled, true);
  });

  it('ends switched off, whoever comes first, when the card is removed at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const racer = await service.signIn();
      await topping.saveCard(racer);
      await Promise.all([
        racer.put(path, { enabled: true, thresholdCents: 500 }),
        racer.delete('/v1/billing/card'),
      ]);
      assert.equal((await racer.get(path)).body.enabled, false);
    }
  });

  it('is billing_disabled where payments are switched off', async () => {
    const { billing } = service.api.deps.settings;
    const off = await startService({ worker: false, settings: { billing: { ...billing, enabled: false } } });
    try {
      const someone = await off.signIn();
      const answer = await someone.put(path, { enabled: true, thresholdCents: 500 });
      assert.deepEqual([answer.status, answer.body.error], [400, 'billing_disabled']);
    } finally {
      await off.stop();
    }
  });

  it('needs a session', async () => {
    const stranger = new ApiClient(service.api.url);
    assert.equal((await stranger.put(path, { enabled: false })).status, 401);
    assert.equal((await stranger.get(path)).status, 401);
  });
});
