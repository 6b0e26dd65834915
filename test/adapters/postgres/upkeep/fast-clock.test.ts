import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import { requestLoginCode, tryLoginCode } from '../../../../adapters/postgres/accounts/login-codes.js';
import { requestProofCode, tryProofCode } from '../../../../adapters/postgres/accounts/proof-codes.js';
import { insertSession } from '../../../../adapters/postgres/accounts/sessions.js';
import type { Transaction } from '../../../../adapters/postgres/database.js';
import { insertAttempt } from '../../../../adapters/postgres/machines/attempts.js';
import { beginQueued, requeue } from '../../../../adapters/postgres/machines/queued-attempts.js';
import { expectPodsOfRentals } from '../../../../adapters/postgres/machines/pods-watch.js';
import { listDueNotices } from '../../../../adapters/postgres/notices/notice-mails.js';
import { noteForUser } from '../../../../adapters/postgres/notices/user-notices.js';
import { readDeclineWait } from '../../../../adapters/postgres/payments/declines.js';
import { listWorkflowsWithWaitingEvents } from '../../../../adapters/postgres/payments/event-handling.js';
import type { AllocationAttemptRow } from '../../../../adapters/postgres/rows/tables.js';
import { beginWaitsAnew } from '../../../../adapters/postgres/upkeep/upkeep.js';
import { stopBlockedRentals } from '../../../../adapters/postgres/wallets/blocked-wallets.js';
import { listDueIntents } from '../../../../adapters/postgres/upkeep/intents.js';
import {
  acknowledgeLook,
  claimLook,
  hasNoFreshSignal,
} from '../../../../adapters/postgres/upkeep/look-signals.js';
import { findStuck, isNotWaiting, noteFailure } from '../../../../adapters/postgres/upkeep/stuck-items.js';
import { operationLimits } from '../../../../domain/operations/limits.js';
import { beginBlocksAnew } from '../../../../money/metering/tick.js';
import { insertProvider, insertRental, insertUser } from '../../../support/money/factories.js';
import {
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../../support/money/money.js';

const DAY = 86_400_000;

/** The database's clock ran ahead by a day when these were noted, and was set back since. */
describe('what a clock that ran ahead has noted', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  const ahead = (column: string) => database.db.raw(`${column} + ? * interval '1 millisecond'`, [DAY]);

  async function holds(sql: string): Promise<boolean> {
    const { rows } = await database.db.raw<{ rows: { it: boolean }[] }>(`select ${sql} as it`);
    return rows[0]!.it;
  }

  describe('of a signal', () => {
    const target = { workflow: 'topup', workflowId: 'top_1' };
    const mayBeTold = () => holds(hasNoFreshSignal(`'${target.workflowId}'`));
    beforeEach(async () => {
      await database.db('look_signals').delete();
      assert.equal((await claimLook(database.db, target)).mayTell, true);
      assert.equal(await mayBeTold(), false);
      await database.db('look_signals').update({ told_at: ahead('told_at'), wanted_at: ahead('wanted_at') });
    });

    it('keeps no workflow from another one', async () => {
      assert.equal(await mayBeTold(), true);
      assert.equal((await claimLook(database.db, target)).mayTell, true);
      assert.equal((await claimLook(database.db, target)).mayTell, false, 'this one is true');
      assert.equal(await mayBeTold(), false);
    });

    it('is handled by a look, and another one follows: it may have come meanwhile', async () => {
      assert.equal(await acknowledgeLook(database.db, target.workflowId, new Date(Date.now() - 1_000)), true);
      assert.equal((await claimLook(database.db, target)).mayTell, true);
    });
  });

  it('allows one signal also where several are asked for within a millisecond', async () => {
    const clock = (now: string) =>
      database.db.raw(`create or replace function clock_ms() returns timestamptz language sql as '${now}'`);
    const target = { workflow: 'topup', workflowId: 'top_2' };
    await clock(`select timestamptz ''2026-11-01 10:00:00.123+00''`);
    try {
      for (const mayTell of [true, false, false])
        assert.equal((await claimLook(database.db, target)).mayTell, mayTell);
    } finally {
      await clock(`select date_trunc(''milliseconds'', clock_timestamp())`);
    }
  });

  it('of an item that failed keeps it waiting no longer than the longest pause', async () => {
    const failure = { duty: 'workflow', item: 'top_1', error: 'failed', lastAnswers: undefined } as const;
    const isWaiting = async () => {
      const found = await findStuck(database.db, 'workflow', [failure.item]);
      const told = found.get(failure.item)?.isWaiting;
      assert.equal(await holds(isNotWaiting('workflow', `'${failure.item}'`)), !told);
      return told;
    };
    let last = await noteFailure(database.db, failure, 1);
    while (!last.isNewlySetAside) {
      await database.db('stuck_items').update({ next_attempt_at: database.db.raw('clock_ms()') });
      last = await noteFailure(database.db, failure, 1);
    }
    assert.ok(last.nextTryMs > operationLimits.setAsideRetryMs);
    assert.equal(await isWaiting(), true);
    await database.db('stuck_items').update({ next_attempt_at: ahead('next_attempt_at') });
    assert.equal(await isWaiting(), false);
    const { nextTryMs } = await noteFailure(database.db, failure, 1);
    assert.ok(nextTryMs < DAY, 'the next pause is a true one');
    assert.equal(await isWaiting(), true);
  });

  it('of an intent that was told tells it again', async () => {
    const { id } = await insertWallet(database.db, 100);
    await database.db('intents').insert({ kind: 'auto_topup', wallet_id: id });
    await database
      .db('intents')
      .where({ wallet_id: id })
      .update({ delivered_at: ahead('created_at') });
    assert.equal((await listDueIntents(database.db, 10)).length, 1);
  });

  it('of an event that came keeps its workflow from it no longer', async () => {
    await database.db('processor_events').insert({
      ...{ id: 'evt_1', kind: 'refund.updated', created_at: new Date(), livemode: false, object: {} },
      ...{ workflow_id: 're_1', workflow_type: 'refund', received_at: ahead('clock_ms()') },
    });
    const waiting = await listWorkflowsWithWaitingEvents(database.db, 15_000);
    assert.deepEqual(waiting, [{ workflow: 'refund', workflowId: 're_1' }]);
  });

  it('of a declined card keeps its user from paying no longer than a day', async () => {
    const { id: userId } = await insertUser(database.db);
    await database.db('processor_events').insert({
      ...{ id: 'evt_2', kind: 'payment_intent.payment_failed', created_at: new Date(), livemode: false },
      object: JSON.stringify({ metadata: { user_id: userId } }) as never,
    });
    assert.ok((await readDeclineWait(database.db, userId, 1)) > 0);
    await database
      .db('processor_events')
      .where({ id: 'evt_2' })
      .update({ received_at: ahead('received_at') });
    assert.equal(await readDeclineWait(database.db, userId, 1), 0);
  });

  it('of a code keeps nobody from another one, which works', async () => {
    const { db } = database;
    const user = await insertUser(db);
    const { id } = await db.transaction((trx) => insertSession(trx, user.id, { by: 'code' }));
    const session = { id, userId: user.id };
    const wish = {
      email: 'somebody@example.com',
      clientAddress: '192.0.2.1',
      browserHash: Buffer.alloc(32, 9),
    };
    const codes = {
      login_codes: {
        ask: (trx: Transaction) => requestLoginCode(trx, { ...wish, askedBy: 'anybody' }, 100),
        isRight: async (trx: Transaction, code: string) =>
          (await tryLoginCode(trx, wish.email, code, wish.browserHash)).right,
      },
      proof_codes: {
        ask: (trx: Transaction) => requestProofCode(trx, session),
        isRight: (trx: Transaction, code: string) => tryProofCode(trx, session, code),
      },
    } as const;
    for (const [table, { ask, isRight }] of Object.entries(codes)) {
      assert.equal((await db.transaction(ask)).outcome, 'made');
      assert.equal((await db.transaction(ask)).outcome, 'limited', 'by a true instant');
      await db(table as 'login_codes').update({
        created_at: ahead('created_at'),
        expires_at: ahead('expires_at'),
      });
      const made = await db.transaction(ask);
      assert.ok(made.outcome === 'made', table);
      assert.ok(await db.transaction((trx) => isRight(trx, made.code)), table);
    }
  });

  it('of a notice keeps its mail back no longer, and neither does one that was told', async () => {
    const { id: userId } = await insertUser(database.db);
    const note = async () => {
      const kind = 'passkey_added';
      const passkeyId = newId('psk');
      const facts = { passkeyId, name: 'key' };
      await noteForUser(database.db, { userId, kind, cause: { kind, passkeyId }, facts });
    };
    await note();
    await database.db('user_notices').update({ noted_at: ahead('noted_at') });
    assert.deepEqual(await listDueNotices(database.db), [{ userId, kind: 'passkey_added' }]);
    await database.db('user_notices').update({ kind: 'setup_acted' });
    await note();
    await database
      .db('user_notices')
      .where({ kind: 'setup_acted' })
      .update({ told_at: ahead('clock_ms()'), is_mailed: false });
    await database
      .db('user_notices')
      .whereNull('told_at')
      .update({ kind: 'setup_acted', noted_at: ahead('noted_at') });
    assert.deepEqual(await listDueNotices(database.db), [{ userId, kind: 'setup_acted' }]);
  });

  describe('of machines', () => {
    const [at, long, soon] = [DAY, -DAY, 60_000].map((ms) => new Date(Date.now() + ms)) as [Date, Date, Date];
    const isNow = (of: Date | null | undefined) => Math.abs(Date.now() - Number(of)) < 30_000;
    beforeEach(() => insertProvider(database.db));

    const addAttempt = () =>
      insertAttempt(database.db, {
        ...{ rentalId: newId('rent'), deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
        ...{ offerId: 'o', pricePerHourCents: 1, endBy: null, deadlineMs: 1, launchAfterMs: 1 },
      });

    it('keeps no purchase from its turn beyond the time for which any waits', async () => {
      const { db } = database;
      const { id } = await addAttempt();
      await requeue(db, id, DAY);
      assert.equal(await beginQueued(db, id), false, 'so long as its upstream refuses to be asked');
      await db('allocation_attempts').where({ id }).update({ not_before: at });
      assert.equal(await beginQueued(db, id), true);
    });

    it('lets the waits of purchases and of what was bought begin anew, and no true one', async () => {
      const { db } = database;
      const add = async (columns: Partial<AllocationAttemptRow>) => {
        const attempt = await addAttempt();
        await db('allocation_attempts').where({ id: attempt.id }).update(columns);
        return async () => (await db('allocation_attempts').where({ id: attempt.id }).first())!;
      };
      const purchase = await add({ created_at: at, changed_at: at, not_before: at });
      const condemned = await add({ state: 'condemned', created_at: long, changed_at: at });
      const failed = await add({ state: 'failed', created_at: long, changed_at: at });
      const { rental_id: rentalId } = await failed();
      const { user_id: userId } = await insertWallet(db, 1_000);
      await insertRental(db, userId, { id: rentalId, status: 'provisioning' });
      const real = await add({ created_at: long, changed_at: long, not_before: soon });
      const pod = { provider_code: 'lab', pod_id: 'p', tag: 'test-p-1', status: 'active' } as const;
      await db('pods').insert({ ...pod, upstream_status: '', first_seen_at: at, active_at: at });
      await beginWaitsAnew(db);
      const begun = await purchase();
      assert.ok([begun.created_at, begun.changed_at, begun.not_before].every(isNow));
      const givenUp = await condemned();
      assert.deepEqual([isNow(givenUp.changed_at), givenUp.asked_at, givenUp.not_before], [true, null, null]);
      assert.ok(isNow((await failed()).changed_at), 'since when its rental waits for a turn');
      const left = await real();
      assert.deepEqual([left.created_at, left.changed_at, left.not_before], [long, long, soon]);
      const seen = await db('pods').first();
      assert.deepEqual(
        [isNow(seen?.first_seen_at), isNow(seen?.active_at), seen?.probed_at],
        [true, true, null],
      );
    });

    it('misses one that no list has shown, and ends none early whose wallet can’t be metered', async () => {
      const { db } = database;
      const wallet = await insertWallet(db, 1_000);
      const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 1_000 });
      await db('rentals').where({ id }).update({ running_at: at });
      assert.equal(await expectPodsOfRentals(db), 1);
      const blocked = { metering_blocked_at: at, metering_blocked_reason: 'it breaks' };
      await db('wallets').where({ id: wallet.id }).update(blocked);
      const ended = async () => (await stopBlockedRentals(db, 60_000)).map(({ rentalId }) => rentalId);
      await beginBlocksAnew(db);
      const since = (await db('wallets').where({ id: wallet.id }).first())?.metering_blocked_at;
      assert.deepEqual([isNow(since), await ended()], [true, []], 'operators have their time');
      await db('wallets').where({ id: wallet.id }).update({ metering_blocked_at: long });
      assert.deepEqual(await ended(), [id]);
    });
  });
});
