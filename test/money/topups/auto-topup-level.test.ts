import assert from 'node:assert/strict';
import { readCooldownMs, saveAutoTopup } from '../../../adapters/postgres/payments/auto-topup-settings.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { beginAutoTopup } from '../../../money/topups/auto-topups.js';
import { post } from '../../../money/ledger/post.js';
import { insertRental } from '../../../money/rentals/rentals.js';
import { lockWalletOfUser, moveHold } from '../../../money/ledger/wallets.js';
import { tick } from '../../../money/metering/tick.js';
import { findHardBudget } from '../../../adapters/postgres/spending/budgets.js';
import type { IntentRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { newId } from '../../../adapters/ids.js';
import {
  getRental,
  getWallet,
  insertRunning,
  insertWallet,
  onVerifiedDatabase,
} from '../../support/money/money.js';
import { until } from '../../support/until.js';

const whole = { shard: 0, shards: 1 };

describe('the level of auto-topup in a tick', () => {
  let db: Database;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });

  /** A wallet with a saved card and auto-topup below $10. */
  async function armed(cents: number): Promise<WalletRow> {
    const wallet = await insertWallet(db, cents);
    await db('saved_cards').insert({
      pm_id: `pm_${newId('top')}`,
      user_id: wallet.user_id,
      brand: 'visa',
      last4: '4242',
      exp_month: 12,
      exp_year: 2999,
      set_up_at: new Date(),
    });
    await saveAutoTopup(db, wallet.user_id, { enabled: true, thresholdCents: 1_000 });
    return wallet;
  }

  function openIntents(wallet: WalletRow): Promise<IntentRow[]> {
    return db('intents').where({ wallet_id: wallet.id, kind: 'auto_topup' }).whereNull('acknowledged_at');
  }

  async function postpone(wallet: WalletRow, interval: string): Promise<void> {
    await db('auto_topups')
      .where({ wallet_id: wallet.id })
      .update({ next_attempt_at: db.raw(`clock_ms() + ?::interval`, [interval]) });
  }

  it('leaves no intent at the threshold, and one below it', async () => {
    const wallet = await armed(1_005);
    await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 5_000, holdCents: 0 });
    await tick(db, whole);
    assert.deepEqual(await openIntents(wallet), [], '1000 cents are available');
    const { left } = await tickLater(wallet, 1_000);
    assert.equal(left, true);
    assert.equal((await openIntents(wallet)).length, 1);
  });

  /** Ticks as if this much time had passed. */
  async function tickLater(wallet: WalletRow, ms: number) {
    await db('meters')
      .where({ wallet_id: wallet.id })
      .update({ running_ms: db.raw('running_ms - ?', [ms]) });
    return tick(db, whole);
  }

  it('goes by the level: tick after tick one intent, and another once it was acknowledged', async () => {
    const wallet = await armed(900);
    await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 1_000, holdCents: 0 });
    await tick(db, whole);
    await tickLater(wallet, 1_000);
    assert.equal((await openIntents(wallet)).length, 1);
    await db('intents').where({ wallet_id: wallet.id }).update({ acknowledged_at: new Date() });
    await tickLater(wallet, 1_000);
    assert.equal((await openIntents(wallet)).length, 1);
  });

  it('compares what is available, not what is held', async () => {
    const wallet = await armed(1_500);
    await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 2_000, holdCents: 600 });
    await tick(db, whole);
    assert.equal((await openIntents(wallet)).length, 1, '900 cents are available, 598 held');
  });

  it('leaves nothing in the cooldown, and something as soon as it is over', async () => {
    const wallet = await armed(900);
    await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 1_000, holdCents: 0 });
    await postpone(wallet, '1 minute');
    await tick(db, whole);
    assert.deepEqual(await openIntents(wallet), []);
    await postpone(wallet, '-1 second');
    await tickLater(wallet, 1_000);
    assert.equal((await openIntents(wallet)).length, 1);
  });

  it('goes by no instant that a clock which ran ahead has set, in a tick and in its attempt', async () => {
    const wallet = await armed(900);
    await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 1_000, holdCents: 0 });
    await postpone(wallet, '1 hour');
    await tick(db, whole);
    assert.equal((await openIntents(wallet)).length, 1);
    assert.equal(await readCooldownMs(db, wallet.user_id), 0);
    const step = await beginAutoTopup(db, wallet.user_id, newId('top'), { cooldownMs: 1_000 });
    assert.equal(step.kind, 'attempt');
    const settings = await db('auto_topups').where({ wallet_id: wallet.id }).first();
    assert.ok(settings!.next_attempt_at!.getTime() < Date.now() + 2_000, 'the next cooldown is a true one');
  });

  it('leaves nothing when it is disabled, or when what ran has just ended', async () => {
    const off = await armed(900);
    await saveAutoTopup(db, off.user_id, { enabled: false });
    await insertRunning(db, off, { priceCents: 3_600, ranMs: 1_000, holdCents: 0 });
    const ended = await armed(900);
    await insertRunning(db, ended, {
      priceCents: 3_600,
      ranMs: 5_000,
      holdCents: 0,
      autoStopAfterMs: 3_000,
    });
    await tick(db, whole);
    assert.deepEqual([await openIntents(off), await openIntents(ended)], [[], []]);
  });

  it('keeps a machine whose money ended before any tick could notice the threshold', async () => {
    const wallet = await armed(10);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, ranMs: 60_000, holdCents: 0 });
    await tick(db, whole);
    assert.equal((await getRental(db, id)).status, 'running', 'it waits for the attempt that begins now');
    assert.equal((await openIntents(wallet)).length, 1);
  });

  it('ends a machine whose money ended in the cooldown', async () => {
    const wallet = await armed(10);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, ranMs: 60_000, holdCents: 0 });
    await postpone(wallet, '1 minute');
    await tick(db, whole);
    assert.equal((await getRental(db, id)).stop_reason, 'balance_exhausted');
  });

  for (const { own, account, begins } of [
    { own: null, account: null, begins: true },
    { own: null, account: 3_999, begins: false },
    { own: 3_999, account: null, begins: false },
    { own: 5_000, account: 3_999, begins: false },
    { own: 5_000, account: 4_000, begins: true },
  ]) {
    it(`${begins ? 'begins' : 'holds back'} a second $20 by a cap of ${own ?? 'none'} of the user's and ${account ?? 'none'} of the account's`, async () => {
      const wallet = await armed(900);
      await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 1_000, holdCents: 0 });
      await db('users').where({ id: wallet.user_id }).update({ auto_topup_daily_cap_cents: account });
      await db('auto_topups').where({ wallet_id: wallet.id }).update({ daily_cap_cents: own });
      const first = await beginAutoTopup(db, wallet.user_id, newId('top'), { cooldownMs: 0 });
      assert.equal(first.kind, 'attempt');
      await db('topups')
        .where({ user_id: wallet.user_id })
        .update({ credited_cents: 2_000, closed_at: db.raw('clock_ms()') });
      const second = await beginAutoTopup(db, wallet.user_id, newId('top'), { cooldownMs: 0 });
      assert.equal(second.kind, begins ? 'attempt' : 'cooling');
    });
  }

  it('begins nothing for a marked user, and switches it off', async () => {
    const wallet = await armed(900);
    await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 1_000, holdCents: 0 });
    await db('charge_marks').insert({
      id: newId('op'),
      kind: 'dispute',
      charge_id: 'ch_1',
      user_id: wallet.user_id,
    });
    const step = await beginAutoTopup(db, wallet.user_id, newId('top'), { cooldownMs: 0 });
    assert.equal(step.kind, 'quiet');
    const settings = await db('auto_topups').where({ wallet_id: wallet.id }).first();
    assert.equal(settings?.disabled_why, 'charges_held');
  });

  describe('in the transaction that lowers what is available', () => {
    /** A rental at 40 cents an hour: its first cent is due after 90 seconds. */
    const slow = { priceCents: 40, ranMs: 0, holdCents: 0 };

    it('by the hold of an opening, before anything runs', async () => {
      const wallet = await armed(1_030);
      await db.transaction(async (trx) => {
        const locked = await lockWalletOfUser(trx, wallet.user_id);
        await moveHold(trx, locked, 40);
        await insertRental(trx, {
          id: newId('rent'),
          wallet_id: wallet.id,
          user_id: wallet.user_id,
          name: null,
          family: 'rtx-4090',
          model: 'RTX_4090',
          gpu_count: 1,
          region: 'Oslo',
          region_code: 'NO',
          interconnect: 'pcie',
          template_id: 'ubuntu-24-04',
          ssh_key_ids: [],
          listing_id: newId('lst'),
          provider_code: 'lab',
          tag: `test-${wallet.id}`,
          pod_id: null,
          price_per_hour_cents: 40,
          max_spend_cents: null,
          auto_stop_after_ms: null,
          opened_seq: locked.seq,
        });
      });
      assert.equal((await openIntents(wallet)).length, 1);
      const step = await beginAutoTopup(db, wallet.user_id, newId('top'), { cooldownMs: 0 });
      assert.equal(step.kind, 'attempt', 'and it begins while the machine is being got');
    });

    for (const { what, cents, intents } of [
      { what: 'by an entry that takes from it', cents: -50, intents: 1 },
      { what: 'not by one that leaves enough', cents: -10, intents: 0 },
      { what: 'not by one that gives', cents: 1, intents: 0 },
    ]) {
      it(what, async () => {
        const wallet = await armed(1_030);
        await insertRunning(db, wallet, slow);
        await postCents(wallet, cents);
        assert.equal((await openIntents(wallet)).length, intents);
      });
    }

    it('not while nothing runs, nor in the cooldown', async () => {
      const idle = await armed(1_030);
      await postCents(idle, -50);
      const cooling = await armed(1_030);
      await insertRunning(db, cooling, slow);
      await postpone(cooling, '1 minute');
      await postCents(cooling, -50);
      assert.deepEqual([await openIntents(idle), await openIntents(cooling)], [[], []]);
    });

    it('by the settings themselves', async () => {
      const wallet = await armed(1_030);
      await insertRunning(db, wallet, slow);
      await saveAutoTopup(db, wallet.user_id, { enabled: true, thresholdCents: 1_000 });
      assert.deepEqual(await openIntents(wallet), []);
      await saveAutoTopup(db, wallet.user_id, { enabled: true, thresholdCents: 1_031 });
      assert.equal((await openIntents(wallet)).length, 1);
    });

    it('by settings that are stored beside an opening, which takes the intent before the user', async () => {
      const wallet = await armed(1_030);
      await insertRunning(db, wallet, slow);
      const saving = await db.transaction(async (trx) => {
        const locked = await lockWalletOfUser(trx, wallet.user_id);
        const cause = { kind: 'operation', operationId: newId('op') } as const;
        await post(trx, locked, { type: 'adjustment', availableCents: -50, cause });
        const settled = saveAutoTopup(db, wallet.user_id, { enabled: true, thresholdCents: 1_031 });
        const waits = `select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into intents%'`;
        await until(
          'the settings wait',
          async () => (await db.raw<{ rows: unknown[] }>(waits)).rows.length > 0,
        );
        await findHardBudget(trx, wallet.user_id, 'locked');
        return { settled };
      });
      assert.equal((await saving.settled)?.threshold_cents, 1_031);
      assert.equal((await openIntents(wallet)).length, 1);
    });

    async function postCents(wallet: WalletRow, availableCents: number): Promise<void> {
      await db.transaction(async (trx) => {
        const locked = await lockWalletOfUser(trx, wallet.user_id);
        const cause = { kind: 'operation', operationId: newId('op') } as const;
        await post(trx, locked, { type: 'adjustment', availableCents, cause });
      });
    }
  });

  it('asks for an attempt with an empty wallet, from which no tick takes anything', async () => {
    const wallet = await armed(1);
    const id = await insertRunning(db, wallet, { priceCents: 36_000, ranMs: 1_000, holdCents: 0 });
    await tick(db, whole);
    await db('intents').where({ wallet_id: wallet.id }).update({ acknowledged_at: new Date() });
    // The wallet's own entries: the machines of the other tests run on.
    const { seq } = await getWallet(db, wallet.user_id);
    await tickLater(wallet, 1_000);
    assert.equal((await getWallet(db, wallet.user_id)).seq, seq);
    assert.equal((await openIntents(wallet)).length, 1);
    assert.equal((await getRental(db, id)).status, 'running');
  });
});
