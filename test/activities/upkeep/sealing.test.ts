import assert from 'node:assert/strict';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { ledgerLimits } from '../../../domain/ledger/limits.js';
import { verifyRoots } from '../../../adapters/postgres/ledger/verify-roots.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { unsealWhole } from '../../support/money/sealed.js';
import { credit, insertRunning, insertWallet } from '../../support/money/money.js';

describe('the loop that seals ledgers', () => {
  let activities: LoneActivities;
  beforeEach(async () => {
    activities = await startActivities();
  });
  afterEach(() => activities.close());

  const round = () => activities.round('sealing');
  const switchTo = (isOn: boolean) => activities.db.raw('select switch_sealing(?)', [isOn]);
  const hasSealedToday = () =>
    activities.db('ledger_sealing').update({ daily_at: activities.db.raw('clock_ms()') });
  const hasRested = () =>
    activities.db('ledger_sealing').update({
      walked_at: activities.db.raw(`clock_ms() - interval '${ledgerLimits.sealRestMs} milliseconds'`),
    });
  const sealed = async ({ id }: WalletRow): Promise<number[]> =>
    (await activities.db('ledger_seals').where({ wallet_id: id }).orderBy('last_seq')).map(
      ({ last_seq: seq }) => seq,
    );

  /** A wallet with its credit and so many charges of a cent. */
  async function spent(charges: number): Promise<WalletRow> {
    const { db } = activities;
    const wallet = await insertWallet(db, 100_000);
    const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 0, holdCents: 0 });
    await db.raw(
      `with w as (
         update wallets set available_cents = available_cents - :charges, seq = seq + :charges where id = :wallet returning id
       ), r as (update meter_readings set charged_cents = :charges where wallet_id = :wallet)
       insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
       select w.id, 1 + n, 'rental_charge', -1, 100000 - n, (select no from rentals where id = :id), clock_ms()
         from w, generate_series(1, :charges::int) n`,
      { charges, wallet: wallet.id, id },
    );
    return wallet;
  }

  it('does nothing until it is switched on', async () => {
    const wallet = await spent(2_000);
    assert.deepEqual(await round(), { sealing: 'off' });
    assert.deepEqual(await sealed(wallet), []);
  });

  it('seals by the thousand, and once a day up to the newest entry', async () => {
    const wallet = await spent(2_300);
    const small = await spent(5);
    await switchTo(true);
    await hasSealedToday();
    assert.deepEqual(await round(), { sealed: 2_000 });
    assert.deepEqual([await sealed(wallet), await sealed(small)], [[1_000, 2_000], []]);
    await activities
      .db('ledger_sealing')
      .update({ daily_at: activities.db.raw(`clock_ms() - interval '1 day'`) });
    assert.deepEqual(await round(), { sealed: 307 });
    assert.deepEqual([await sealed(wallet), await sealed(small)], [[1_000, 2_000, 2_301], [6]]);
    await hasRested();
    assert.deepEqual(await round(), { sealed: 0 }, 'the day is done');
    assert.deepEqual(await verifyLedger(activities.db), []);
  });

  it('seals the others when one wallet can not be sealed, and counts its failures', async () => {
    const [bad, good] = [await spent(1_000), await spent(1_000)];
    await switchTo(true);
    await hasSealedToday();
    await activities.db.raw(`alter table ledger_seals add constraint poison check (wallet_id <> ${bad.id})`);
    assert.deepEqual(await round(), { sealed: 1_000 });
    assert.deepEqual([await sealed(bad), await sealed(good)], [[], [1_000]]);
    const stuck = await activities.db('stuck_items').select('duty', 'item', 'attempts');
    assert.deepEqual(stuck, [{ duty: 'seal', item: String(bad.id), attempts: 1 }]);
    assert.ok((await activities.db('ledger_sealing').first())?.walked_at, 'the walk has ended');
  });

  it('seals again what was taken back, run by run, and gives each day its root', async () => {
    const wallet = await spent(5);
    await switchTo(true);
    for (let day = 0; day < 3; day += 1) {
      await activities
        .db('ledger_sealing')
        .update({ daily_at: activities.db.raw(`clock_ms() - interval '1 day'`) });
      await round();
      await round();
      await credit(activities.db, wallet.user_id, 10);
    }
    const roots = await activities.db('ledger_roots').orderBy('number').select('number', 'tree');
    assert.deepEqual(
      [roots.map(({ number }) => number), roots.every(({ tree }) => tree !== null)],
      [[1, 2, 3], true],
    );
    await unsealWhole(activities.db, wallet);
    await activities
      .db('ledger_sealing')
      .update({ daily_at: activities.db.raw(`clock_ms() - interval '1 day'`) });
    await round();
    assert.deepEqual(await sealed(wallet), [6, 7, 8], 'the last credit waits for the next walk');
    assert.deepEqual(await verifyLedger(activities.db), []);
    assert.deepEqual(await verifyRoots(activities.db), []);
  });

  it('ends a round in the midst of a wallet, and goes on there', async () => {
    const [large, small] = [await spent(2_300), await spent(1_000)];
    await switchTo(true);
    await hasSealedToday();
    const { sealRoundMs } = ledgerLimits;
    Object.assign(ledgerLimits, { sealRoundMs: 0 });
    try {
      assert.deepEqual(await round(), { sealed: 2_000, walkedTo: large.id - 1 }, 'one seal of each');
      assert.deepEqual(await round(), { sealed: 1_000, walkedTo: large.id });
      assert.deepEqual(await round(), { sealed: 0 });
    } finally {
      Object.assign(ledgerLimits, { sealRoundMs });
    }
    assert.deepEqual([await sealed(large), await sealed(small)], [[1_000, 2_000], [1_000]]);
  });

  it('goes on where a round ended, and seals what was written meanwhile in the next walk', async () => {
    const [first, second] = [await spent(1_000), await spent(1_000)];
    await switchTo(true);
    await hasSealedToday();
    await activities.db('ledger_sealing').update({
      ...{ walked_wallet: first.id, walk_began_at: activities.db.raw('clock_ms()') },
    });
    assert.deepEqual(await round(), { sealed: 1_000 });
    assert.deepEqual([await sealed(first), await sealed(second)], [[], [1_000]]);
    assert.deepEqual(await round(), { sealed: 0 }, 'a walk rests before the next one');
    await hasRested();
    assert.deepEqual(await round(), { sealed: 1_000 });
    assert.deepEqual(await sealed(first), [1_000]);
  });
});
