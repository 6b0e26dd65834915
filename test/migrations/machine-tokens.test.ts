import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { insertAttempt, moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import type { AllocationAttemptRow, RentalRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import type { UseReported } from '../../adapters/postgres/machines/machine-tokens.js';
import { databaseRoles } from '../../migrations/roles.js';
import { insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';
import { until } from '../support/until.js';

describe('the tokens of machines in the database', () => {
  let database: MoneyDatabase;
  let db: Database;
  let listener: Database;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    listener = openDatabase(database.url, 4, 'test-listener', databaseRoles.machine);
  });
  after(async () => {
    await listener.destroy();
    await database.close();
  });

  const call = async <T>(name: string, ...values: readonly (Buffer | string)[]): Promise<T> => {
    const { rows } = await listener.raw<{ rows: { answer: T }[] }>(
      `select ${name}(${values.map(() => '?').join(', ')}) as answer`,
      [...values],
    );
    return rows[0]!.answer;
  };
  const fetchBundle = (hash: Buffer) => call<Buffer | null>('machine_bundle', hash);
  const acknowledge = (hash: Buffer) => call<boolean>('machine_acknowledge', hash);
  const report = (hash: Buffer, body: string) => call<string | null>('machine_report', hash, body);
  const use = (hash: Buffer, body: string) => call<UseReported>('machine_use', hash, body);

  interface Machine {
    readonly attempt: AllocationAttemptRow;
    readonly rental: RentalRow;
    readonly bundle: Buffer;
    readonly report: Buffer;
    readonly use: Buffer;
  }

  async function insertMachine(): Promise<Machine> {
    const user = await insertUser(db);
    const rental = await insertRental(db, user.id);
    return { rental, ...(await insertTokens(rental.id)) };
  }

  async function insertTokens(rentalId: RentalRow['id']): Promise<Omit<Machine, 'rental'>> {
    const attempt = await insertAttempt(db, {
      ...{ rentalId, deployment: 'test', providerCode: 'lab', listingId: newId('lst'), offerId: 'o' },
      ...{ pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
    const [bundle, ofReports, ofUse] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    await db('machine_tokens').insert([
      {
        token_sha256: bundle,
        attempt_id: attempt.id,
        purpose: 'bundle',
        sealed: Buffer.from(`sealed for ${attempt.tag}`),
      },
      { token_sha256: ofReports, attempt_id: attempt.id, purpose: 'report' },
      { token_sha256: ofUse, attempt_id: attempt.id, purpose: 'use' },
    ]);
    return { attempt, bundle, report: ofReports, use: ofUse };
  }

  const tokenOf = (hash: Buffer) => db('machine_tokens').where({ token_sha256: hash }).first();
  const older = (minutes: number) => db.raw(`clock_ms() - ? * interval '1 minute'`, [minutes]);

  it('hand out their own bundle five times, and tell its renter of each', async () => {
    const machine = await insertMachine();
    for (let fetch = 1; fetch <= 5; fetch += 1) {
      assert.equal(String(await fetchBundle(machine.bundle)), `sealed for ${machine.attempt.tag}`);
    }
    assert.equal(await fetchBundle(machine.bundle), null);
    const events = await db('event_outbox').where({ entity_id: machine.rental.id }).orderBy('no');
    assert.deepEqual(
      events.map(({ user_id, type, data }) => ({ user_id, type, data })),
      [1, 2, 3, 4, 5].map((fetch) => ({
        user_id: machine.rental.user_id,
        type: 'rental.script_fetched',
        data: { fetch, afterRestart: false },
      })),
    );
  });

  it('hand it out no more often when many ask at once', async () => {
    const { bundle } = await insertMachine();
    await db('machine_tokens').where({ token_sha256: bundle }).update({ fetches: 4 });
    const answers = await whileHeld(bundle, () => [1, 2, 3].map(() => fetchBundle(bundle)));
    assert.equal(answers.filter((answer) => answer !== null).length, 1);
  });

  /** Makes calls that all wait for the token's row at once, and only then go on. */
  async function whileHeld<T>(hash: Buffer, begin: () => Promise<T>[]): Promise<T[]> {
    const calls = await db.transaction(async (trx) => {
      await trx('machine_tokens').where({ token_sha256: hash }).forUpdate();
      const begun = begin();
      await until('all wait', async () => {
        const { rows } = await db.raw<{ rows: { waiting: number }[] }>(
          `select count(*) as waiting from pg_stat_activity
            where application_name = 'test-listener' and datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows[0]?.waiting === begun.length;
      });
      // A promise in a list is not waited for.
      return begun;
    });
    return Promise.all(calls);
  }

  it('open nothing an hour after the first fetch', async () => {
    const { bundle } = await insertMachine();
    assert.ok(await fetchBundle(bundle));
    await db('machine_tokens')
      .where({ token_sha256: bundle })
      .update({ first_fetched_at: older(59) });
    assert.ok(await fetchBundle(bundle));
    await db('machine_tokens')
      .where({ token_sha256: bundle })
      .update({ first_fetched_at: older(61) });
    assert.equal(await fetchBundle(bundle), null);
  });

  it('open nothing once they are acknowledged, and what they opened is wiped', async () => {
    const { bundle } = await insertMachine();
    assert.equal(await acknowledge(bundle), false, 'nobody has it yet');
    assert.ok(await fetchBundle(bundle));
    assert.equal(await acknowledge(bundle), true);
    assert.equal((await tokenOf(bundle))?.sealed, null);
    assert.equal(await fetchBundle(bundle), null);
    assert.equal(await acknowledge(bundle), false);
  });

  it('do what they are for, and nothing else', async () => {
    const machine = await insertMachine();
    assert.equal(await fetchBundle(machine.report), null);
    assert.equal(await acknowledge(machine.report), false);
    assert.equal(await report(machine.bundle, 'x'), null);
    const stranger = randomBytes(32);
    assert.equal(await fetchBundle(stranger), null);
    assert.equal(await acknowledge(stranger), false);
    assert.equal(await report(stranger, 'x'), null);
  });

  for (const state of ['condemned', 'failed', 'gone'] as const) {
    it(`are dead when their attempt is ${state}`, async () => {
      const machine = await insertMachine();
      assert.ok(await fetchBundle(machine.bundle));
      await moveAttempt(db, machine.attempt.id, 'open', state);
      await expectDead(machine);
    });
  }

  for (const status of ['stopping', 'stopped', 'failed'] as const) {
    it(`are dead when their rental is ${status}`, async () => {
      const machine = await insertMachine();
      assert.ok(await fetchBundle(machine.bundle));
      await moveAttempt(db, machine.attempt.id, 'open', 'adopted');
      assert.ok(await fetchBundle(machine.bundle));
      await db('rentals')
        .where({ id: machine.rental.id })
        .update({
          status,
          ended_at: db.raw('clock_ms()'),
          settled_at: db.raw('clock_ms()'),
          error: 'x',
          stop_reason: 'user',
        });
      await expectDead(machine);
    });
  }

  async function expectDead(machine: Machine): Promise<void> {
    assert.equal(await fetchBundle(machine.bundle), null);
    assert.equal(await acknowledge(machine.bundle), false);
    assert.equal(await report(machine.report, 'x'), null);
  }

  it('wait for the rental to be on record', async () => {
    const early = await insertTokens(newId('rent'));
    assert.equal(await fetchBundle(early.bundle), null);
    assert.equal(await report(early.report, 'up'), 'kept');
    await insertRental(db, (await insertUser(db)).id, { id: early.attempt.rental_id });
    assert.ok(await fetchBundle(early.bundle));
  });

  it('keep ten reports a minute, and none twice', async () => {
    const { report: token, attempt } = await insertMachine();
    for (let no = 1; no <= 10; no += 1) assert.equal(await report(token, `report ${no}`), 'kept');
    assert.equal(await report(token, 'report 3'), 'repeated');
    assert.equal(await report(token, 'report 11'), 'too_many');
    await db('machine_reports')
      .where({ attempt_id: attempt.id })
      .update({ received_at: older(2) });
    assert.equal(await report(token, 'report 11'), 'kept');
    const kept = await db('machine_reports').where({ attempt_id: attempt.id });
    assert.equal(kept.length, 11);
  });

  it('keep no more reports in a minute when many come at once', async () => {
    const { report: token } = await insertMachine();
    for (let no = 1; no <= 9; no += 1) assert.equal(await report(token, `report ${no}`), 'kept');
    const answers = await whileHeld(token, () => [10, 11, 12].map((no) => report(token, `report ${no}`)));
    assert.deepEqual(answers.toSorted(), ['kept', 'too_many', 'too_many']);
  });

  it('keep the newest hundred reports', async () => {
    const { report: token, attempt } = await insertMachine();
    await db.raw(
      `insert into machine_reports (attempt_id, no, received_at, body)
       select ?, no, clock_ms() - interval '1 hour', 'old ' || no from generate_series(1, 100) no`,
      [attempt.id],
    );
    await db('machine_tokens').where({ token_sha256: token }).update({ reports: 100 });
    assert.equal(await report(token, 'new'), 'kept');
    const kept = await db('machine_reports').where({ attempt_id: attempt.id }).orderBy('no').pluck('no');
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [100, 2, 101]);
  });

  it('keep the newest report of use, by our clock, ten a minute at most, and none twice', async () => {
    const { use: token, attempt } = await insertMachine();
    const rowNow = () => db('machine_uses').where({ attempt_id: attempt.id }).first();
    const passSeconds = (seconds: number) =>
      db('machine_uses')
        .where({ attempt_id: attempt.id })
        .update({ received_at: db.raw(`received_at - ? * interval '1 second'`, [seconds]) });
    assert.deepEqual(await use(token, 'gpu-use 1 60 1 2 3 0'), { outcome: 'kept', stopsAtMs: null });
    assert.ok(Date.now() - Number((await rowNow())?.received_at) < 5_000);
    assert.deepEqual(await use(token, 'gpu-use 1 61 1 2 3 0'), { outcome: 'too_many' });
    await passSeconds(5);
    assert.deepEqual(await use(token, 'gpu-use 1 61 1 2 3 0'), { outcome: 'too_many' });
    await passSeconds(1);
    for (const replayed of ['gpu-use 1 60 1 2 3 0', 'gpu-use 1 60 9 9 9 9', 'gpu-use 1 59 1 2 3 0']) {
      assert.deepEqual(await use(token, replayed), { outcome: 'repeated' });
    }
    assert.deepEqual(await use(token, 'gpu-use 1 61 1 2 3 0'), { outcome: 'kept', stopsAtMs: null });
    const row = await rowNow();
    assert.deepEqual([row?.uptime, row?.body], [61, 'gpu-use 1 61 1 2 3 0']);
    // A clock that ran six hours ahead took one, and was set back: the next one counts, and the one after it waits again.
    await passSeconds(-6 * 3_600);
    assert.deepEqual(await use(token, 'gpu-use 1 62 1 2 3 0'), { outcome: 'kept', stopsAtMs: null });
    assert.ok(Math.abs(Date.now() - Number((await rowNow())?.received_at)) < 5_000);
    assert.deepEqual(await use(token, 'gpu-use 1 63 1 2 3 0'), { outcome: 'too_many' });
    for (const other of [
      'gpu-proof 1 0',
      'gpu-use 2 70 1',
      'gpu-use 1 x 1',
      ' gpu-use 1 70 1',
      `gpu-use 1 ${'9'.repeat(13)} 1`,
    ]) {
      assert.deepEqual(await use(token, other), { outcome: 'unreadable' });
    }
  });

  it('tell the use of their own machine, while it may call, and nothing else', async () => {
    const [mine, other] = [await insertMachine(), await insertMachine()];
    const body = 'gpu-use 1 60 1 2 3 0';
    for (const token of [mine.report, mine.bundle, randomBytes(32)])
      assert.equal(await use(token, body), null);
    assert.equal(await report(mine.use, 'a claim'), null);
    assert.equal(await fetchBundle(mine.use), null);
    assert.equal((await use(mine.use, body))?.outcome, 'kept');
    assert.deepEqual(await db('machine_uses').where({ attempt_id: other.attempt.id }), []);
    await moveAttempt(db, mine.attempt.id, 'open', 'condemned');
    assert.equal(await use(mine.use, 'gpu-use 1 90 1 2 3 0'), null);
  });

  it('hear with their report of use when their machine stops for being idle', async () => {
    const { use: token, rental } = await insertMachine();
    await db('idle_guards').insert({
      rental_no: rental.no,
      minutes: 15,
      stops_at: new Date(1_800_000_000_000),
    });
    assert.deepEqual(await use(token, 'gpu-use 1 60 1 2 3 0'), {
      ...{ outcome: 'kept', stopsAtMs: 1_800_000_000_000 },
    });
  });

  it('are refused where they do not add up', async () => {
    const { attempt } = await insertMachine();
    await db('machine_tokens').where({ attempt_id: attempt.id }).delete();
    const token = { token_sha256: randomBytes(32), attempt_id: attempt.id, purpose: 'bundle' as const };
    for (const [constraint, row] of [
      [
        'machine_tokens_token_sha256_check',
        { ...token, token_sha256: randomBytes(31), sealed: Buffer.of(1) },
      ],
      ['machine_tokens_purpose_check', { ...token, purpose: 'other' as 'bundle' }],
      ['machine_tokens_sealed', { ...token, kept: true }],
      ['machine_tokens_sealed', { ...token, fetches: 1, acknowledged_at: new Date(), sealed: Buffer.of(1) }],
      ['machine_tokens_sealed', { ...token, purpose: 'report' as const, sealed: Buffer.of(1) }],
      ['machine_tokens_sealed_check', { ...token, sealed: Buffer.alloc(1024 * 1024 + 1) }],
    ] as const) {
      await assert.rejects(db('machine_tokens').insert(row), { constraint });
    }
    for (const body of ['', 'x'.repeat(4097)]) {
      await assert.rejects(db('machine_uses').insert({ attempt_id: attempt.id, uptime: 1, body }), {
        constraint: 'machine_uses_body_check',
      });
      await assert.rejects(db('machine_reports').insert({ attempt_id: attempt.id, no: 1, body }), {
        constraint: 'machine_reports_body_check',
      });
    }
  });

  it('are all that their role may look at', async () => {
    const { rows: tables } = await db.raw<{ rows: { name: string }[] }>(
      `select c.oid::regclass::text as name from pg_class c
        where c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relnamespace = 'public'::regnamespace
          and case when c.relkind = 'S' then has_sequence_privilege(:role, c.oid, 'usage, select, update')
              else has_any_column_privilege(:role, c.oid, 'select, insert, update, references')
                   or has_table_privilege(:role, c.oid, 'delete, truncate, trigger, maintain') end`,
      { role: databaseRoles.machine },
    );
    assert.deepEqual(tables, []);
    // What runs with the caller's own rights reads no table either.
    const { rows: functions } = await db.raw<{ rows: { name: string }[] }>(
      `select proname as name from pg_proc
        where pronamespace = 'public'::regnamespace and prosecdef and prorettype <> 'trigger'::regtype
          and has_function_privilege(:role, oid, 'execute') order by 1`,
      { role: databaseRoles.machine },
    );
    assert.deepEqual(
      functions.map(({ name }) => name),
      ['machine_acknowledge', 'machine_bundle', 'machine_keep_alive', 'machine_report', 'machine_use'],
    );
    for (const table of [
      'machine_tokens',
      'machine_reports',
      'machine_uses',
      'rentals',
      'software_secrets',
      'users',
    ]) {
      await assert.rejects(listener.raw(`select * from ${table}`), { code: '42501' });
    }
    const asOthers = openDatabase(database.url, 1, 'test-api', databaseRoles.api);
    try {
      await assert.rejects(asOthers.raw(`select machine_bundle('x')`), { code: '42501' });
    } finally {
      await asOthers.destroy();
    }
  });
});
