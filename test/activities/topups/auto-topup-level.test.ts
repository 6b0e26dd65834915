import assert from 'node:assert/strict';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import type { UserId } from '../../../domain/ids.js';
import { AMOUNT, AutoTopups, BALANCE, COOLDOWN_MS, paying } from '../../support/activities/auto-topups.js';
import { getWallet } from '../../support/money/money.js';

const quiet = (why: string) => ({ state: 'closed', status: 'quiet', summary: why });

describe('lookAtAutoTopup when nothing is to be charged', () => {
  let topups: AutoTopups;
  before(async () => {
    topups = await AutoTopups.start();
  });
  beforeEach(() => topups.lone.processor.reset());
  after(() => topups.lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(topups.lone.db), [], 'every wallet adds up');
  });

  const reasons: Record<string, { change: (userId: UserId) => Promise<unknown>; why: string }> = {
    'it is off': {
      change: (userId) => topups.lone.db('auto_topups').where({ user_id: userId }).update({ enabled: false }),
      why: 'auto-topup is off',
    },
    'nothing runs': {
      change: async (userId) => {
        const { id } = await getWallet(topups.lone.db, userId);
        await topups.lone.db('meter_readings').where({ wallet_id: id }).delete();
      },
      why: 'no machine runs',
    },
    'there is enough': {
      change: (userId) =>
        topups.lone.db('auto_topups').where({ user_id: userId }).update({ threshold_cents: BALANCE }),
      why: '300 cents are available',
    },
    'the card has expired': {
      change: (userId) => topups.lone.db('saved_cards').where({ user_id: userId }).update({ exp_year: 2020 }),
      why: 'the saved card can’t be charged any more',
    },
    'a payment of its user was denied': {
      change: (userId) =>
        topups.lone.db('charge_marks').insert({
          id: `dp_${userId}`,
          kind: 'dispute',
          charge_id: `ch_${userId}`,
          user_id: userId,
        }),
      why: 'a payment was denied: an operator must lift the mark first',
    },
  };
  for (const [which, { change, why }] of Object.entries(reasons)) {
    it(`is quiet and asks nobody, however often it looks: ${which}`, async () => {
      const userId = await topups.due();
      await change(userId);
      assert.deepEqual(await topups.look(userId), quiet(why));
      assert.equal((await topups.look(userId)).state, 'closed');
      assert.deepEqual([topups.lone.processor.asked, await topups.attempts(userId)], [[], []]);
      assert.equal(await topups.isAwaited(userId), false);
    });
  }

  it('goes off where there is no card to charge, and where the payer is held', async () => {
    for (const [which, expected] of [
      ['the card has expired', 'card_expired'],
      ['a payment of its user was denied', 'charges_held'],
    ] as const) {
      const userId = await topups.due();
      await reasons[which]!.change(userId);
      await topups.look(userId);
      const { enabled, disabled_why } = await topups.settings(userId);
      assert.deepEqual([enabled, disabled_why], [false, expected]);
    }
  });

  const holds: Record<string, (userId: UserId) => Promise<unknown>> = {
    'the cap of 1000 cents a day is reached': (userId) =>
      topups.lone.db('auto_topups').where({ user_id: userId }).update({ daily_cap_cents: 1_000 }),
    'the cap of 1200 cents a day is reached': (userId) =>
      topups.lone.db('users').where({ id: userId }).update({ auto_topup_daily_cap_cents: 1_200 }),
    'the user is blocked': (userId) =>
      topups.lone
        .db('users')
        .where({ id: userId })
        .update({ blocked_at: new Date(), blocked_reason: 'test' }),
    'the operators have paused payments': () =>
      topups.lone.db('brakes').insert({ kind: 'charges', pulled_by: 'ann', reason: 'test' }),
  };
  for (const [why, change] of Object.entries(holds)) {
    it(`waits for a cooldown, stays on and charges nothing: ${why}`, async () => {
      const userId = await topups.due();
      await change(userId);
      assert.deepEqual(await topups.look(userId), {
        state: 'waiting',
        status: 'cooling',
        summary: `held back: ${why}`,
        nextLookMs: COOLDOWN_MS,
      });
      const again = await topups.look(userId);
      assert.equal(again.summary, 'cooling down after the last attempt');
      assert.ok(again.nextLookMs! > 0 && again.nextLookMs! <= COOLDOWN_MS);
      await topups.lone.db('brakes').delete();
      assert.deepEqual([topups.lone.processor.asked, await topups.attempts(userId)], [[], []]);
      assert.equal((await topups.settings(userId)).enabled, true);
      assert.equal(await topups.isAwaited(userId), false);
    });
  }

  it('counts what it has charged within a day against the cap', async () => {
    const userId = await topups.due({ daily_cap_cents: 2 * AMOUNT - 1, threshold_cents: 10_000 });
    topups.lone.processor.answers = { chargeSavedCard: paying() };
    await topups.look(userId);
    await topups.coolDown(userId);
    assert.equal((await topups.look(userId)).summary, 'held back: the cap of 4999 cents a day is reached');
    assert.equal((await topups.attempts(userId)).length, 1);
    const dayAgo = new Date(Date.now() - 86_400_000 - 60_000);
    await topups.lone.db('topups').where({ user_id: userId }).update({ created_at: dayAgo });
    await topups.coolDown(userId);
    await topups.look(userId);
    assert.equal((await topups.attempts(userId)).length, 2);
  });
});
