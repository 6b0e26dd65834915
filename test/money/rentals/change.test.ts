import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { ensureProvider } from '../../../adapters/postgres/catalog/catalog.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { explainEntry } from '../../../adapters/postgres/explain/explain-entry.js';
import { readRentalHistory } from '../../../adapters/postgres/explain/rental-timeline.js';
import { findChange, insertChange } from '../../../adapters/postgres/rentals/changes.js';
import { saveAutoTopup } from '../../../adapters/postgres/payments/auto-topup-settings.js';
import { insertStopRequest } from '../../../adapters/postgres/rentals/stop-requests.js';
import type { RentalRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { getLedgerIds } from '../../../adapters/postgres/ledger/ledger-ids.js';
import { verifyRecent } from '../../../adapters/postgres/ledger/verify.js';
import type { ChangeId, RentalId } from '../../../domain/ids.js';
import type { Refusal } from '../../../domain/refusal.js';
import type { AskedChange } from '../../../domain/rentals/changes.js';
import { tick } from '../../../money/metering/tick.js';
import { changeRental } from '../../../money/rentals/change.js';
import { settleEnded } from '../../../money/rentals/lifecycle.js';
import { insertRental, runMachine } from '../../support/money/factories.js';
import {
  credit,
  getRental,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../support/money/money.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';

const [SECOND, MINUTE] = [1_000, 60_000];
const HOUR = 60 * MINUTE;
const whole = { shard: 0, shards: 1 };

describe('a change of a rental’s limits', () => {
  let money: MoneyDatabase;
  let db: Database;
  let clock: VirtualClock;
  let wallet: WalletRow;

  before(async () => {
    money = await openMoneyDatabase();
    db = money.db;
    clock = await VirtualClock.install(db);
    await ensureProvider(db, 'lab');
  });
  beforeEach(async () => {
    wallet = await insertWallet(db, 100_000);
  });
  afterEach(async () => {
    const found = [...(await verifyLedgerAgain(db)), ...(await verifyRecent(db, new Date(0)))];
    assert.deepEqual(found, [], 'everything adds up after each test');
  });
  after(() => money.close());

  /** A rental at $36 an hour: a cent each second. */
  async function run(limits: { maxSpendCents?: number; autoStopAfterMs?: number } = {}): Promise<RentalId> {
    return insertRunning(db, wallet, { priceCents: 3_600, ranMs: 0, ...limits });
  }

  async function ask(rentalId: RentalId, asked: AskedChange, withinMs = 20 * SECOND): Promise<ChangeId> {
    const rental = await getRental(db, rentalId);
    const id = newId('chg');
    const answerBefore = new Date((await clock.nowMs()) + withinMs);
    await insertChange(db, { id, rental, asked, answerBefore });
    return id;
  }

  const tell = (rentalId: RentalId, changeId: ChangeId, through = db): Promise<Refusal | undefined> =>
    changeRental(through, { rentalId, changeId, answerBefore: '2100-01-01T00:00:00Z' });

  async function change(rentalId: RentalId, asked: AskedChange): Promise<Refusal | undefined> {
    return tell(rentalId, await ask(rentalId, asked));
  }

  async function end(rentalId: RentalId): Promise<RentalRow> {
    await tick(db, whole);
    await settleEnded(db, rentalId);
    return getRental(db, rentalId);
  }

  /** When it ended, and what it came to. */
  function billOf({ running_at: from, ended_at: to, ...rental }: RentalRow) {
    assert.ok(from && to && rental.settled_at, 'it is settled');
    return {
      ms: to.getTime() - from.getTime(),
      cents: rental.charged_cents - rental.refunded_cents,
      reason: rental.stop_reason,
    };
  }

  async function isRefused(refusal: Promise<Refusal | undefined>, code: string): Promise<void> {
    assert.equal((await refusal)?.code, code);
  }

  it('lowered below what was charged ends it now at what was charged, and gives nothing back', async () => {
    const id = await run({ maxSpendCents: 30_000 });
    await clock.pass(29_999.5 * SECOND);
    await tick(db, whole);
    assert.equal(await change(id, { maxSpendCents: 1 }), undefined);
    assert.equal((await getRental(db, id)).status, 'stopping');
    const rental = await end(id);
    assert.deepEqual(billOf(rental), { ms: 29_999_500, cents: 29_999, reason: 'spend_limit' });
    assert.deepEqual([rental.max_spend_cents, rental.refunded_cents], [29_999, 0]);
  });

  it('meters first: lowered after an hour without a tick, the hour is charged', async () => {
    const id = await run();
    await clock.pass(HOUR);
    await change(id, { maxSpendCents: 5 });
    assert.deepEqual(billOf(await end(id)), { ms: HOUR, cents: 3_600, reason: 'spend_limit' });
  });

  for (const [limit, raised, cents] of [
    [{ autoStopAfterMs: 30 * MINUTE }, { autoStopAfterMs: 5 * HOUR }, 1_800],
    [{ maxSpendCents: 1_200 }, { maxSpendCents: null }, 1_200],
  ] as const) {
    const name = Object.keys(limit)[0]!;
    it(`what counts is ${name} while it was in force: passed without a tick, it can’t be raised`, async () => {
      const id = await run(limit);
      await clock.pass(HOUR);
      await isRefused(change(id, raised), 'rental_ending');
      const bill = billOf(await end(id));
      assert.deepEqual([bill.ms, bill.cents], [cents * SECOND, cents]);
    });
  }

  it('is refused in the very millisecond at which a limit is reached', async () => {
    const id = await run({ autoStopAfterMs: HOUR });
    await clock.pass(HOUR);
    await isRefused(change(id, { autoStopAfterMs: 2 * HOUR }), 'rental_ending');
    assert.equal(billOf(await end(id)).ms, HOUR);
  });

  it('raised in time goes on until the new limit, whatever ticks there are', async () => {
    const id = await run({ maxSpendCents: 60, autoStopAfterMs: 2 * MINUTE });
    await clock.pass(59_999);
    assert.equal(await change(id, { maxSpendCents: 100 }), undefined);
    await clock.pass(HOUR);
    assert.deepEqual(billOf(await end(id)), { ms: 100 * SECOND, cents: 100, reason: 'spend_limit' });
  });

  it('null takes a limit away; times count from the beginning of billing', async () => {
    const id = await run({ maxSpendCents: 60, autoStopAfterMs: 2 * MINUTE });
    await clock.pass(30 * SECOND);
    await change(id, { maxSpendCents: null, autoStopAfterMs: 10 * MINUTE });
    let rental = await getRental(db, id);
    assert.equal(rental.auto_stop_at!.getTime() - rental.running_at!.getTime(), 10 * MINUTE);
    assert.deepEqual([rental.max_spend_cents, rental.spend_limit_at], [null, null]);
    await change(id, { autoStopAt: null });
    rental = await getRental(db, id);
    assert.deepEqual([rental.auto_stop_at, rental.limit_ms], [null, null]);
    const at = new Date(rental.running_at!.getTime() + 90 * SECOND).toISOString();
    await change(id, { autoStopAt: at });
    await clock.pass(HOUR);
    assert.deepEqual(billOf(await end(id)), { ms: 90 * SECOND, cents: 90, reason: 'auto_stop' });
  });

  it('an auto-stop in the past ends it now, at what has accrued', async () => {
    const id = await run();
    await clock.pass(10_500);
    assert.equal(await change(id, { autoStopAt: '2020-01-01T00:00:00.000Z' }), undefined);
    assert.deepEqual(billOf(await end(id)), { ms: 10_500, cents: 11, reason: 'auto_stop' });
  });

  it('is refused once a stop was asked for, and the stop’s instant holds', async () => {
    const id = await run();
    await clock.pass(40 * SECOND);
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    await isRefused(change(id, { maxSpendCents: 10_000 }), 'rental_ending');
    await clock.pass(HOUR);
    await isRefused(change(id, { maxSpendCents: 10_000 }), 'rental_ending');
    assert.deepEqual(billOf(await end(id)), { ms: 40 * SECOND, cents: 40, reason: 'user' });
    await isRefused(change(id, { maxSpendCents: 10_000 }), 'already_stopped');
  });

  it('loses against a stop that is committed after it and asked before it', async () => {
    const id = await run();
    await clock.pass(40 * SECOND);
    const { no } = await getRental(db, id);
    const stopping = await db.transaction();
    await stopping.raw(`insert into stop_requests (rental_no, requested_by) values (?, 'user')`, [no]);
    await clock.pass(30 * SECOND);
    assert.equal(await change(id, { maxSpendCents: 1_000 }), undefined);
    await stopping.commit();
    await clock.pass(HOUR);
    const bill = billOf(await end(id));
    // The change metered 30 seconds that it could not know to be over: their cents stay (decision 78).
    assert.deepEqual([bill.cents, bill.reason], [70, 'user']);
  });

  it('is a 503 under the metering brake, changes nothing, and the time is charged by the limits of before', async () => {
    const id = await run({ autoStopAfterMs: MINUTE });
    await db('brakes').insert({ kind: 'metering', pulled_by: 'ann', reason: 'test' });
    try {
      await clock.pass(HOUR);
      const changeId = await ask(id, { maxSpendCents: 5, autoStopAfterMs: 3 * HOUR, name: 'new' });
      await assert.rejects(tell(id, changeId), { code: 'temporarily_unavailable', message: /have paused/ });
      const rental = await getRental(db, id);
      assert.deepEqual([rental.charged_cents, rental.max_spend_cents, rental.name], [0, null, null]);
      assert.equal((await findChange(db, changeId))?.answered_at, null);
    } finally {
      await db('brakes').delete();
    }
    await isRefused(change(id, { maxSpendCents: 5 }), 'rental_ending');
    assert.equal(billOf(await end(id)).cents, 60);
  });

  it('is a 503 while its wallet can’t be metered', async () => {
    const id = await run();
    await db('wallets')
      .where({ id: wallet.id })
      .update({ metering_blocked_at: db.raw('clock_ms()'), metering_blocked_reason: 'test' });
    await assert.rejects(change(id, { maxSpendCents: 5 }), {
      ...{ code: 'temporarily_unavailable', message: /^We can’t meter your wallet just now, so/ },
    });
    await db('wallets')
      .where({ id: wallet.id })
      .update({ metering_blocked_at: null, metering_blocked_reason: null });
  });

  it('is answered once: a repetition gets the first answer, and changes nothing again', async () => {
    const id = await run();
    const first = await ask(id, { maxSpendCents: 500, labels: { team: 'a' } });
    assert.equal(await tell(id, first), undefined);
    assert.equal(await change(id, { maxSpendCents: 900, name: 'b' }), undefined);
    assert.equal(await tell(id, first), undefined);
    assert.equal((await getRental(db, id)).max_spend_cents, 900);
    const audit = await db('audit_events').where({ user_id: wallet.user_id }).orderBy('no');
    assert.deepEqual(
      audit.map(({ kind, details }) => [kind, details!['changed'], details!['maxSpendCents']]),
      [
        ['rental_changed', ['labels', 'maxSpendCents'], 500],
        ['rental_changed', ['name', 'maxSpendCents'], 900],
      ],
    );
    assert.equal(audit[0]!.entity_id, first);
    const { rows } = await db.raw<{ rows: { data: Record<string, unknown> }[] }>(
      `select data from event_outbox where user_id = ? and type = 'rental.changed' and entity_id = ? order by no`,
      [wallet.user_id, id],
    );
    assert.deepEqual(rows[0]!.data, {
      ...{ changeId: first, changed: ['labels', 'maxSpendCents'] },
      ...{ maxSpendCents: 500, autoStopAt: null, maxSpendCentsBefore: null, autoStopAtBefore: null },
      spendLimitAt: new Date((await getRental(db, id)).running_at!.getTime() + 500 * SECOND).toISOString(),
    });
    assert.equal(rows[1]!.data['maxSpendCentsBefore'], 500);
    const refused = await ask(id, { maxSpendCents: 5 });
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    await isRefused(tell(id, refused), 'rental_ending');
    await end(id);
    await isRefused(tell(id, refused), 'rental_ending');
  });

  it('of two at once, each is whole, both are kept, and the later one holds', async () => {
    const id = await run();
    await clock.pass(10 * SECOND);
    const asked = [
      { maxSpendCents: 500, name: 'a', labels: { team: 'a' } },
      { maxSpendCents: 700, name: 'b', labels: { team: 'b' } },
    ];
    const ids = await Promise.all(asked.map((each) => ask(id, each)));
    await Promise.all(ids.map((changeId) => tell(id, changeId)));
    const changes = await db('rental_changes').whereIn('id', ids);
    const last = changes.find(({ was_max_spend_cents: was }) => was !== null)!;
    const first = changes.find(({ id: each }) => each !== last.id)!;
    assert.equal(last.was_max_spend_cents, first.new_max_spend_cents);
    const rental = await getRental(db, id);
    const { value } = (await db('rental_labels').where({ rental_no: rental.no }).first())!;
    assert.deepEqual(
      { maxSpendCents: rental.max_spend_cents, name: rental.name, labels: { team: value } },
      last.asked,
    );
    assert.equal((await db('audit_events').whereIn('entity_id', ids)).length, 2);
  });

  it('is whole or nothing when the worker dies before the commit, and done by the next try', async () => {
    const id = await run();
    await clock.pass(10 * SECOND);
    const changeId = await ask(id, { maxSpendCents: 2, name: 'x', labels: { a: 'b' } });
    const killed = new Error('killed');
    const dying = new Proxy(db, {
      get: (target, name) =>
        name === 'transaction'
          ? (work: (trx: unknown) => Promise<unknown>) =>
              target.transaction(async (trx) => {
                await work(trx);
                throw killed;
              })
          : (Reflect.get(target, name) as unknown),
      apply: (target, self, args) => Reflect.apply(target, self, args) as unknown,
    });
    await assert.rejects(tell(id, changeId, dying), killed);
    const rental = await getRental(db, id);
    assert.deepEqual([rental.status, rental.charged_cents, rental.name], ['running', 0, null]);
    assert.equal((await db('audit_events').where({ entity_id: changeId })).length, 0);
    assert.equal(await tell(id, changeId), undefined);
    assert.deepEqual(billOf(await end(id)), { ms: 10 * SECOND, cents: 10, reason: 'spend_limit' });
  });

  it('is never made after its time, of which the row’s and the messenger’s earlier one counts', async () => {
    const id = await run();
    const late = { code: 'temporarily_unavailable', details: { outcome: 'not_done' } };
    const old = await ask(id, { maxSpendCents: 50 }, 5 * SECOND);
    const told = await ask(id, { maxSpendCents: 50 }, HOUR);
    await clock.pass(6 * SECOND);
    await assert.rejects(tell(id, old), late);
    const answerBefore = new Date((await clock.nowMs()) - 1).toISOString();
    await assert.rejects(changeRental(db, { rentalId: id, changeId: told, answerBefore }), late);
    assert.equal((await getRental(db, id)).max_spend_cents, null);
    assert.equal(await tell(id, told), undefined);
  });

  it('is refused where no row of this rental asks for it', async () => {
    const [id, other] = [await run(), await run()];
    const off = { code: 'temporarily_unavailable' };
    await assert.rejects(tell(id, newId('chg')), off);
    await assert.rejects(tell(other, await ask(id, { maxSpendCents: 5 })), off);
  });

  it('of one that is provisioned holds from the beginning of its billing', async () => {
    const begin = async (asked: AskedChange, bootMs: number): Promise<RentalRow> => {
      const pod = { pod_id: newId('rent') };
      const { id } = await insertRental(db, wallet.user_id, { max_spend_cents: 7, ...pod });
      assert.equal(await change(id, asked), undefined);
      await clock.pass(bootMs);
      await runMachine(db, id);
      return getRental(db, id);
    };
    const after = await begin({ maxSpendCents: 90, autoStopAfterMs: HOUR }, MINUTE);
    assert.equal(after.auto_stop_at!.getTime() - after.running_at!.getTime(), HOUR);
    assert.equal(after.max_spend_cents, 90);
    const nowMs = await clock.nowMs();
    const at = await begin({ autoStopAt: new Date(nowMs + HOUR).toISOString() }, MINUTE);
    assert.equal(at.auto_stop_at!.getTime(), nowMs + HOUR);
    assert.ok(at.spend_limit_at, 'the other limit stays');
    const past = await begin({ autoStopAt: new Date((await clock.nowMs()) + 1).toISOString() }, MINUTE);
    assert.deepEqual(past.auto_stop_at, past.running_at);
    const free = await begin({ maxSpendCents: null }, MINUTE);
    assert.deepEqual([free.max_spend_cents, free.limit_ms], [null, null]);
    for (const { id, no } of [after, at, past, free]) {
      await insertStopRequest(db, no, 'user');
      await clock.pass(1);
      await end(id);
    }
  });

  it('lets what was used while an auto-topup is awaited stay owed', async () => {
    wallet = await insertWallet(db, 100);
    await db('saved_cards').insert({
      ...{ pm_id: `pm_${newId('top')}`, user_id: wallet.user_id, brand: 'visa', last4: '4242' },
      ...{ exp_month: 12, exp_year: 2999, set_up_at: new Date() },
    });
    await saveAutoTopup(db, wallet.user_id, { enabled: true, thresholdCents: 1_000 });
    const id = await insertRunning(db, wallet, { priceCents: 3_600, ranMs: 0, holdCents: 100 });
    await clock.pass(110 * SECOND);
    await tick(db, whole);
    await clock.pass(10 * SECOND);
    assert.equal(await change(id, { maxSpendCents: 1 }), undefined);
    assert.equal((await getRental(db, id)).max_spend_cents, 120, '100 are charged, 120 have accrued');
    await credit(db, wallet.user_id, 2_000);
    assert.deepEqual(billOf(await end(id)), { ms: 120 * SECOND, cents: 120, reason: 'spend_limit' });
  });

  it('is refused for one whose machine the upstream has lost, which costs what it cost', async () => {
    const id = await run();
    await clock.pass(10 * MINUTE);
    const { tag, pod_id: podId } = await getRental(db, id);
    await db.raw(
      `insert into pods (provider_code, pod_id, tag, status, upstream_status, first_seen_at, last_alive_at)
       values ('lab', ?, ?, 'lost', 'gone', clock_ms(), clock_ms() - interval '5 minutes')`,
      [podId, tag],
    );
    await isRefused(change(id, { maxSpendCents: 5_000 }), 'already_stopped');
    assert.deepEqual(billOf(await getRental(db, id)), { ms: 5 * MINUTE, cents: 300, reason: 'pod_lost' });
  });

  it('is explained: each entry is derived to the cent, and the timeline tells of it', async () => {
    const id = await run({ maxSpendCents: 50 });
    for (const asked of [{ maxSpendCents: 500 }, { autoStopAfterMs: HOUR }, { maxSpendCents: 1 }]) {
      await clock.pass(20_700);
      await change(id, asked);
    }
    await end(id);
    const ids = await getLedgerIds(db);
    const { no } = await getRental(db, id);
    const entries = await db('ledger_entries').where({ rental_no: no });
    for (const { wallet_id: walletId, seq, amount_cents: amountCents } of entries) {
      const { charge } = (await explainEntry(db, ids.of(walletId, seq), 1))!;
      assert.equal(charge?.dueCents, -amountCents, charge?.formula);
    }
    assert.equal(entries.length, 3);
    const { timeline } = (await readRentalHistory(db, id))!;
    const told = timeline
      .map(({ what }) => what)
      .filter((what) => what.includes('spend limit 50 cents to 500'));
    assert.equal(told.length, 1);
  });
});
