import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { listAttempts } from '../../../adapters/postgres/machines/attempts.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import { insertChange } from '../../../adapters/postgres/rentals/changes.js';
import { insertStopRequest } from '../../../adapters/postgres/rentals/stop-requests.js';
import type { ApiKeyRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { saveBudget } from '../../../adapters/postgres/spending/budgets.js';
import { setCap, stopMachinesOf } from '../../../adapters/postgres/spending/caps.js';
import type { ApiKeyId, RentalId } from '../../../domain/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import type { AskedChange } from '../../../domain/rentals/changes.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { tick } from '../../../money/metering/tick.js';
import { changeRental } from '../../../money/rentals/change.js';
import { giveUpRental, settleEnded } from '../../../money/rentals/lifecycle.js';
import { openRental, type OpenedRental } from '../../../money/rentals/open.js';
import { insertListing, insertProvider, runMachine } from '../../support/money/factories.js';
import { getKey, insertKey } from '../../support/money/keys.js';
import { getRental, getWallet, insertWallet, onVerifiedDatabase } from '../../support/money/money.js';
import { TestMarket } from '../../support/money/test-market.js';
import { until } from '../../support/until.js';

describe('a rental that is opened by a key with a cap', () => {
  let db: Database;
  let url: string;
  let market: TestMarket;
  let wallet: WalletRow;
  let key: ApiKeyId;
  onVerifiedDatabase(async (opened) => {
    ({ db, url } = opened);
    await insertListing(db, { price_per_hour_cents: 50, provider_code: await insertProvider(db) });
  });
  beforeEach(async () => {
    market = new TestMarket(db);
    wallet = await insertWallet(db, 1_000);
    key = await insertKey(db, wallet.user_id, 500);
  });

  function open(
    maxSpendCents: number | null,
    {
      by = key,
      on = db,
      id = newId('rent'),
      autoStopAfterMs = null,
    }: { by?: ApiKeyId | null; on?: Database; id?: RentalId; autoStopAfterMs?: number | null } = {},
  ): Promise<OpenedRental | Refusal> {
    const request = {
      ...{ userId: wallet.user_id, familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04' },
      ...{ region: null, name: null, sshKeyIds: [], autoStopAfterMs, maxPricePerHourCents: null },
      maxSpendCents,
      ...(by !== null && { apiKeyId: by }),
    };
    const answerBefore = new Date(Date.now() + 30_000).toISOString();
    return openRental(on, { rentalId: id, request, answerBefore }, market, rentalLimits.freeMachines);
  }

  async function opened(maxSpendCents: number | null, by?: ApiKeyId): Promise<RentalId> {
    const answer = await open(maxSpendCents, { by: by ?? key });
    if (answer instanceof Refusal) throw answer;
    return answer.rentalId;
  }

  async function setBudget(monthlyCents: number): Promise<void> {
    const settings = { monthlyCents, hard: true };
    await db.transaction((trx) => saveBudget(trx, wallet.user_id, settings, () => undefined));
  }

  async function sums(): Promise<[spent: number, reserved: number]> {
    const row = await getKey(db, key);
    return [row.spent_cents, row.reserved_cents];
  }

  async function revoke(trx: Database, id = key): Promise<Date> {
    const [row] = await trx('api_keys')
      .where({ id })
      .update({ revoked_at: trx.raw('clock_ms()') })
      .returning('*');
    return row!.revoked_at!;
  }

  it('takes its maxSpendCents out of the cap, and carries the key', async () => {
    const rental = await getRental(db, await opened(120));
    assert.deepEqual([rental.api_key_id, rental.max_spend_cents], [key, 120]);
    assert.deepEqual(await sums(), [0, 120]);
  });

  it('gets four hours’ price as its limit, and then what is left of the cap', async () => {
    const limits: (number | null)[] = [];
    for (let at = 0; at < 3; at += 1) limits.push((await getRental(db, await opened(null))).max_spend_cents);
    assert.deepEqual(limits, [200, 200, 100]);
    const refusal = (await open(null)) as Refusal;
    assert.deepEqual([refusal.code, refusal.details?.['leftCents']], ['cap_reserved', 0]);
  });

  it('is refused beyond what is left, by an answer that names what holds the rest; no upstream is asked', async () => {
    const first = await opened(100);
    const second = await opened(350);
    const asked = market.asked.length;
    const refusal = (await open(51)) as Refusal;
    assert.equal(refusal.code, 'cap_reserved');
    assert.deepEqual(refusal.details, {
      ...{ apiKeyId: key, askedCents: 51, leftCents: 50, limitCents: 500, spentCents: 0, reservedCents: 450 },
      reservedBy: [
        { rentalId: second, reservedCents: 350 },
        { rentalId: first, reservedCents: 100 },
      ],
    });
    assert.equal(market.asked.length, asked);
    assert.deepEqual(await sums(), [0, 450]);
    await opened(50);
  });

  it('still needs an hour of the wallet', async () => {
    await opened(10);
    await db.raw(
      'update wallets set available_cents = 49, reserved_cents = reserved_cents + available_cents - 49 where id = ?',
      [wallet.id],
    );
    const refusal = (await open(10)) as Refusal;
    assert.equal(refusal.code, 'insufficient_balance');
    assert.deepEqual(await sums(), [0, 10]);
    await db.raw(
      'update wallets set available_cents = available_cents + reserved_cents - 50, reserved_cents = 50 where id = ?',
      [wallet.id],
    );
  });

  it('gives all back when it never ran, whether it was stopped or failed, and once', async () => {
    const stopped = await opened(100);
    const failed = await opened(100);
    await insertStopRequest(db, (await getRental(db, stopped)).no, 'user');
    for (let times = 0; times < 2; times += 1) {
      await giveUpRental(db, stopped, null);
      await giveUpRental(db, failed, 'No machine came.');
    }
    assert.deepEqual(await sums(), [0, 0]);
  });

  it('carries a key without a cap too, and may have no limit then', async () => {
    const uncapped = await insertKey(db, wallet.user_id, null);
    const rental = await getRental(db, await opened(null, uncapped));
    assert.deepEqual([rental.api_key_id, rental.max_spend_cents], [uncapped, null]);
    await assert.rejects(
      db.transaction((trx) => setCap(trx, { id: uncapped, user_id: wallet.user_id }, 1_000)),
      (error: Refusal) => {
        assert.deepEqual(error.details, {
          ...{ apiKeyId: uncapped, askedCents: 1_000, unlimited: [{ rentalId: rental.id }] },
        });
        return error.code === 'cap_reserved';
      },
    );
  });

  it('is verified with the ledger: sums that its rentals do not have are found', async () => {
    await opened(100);
    const trx = await db.transaction();
    await trx('api_keys').where({ id: key }).update({ spent_cents: 7 });
    const found = await verifyLedger(trx as Database, wallet.user_id);
    await trx.rollback();
    assert.deepEqual(
      found.map(({ rule, detail }) => [rule, detail]),
      [['cap', `${key} has spent 7 and reserves 100, its rentals say 0 and 100`]],
    );
    assert.deepEqual(await sums(), [0, 100]);
  });

  it('makes a lowered cap no lower than what is spent and reserved', async () => {
    await opened(300);
    const set = (cents: number | null) =>
      db.transaction((trx) => setCap(trx, { id: key, user_id: wallet.user_id }, cents));
    assert.equal(await set(100), 300);
    assert.equal(((await open(1)) as Refusal).code, 'cap_reserved');
    assert.equal(await set(301), 301);
    await opened(1);
    assert.equal(await set(null), null);
  });

  for (const [code, columns] of [
    ['key_revoked', { revoked_at: new Date() }],
    ['key_suspended', { suspended_at: new Date() }],
    ['key_expired', { created_at: new Date(Date.now() - 2_000), expires_at: new Date(Date.now() - 1_000) }],
  ] satisfies [string, Partial<ApiKeyRow>][]) {
    it(`is refused where the key is not alive: ${code}`, async () => {
      key = await insertKey(db, wallet.user_id, 500, columns);
      assert.equal(((await open(10)) as Refusal).code, code);
      assert.equal(market.asked.length, 0);
    });
  }

  it('is refused, and its machine given back, when the key is revoked while the machine is bought', async () => {
    const id = newId('rent');
    market.sell = async (order) => {
      await revoke(db);
      return market.attempt(order);
    };
    assert.equal(((await open(10, { id })) as Refusal).code, 'key_revoked');
    assert.equal(await db('rentals').where({ id }).first('id'), undefined);
    assert.deepEqual(
      (await listAttempts(db, id)).map(({ state }) => state),
      ['open'],
      'its caller condemns it',
    );
    assert.deepEqual(await sums(), [0, 0]);
    assert.equal((await getWallet(db, wallet.user_id)).reserved_cents, 0);
  });

  it('is refused when the cap is lowered while the machine is bought', async () => {
    market.sell = async (order) => {
      await db.transaction((trx) => setCap(trx, { id: key, user_id: wallet.user_id }, 5));
      return market.attempt(order);
    };
    assert.equal(((await open(10)) as Refusal).code, 'cap_reserved');
    assert.deepEqual(await sums(), [0, 0]);
  });

  it('is seen by who revokes the key while it is inserted, and stops: its billing ends then', async () => {
    const id = await opened(100);
    await runMachine(db, id);
    const { no } = await getRental(db, id);
    await db.raw(`create function wait_for_test() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(4711); return new; end $$`);
    await db.raw(`create trigger wait_for_test before insert on rentals
      for each row execute function wait_for_test()`);
    const late = newId('rent');
    const holding = await db.transaction();
    await holding.raw('select pg_advisory_xact_lock(4711)');
    const opening = open(70, { id: late });
    await until('the late one is inserted', async () => (await waiting('insert into "rentals"%')) > 0);
    let revokedAt: Date | undefined;
    const revoking = db.transaction(async (trx) => {
      revokedAt = await revoke(trx);
      await stopMachinesOf(trx, { id: key, user_id: wallet.user_id });
    });
    const isWaiting = await until('the revoking waits, or is done', async () =>
      (await waiting('update "api_keys"%')) > 0 ? 'it waits' : revokedAt && 'it is done',
    );
    await holding.commit();
    assert.equal(isWaiting, 'it waits');
    assert.ok(!((await opening) instanceof Refusal));
    await revoking;
    await db.raw('drop trigger wait_for_test on rentals');
    const stops = await db('stop_requests').whereIn('rental_no', [no, (await getRental(db, late)).no]);
    assert.equal(stops.length, 2, 'the one that was just committed too');
    await tick(db, { shard: 0, shards: 1 });
    const tickedMs = Date.now();
    await settleEnded(db, id);
    await giveUpRental(db, late, null);
    const { ended_at: endedAt, stop_reason: reason } = await getRental(db, id);
    assert.equal(reason, 'user');
    assert.ok(endedAt! >= revokedAt!);
    assert.ok(endedAt!.getTime() <= tickedMs, 'the first tick after the revocation ends the billing');
    assert.equal((await sums())[1], 0);
  });

  it('never goes with a revocation into a deadlock, and none is opened after it', async () => {
    wallet = await insertWallet(db, 100_000);
    const other = openDatabase(url, 10, 'test');
    try {
      for (let round = 0; round < 15; round += 1) {
        key = await insertKey(db, wallet.user_id, 500);
        const opening = Array.from({ length: 4 }, (_, at) => open(100, { on: at % 2 === 0 ? db : other }));
        let revokedAt: Date | undefined;
        const revoking = db.transaction(async (trx) => {
          revokedAt = await revoke(trx);
          await stopMachinesOf(trx, { id: key, user_id: wallet.user_id });
        });
        const settling = opening.map(async (one) => {
          const answer = await one;
          if (answer instanceof Refusal) {
            assert.ok(['key_revoked', 'rate_limited'].includes(answer.code), answer.code);
            return;
          }
          await giveUpRental(other, answer.rentalId, 'No machine came.');
        });
        await Promise.all([revoking, ...settling]);
        const begun = await db('rentals').where({ api_key_id: key }).where('started_at', '>', revokedAt!);
        assert.deepEqual(begun, [], 'none began after the revocation');
        const unstopped = await db('rentals as r')
          .leftJoin('stop_requests as s', 's.rental_no', 'r.no')
          .where({ 'r.api_key_id': key })
          .whereNull('s.rental_no')
          .whereNull('r.settled_at')
          .count('* as count');
        assert.equal(Number(unstopped[0]?.['count']), 0);
        assert.deepEqual(await sums(), [0, 0]);
      }
    } finally {
      await other.destroy();
    }
  });

  it('reserves no more than its time can cost', async () => {
    const limits: unknown[] = [];
    const asked = [null, 400, 30, null, null];
    for (const [at, hours] of [1, 1, 1, 5, 0.031].entries()) {
      const answer = await open(asked[at] ?? null, { autoStopAfterMs: hours * 3_600_000 });
      assert.ok(!(answer instanceof Refusal));
      limits.push((await getRental(db, answer.rentalId)).max_spend_cents);
    }
    // 1.55 cents of time are held by 2: a limit of 1 would end it before its time.
    assert.deepEqual(limits, [50, 50, 30, 200, 2]);
    assert.deepEqual(await sums(), [0, 332]);
  });

  it('gets no more time than is reserved for it, unless its limit is raised with it', async () => {
    const answer = await open(null, { autoStopAfterMs: 3_600_000 });
    assert.ok(!(answer instanceof Refusal));
    const change = async (asked: AskedChange) => {
      const id = newId('chg');
      const answerBefore = new Date(Date.now() + 30_000);
      const rental = await getRental(db, answer.rentalId);
      await insertChange(db, { id, rental, asked, answerBefore });
      const told = { rentalId: rental.id, changeId: id, answerBefore: answerBefore.toISOString() };
      const refusal = await changeRental(db, told);
      return [refusal?.code, ...(await sums())];
    };
    assert.deepEqual(await change({ autoStopAfterMs: 7_200_000 }), ['validation_failed', 0, 50]);
    assert.deepEqual(await change({ autoStopAfterMs: null }), ['validation_failed', 0, 50]);
    const longer = { autoStopAfterMs: 7_200_000, maxSpendCents: 100 };
    assert.deepEqual(await change(longer), [undefined, 0, 100]);
    assert.deepEqual(await change({ autoStopAfterMs: 3_600_000 }), [undefined, 0, 100]);
    assert.deepEqual(await change({ ...longer, maxSpendCents: 600 }), ['cap_reserved', 0, 100]);
  });

  for (const pot of ['cap', 'budget'] as const) {
    it(`leaves the ${pot} whole when it is opened several times at once`, async () => {
      if (pot === 'budget') await setBudget(500);
      const by = pot === 'cap' ? key : null;
      const answers = await Promise.all([1, 2, 3, 4].map(() => open(200, { by })));
      const { rows } = await db.raw<{ rows: { cents: number }[] }>(
        `select coalesce(sum(max_spend_cents), 0)::int as cents from rentals where user_id = ?`,
        [wallet.user_id],
      );
      const opened = answers.filter((answer) => !(answer instanceof Refusal)).length;
      assert.deepEqual(rows[0]?.cents, opened * 200);
      assert.ok(opened >= 1 && opened <= 2, `${opened} opened`);
    });
  }

  it('is refused, and its machine given back, when the budget is lowered while the machine is bought', async () => {
    await setBudget(500);
    market.sell = async (order) => {
      const purchase = await market.attempt(order);
      await setBudget(100);
      return purchase;
    };
    assert.equal(((await open(200, { by: null })) as Refusal).code, 'budget_reserved');
  });

  it('fits into the hard budget of the account as well, and hears of its own rentals alone', async () => {
    const owners = await open(150, { by: null });
    assert.ok(!(owners instanceof Refusal));
    const own = await opened(100);
    await setBudget(300);
    const refusal = (await open(51)) as Refusal;
    assert.equal(refusal.code, 'budget_reserved');
    const { month, ...details } = refusal.details as Record<string, unknown>;
    assert.match(String(month), /^\d{4}-\d{2}$/);
    assert.deepEqual(details, {
      ...{ askedCents: 51, leftCents: 50, limitCents: 300, spentCents: 0, reservedCents: 250 },
      reservedBy: [{ rentalId: own, reservedCents: 100 }],
    });
    assert.equal((await getRental(db, await opened(null))).max_spend_cents, 50);
  });

  it('can’t be without a limit when a hard budget is set at the same moment', async () => {
    const uncapped = await insertKey(db, wallet.user_id, null);
    let saving: Promise<unknown> | undefined;
    market.sell = async (order) => {
      const purchase = await market.attempt(order);
      // The opening has looked at the budget, and not locked it yet.
      saving = setBudget(900);
      await saving;
      return purchase;
    };
    const rental = await getRental(db, await opened(null, uncapped));
    assert.equal(rental.max_spend_cents, 200, 'the budget was there before it was inserted');
  });

  /** Counts the statements of this form that wait for a lock. */
  async function waiting(form: string): Promise<number> {
    const { rows } = await db.raw<{ rows: { count: number }[] }>(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike ?`,
      [form],
    );
    return rows[0]?.count ?? 0;
  }
});
