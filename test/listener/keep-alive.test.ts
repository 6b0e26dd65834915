import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { hashOfMachineToken } from '../../adapters/machine-bundles.js';
import { newId } from '../../adapters/ids.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { insertAttempt, moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import {
  createMachineDesk,
  insertMachineToken,
  type MachineDesk,
} from '../../adapters/postgres/machines/machine-tokens.js';
import { machineKeepAlivePath } from '../../domain/machines/calls.js';
import { idleGuardLimits } from '../../domain/rentals/idle-guard.js';
import { MINUTE } from '../../domain/durations.js';
import { databaseRoles } from '../../migrations/roles.js';
import { startTestListener, type TestListener } from '../support/http/listener.js';
import { insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

/** Decision 186, "Kept alive from within". */
describe('a machine that asks to be kept alive', () => {
  let database: MoneyDatabase;
  let db: Database;
  let asListener: Database;
  let desk: MachineDesk;
  let listener: TestListener;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    asListener = openDatabase(database.url, 2, 'test-listener', databaseRoles.machine);
    desk = createMachineDesk(asListener);
    listener = await startTestListener(database.url);
  });
  after(async () => {
    await listener.stop();
    await asListener.destroy();
    await database.close();
  });

  /** A machine with a token for each purpose, and a guard unless it is to have none. */
  async function insertMachine({ isGuarded = true } = {}) {
    const rental = await insertRental(db, (await insertUser(db)).id);
    const { id: attemptId } = await insertAttempt(db, {
      ...{ rentalId: rental.id, deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
      ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
    const tokens = { bundle: secret(), report: secret(), use: secret() };
    for (const purpose of ['bundle', 'report', 'use'] as const) {
      const sealed = purpose === 'bundle' ? Buffer.of(1) : null;
      await insertMachineToken(db, { hash: hashOfMachineToken(tokens[purpose]), attemptId, purpose, sealed });
    }
    if (isGuarded) await db('idle_guards').insert({ rental_no: rental.no, minutes: 15 });
    return { rental, attemptId, tokens, use: hashOfMachineToken(tokens.use) };
  }
  type Machine = Awaited<ReturnType<typeof insertMachine>>;
  const secret = () => randomBytes(32).toString('hex');
  const guardOf = ({ rental }: Machine) => db('idle_guards').where({ rental_no: rental.no }).first();
  const outcomeOf = async ({ use }: Machine, minutes = 60) => (await desk.keepAlive(use, minutes))?.outcome;

  it('says for how long, and hears until when', async () => {
    const { tokens } = await insertMachine();
    const keep = async (time: string) => {
      const headers = { authorization: `Bearer ${tokens.use}` };
      const init = { method: 'POST', headers, body: time };
      const answer = await fetch(`${listener.url}${machineKeepAlivePath}`, init);
      return { status: answer.status, text: await answer.text() };
    };
    for (const time of ['', '0m', '25h', '1441m', '2', '2d', '-1h', '2h x', '2h"']) {
      const { status, text } = await keep(time);
      assert.deepEqual([status, text.includes('"time_unreadable"')], [400, true], time);
    }
    const { status, text } = await keep('90m\n');
    const words =
      /^This machine does not stop for being idle before (\S+) (\S+) UTC\. Its limits still apply\.\n$/;
    const [, day, time] = words.exec(text) ?? [];
    const inMs = Date.parse(`${day}T${time}:00Z`) - Date.now();
    assert.ok(status === 200 && inMs > 88 * MINUTE && inMs <= 90 * MINUTE, text);
    assert.equal((await keep('24h')).status, 200);
  });

  it('keeps itself alive alone, by its token of use alone, and its renter reads of it', async () => {
    const [mine, other] = [await insertMachine(), await insertMachine()];
    for (const token of [mine.tokens.bundle, mine.tokens.report, secret()]) {
      assert.equal(await desk.keepAlive(hashOfMachineToken(token), 60), null);
    }
    const kept = await desk.keepAlive(mine.use, 1_440);
    assert.ok(kept?.untilMs);
    assert.deepEqual((await guardOf(mine))?.keep_alive_until, new Date(kept.untilMs));
    assert.ok(Math.abs(kept.untilMs - Date.now() - 1_440 * MINUTE) < MINUTE);
    // A shorter wish does not shorten.
    assert.deepEqual(await desk.keepAlive(mine.use, 1), kept);
    assert.equal((await guardOf(other))?.keep_alive_until, null);
    const told = await db('event_outbox').where({ entity_id: mine.rental.id }).orderBy('no');
    const { user_id: userId } = mine.rental;
    assert.deepEqual(
      told.map(({ user_id, type }) => [user_id, type]),
      [0, 1].map(() => [userId, 'rental.kept_alive']),
    );
    const until = new Date(kept.untilMs).toISOString();
    assert.deepEqual(
      told.map(({ data }) => data),
      [0, 1].map(() => ({ until, by: 'machine' })),
      'the instant in force',
    );
  });

  it('does so for as long and as often as a renter may', async () => {
    const machine = await insertMachine();
    // The database's function has these numbers of its own.
    const { keepAliveAheadMs, keepAlivesADay } = idleGuardLimits;
    const most = keepAliveAheadMs / MINUTE;
    for (const minutes of [0, -1, most + 1]) assert.equal(await outcomeOf(machine, minutes), 'unreadable');
    assert.equal(await outcomeOf(machine, most), 'kept');
    for (let time = 2; time <= keepAlivesADay; time += 1) assert.equal(await outcomeOf(machine), 'kept');
    assert.equal(await outcomeOf(machine), 'too_many');
    await db('rate_limits').update({ expire: Date.now() - 1 });
    assert.equal(await outcomeOf(machine), 'kept');
    assert.equal(
      (await db('event_outbox').where({ entity_id: machine.rental.id })).length,
      keepAlivesADay + 1,
    );
  });

  it('is refused without a guard', async () => {
    assert.equal(await outcomeOf(await insertMachine({ isGuarded: false })), 'unguarded');
  });

  it('takes back its warning, and is refused once a limit or its renter ends it', async () => {
    const machine = await insertMachine();
    const { no } = machine.rental;
    await db('idle_guards').where({ rental_no: no }).update({ stops_at: new Date() });
    const running = { running_at: new Date(Date.now() - MINUTE), host: 'h', port: 22, username: 'u' };
    const limit = { auto_stop_at: new Date(Date.now() - 1_000), auto_stop_after_ms: 59_000 };
    await db('rentals')
      .where({ no })
      .update({ status: 'running', ...running, ...limit });
    assert.equal(await outcomeOf(machine), 'ending');
    await db('rentals').where({ no }).update({ auto_stop_at: null, auto_stop_after_ms: null });
    assert.equal(await outcomeOf(machine), 'kept');
    assert.equal((await guardOf(machine))?.stops_at, null);
    await db('stop_requests').insert({ rental_no: no, requested_by: 'user' });
    assert.equal(await outcomeOf(machine), 'ending');
    await moveAttempt(db, machine.attemptId, 'open', 'condemned');
    assert.equal(await outcomeOf(machine), undefined);
  });
});
