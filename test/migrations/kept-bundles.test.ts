import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { insertAttempt, moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import {
  createMachineDesk,
  insertMachineToken,
  type MachineDesk,
} from '../../adapters/postgres/machines/machine-tokens.js';
import { recordPodList } from '../../adapters/postgres/machines/pods.js';
import { findPod } from '../../adapters/providers/runpod/runpod-wire.js';
import type { AllocationAttemptRow, RentalRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import { databaseRoles } from '../../migrations/roles.js';
import { insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

describe('the bundles that are kept for a restart', () => {
  let database: MoneyDatabase;
  let db: Database;
  let listener: Database;
  let desk: MachineDesk;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    listener = openDatabase(database.url, 4, 'test-listener', databaseRoles.machine);
    desk = createMachineDesk(listener);
    await db('providers').insert({ code: 'lab' });
  });
  after(async () => {
    await listener.destroy();
    await database.close();
  });

  const fetchBundle = (hash: Buffer) => desk.bundle(hash);
  /** @param minutes how long ago it was */
  const acknowledge = async (hash: Buffer, minutes = 90) => {
    const is = await desk.acknowledge(hash);
    const at = new Date(began - minutes * 60_000);
    if (is) await db('machine_tokens').where({ token_sha256: hash }).update({ acknowledged_at: at });
    return is;
  };
  const tokenOf = (hash: Buffer) => db('machine_tokens').where({ token_sha256: hash }).first();

  interface Machine {
    readonly attempt: AllocationAttemptRow;
    readonly rental: RentalRow;
    readonly bundle: Buffer;
  }

  async function insertMachine(): Promise<Machine> {
    const rental = await insertRental(db, (await insertUser(db)).id);
    const attempt = await insertAttempt(db, {
      ...{ rentalId: rental.id, deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
      ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
    const bundle = randomBytes(32);
    const token = { hash: bundle, attemptId: attempt.id, purpose: 'bundle', isKept: true } as const;
    await insertMachineToken(db, { ...token, sealed: Buffer.from(`sealed for ${attempt.tag}`) });
    return { rental, attempt, bundle };
  }

  /** @param minutes how long ago its upstream started it; null: it does not tell */
  const starts = (machine: Machine, minutes: number | null) =>
    recordPodList(db, 'lab', {
      pods: [
        {
          ...{ podId: `p${machine.attempt.id}`, tag: machine.attempt.tag, status: 'active' },
          ...{ upstreamStatus: 'RUNNING', host: null, port: null, username: null, pricePerHourCents: 50 },
          startedAt: minutes === null ? null : new Date(Math.floor(began - minutes * 60_000)),
        },
      ],
      askedAt: new Date(),
    });
  const began = Date.now();
  const [first, second] = [50, 40];

  /** One whose list tells its first start, and which has its bundle. */
  async function keptMachine(startedMinutesAgo = first): Promise<Machine> {
    const machine = await insertMachine();
    const { id } = machine.attempt;
    await db('allocation_attempts')
      .where({ id })
      .update({ pod_id: `p${id}` });
    assert.ok(await fetchBundle(machine.bundle), 'before any list shows it');
    await starts(machine, startedMinutesAgo);
    assert.equal(await acknowledge(machine.bundle), true);
    return machine;
  }

  it('open nothing while it runs on, however often lists show it', async () => {
    const machine = await keptMachine();
    for (const at of [first, null, first + 5, -60]) {
      await starts(machine, at);
      assert.equal(await fetchBundle(machine.bundle), null, `${at} minutes ago`);
    }
    assert.notEqual((await tokenOf(machine.bundle))?.sealed, null);
  });

  it('open the same again, five times and for an hour, once for each restart', async () => {
    const machine = await keptMachine();
    for (let time = 0; time < 2; time += 1) await starts(machine, second);
    for (let fetch = 1; fetch <= 5; fetch += 1) assert.ok(await fetchBundle(machine.bundle));
    assert.equal(await fetchBundle(machine.bundle), null);
    assert.equal(await acknowledge(machine.bundle), true);
    await starts(machine, second);
    assert.equal(await fetchBundle(machine.bundle), null);
    const events = await db('event_outbox').where({ entity_id: machine.rental.id }).orderBy('no');
    assert.deepEqual(
      events.map(({ data }) => data),
      [false, true, true, true, true, true].map((afterRestart, place) => ({
        ...{ fetch: Math.max(1, place), afterRestart },
      })),
    );
  });

  it('open anew for one fetch of many that come at once', async () => {
    const machine = await keptMachine();
    await starts(machine, second);
    const answers = await Promise.all([1, 2, 3, 4].map(() => fetchBundle(machine.bundle)));
    assert.equal(answers.filter((answer) => answer !== null).length, 4);
    const { fetches, reopened } = (await tokenOf(machine.bundle))!;
    assert.deepEqual([fetches, reopened], [4, 1]);
  });

  it('open again for ten restarts of a day', async () => {
    const machine = await keptMachine();
    const restart = async (minute: number) => {
      await starts(machine, 40 - minute);
      const sealed = await fetchBundle(machine.bundle);
      await acknowledge(machine.bundle);
      return sealed !== null;
    };
    for (let no = 0; no < 10; no += 1) assert.ok(await restart(no), `restart ${no + 1}`);
    assert.ok(!(await restart(10)));
    await db('machine_tokens')
      .where({ token_sha256: machine.bundle })
      .update({ reopened_since: db.raw(`clock_ms() - interval '1 day'`) });
    assert.ok(await restart(11));
  });

  it('open for a start that is half a minute after the last, and a minute after the acknowledgement', async () => {
    const machine = await keptMachine();
    const seconds = (count: number) => count / 60;
    await starts(machine, first - seconds(29));
    assert.equal(await fetchBundle(machine.bundle), null);
    await starts(machine, first - seconds(30));
    assert.ok(await fetchBundle(machine.bundle));
    assert.equal(await acknowledge(machine.bundle, second), true);
    await starts(machine, second - seconds(59));
    assert.equal(await fetchBundle(machine.bundle), null);
    await starts(machine, second - seconds(60));
    assert.ok(await fetchBundle(machine.bundle));
  });

  it('stay closed where nobody asked within an hour of the restart', async () => {
    const machine = await keptMachine(70);
    await starts(machine, 61);
    assert.equal(await fetchBundle(machine.bundle), null);
    await starts(machine, 59);
    assert.ok(await fetchBundle(machine.bundle));
  });

  it('stay closed where a list tells no possible start, which stops nothing else of the list', async () => {
    const starts = new Map<string, unknown>([
      ['good', '2026-06-01T12:02:00Z'],
      ['far', '+275760-09-13T00:00:00Z'],
      ['old', '1970-01-01T00:00:00Z'],
      ['nowhere', '2026-06-01T12:02:00'],
      ['day', '2026-06-01'],
      ['none', 1_780_000_000],
      ['offset', '2026-06-01 14:02:00.000 +0200'],
    ]);
    const pods = [...starts].map(([id, startedAt]) => {
      const listed = { id, name: `test-${id}`, status: 'RUNNING', startedAt };
      return findPod(listed, { tagPrefix: 'test-', proxyUrl: '' }, ({ subject }) =>
        assert.equal(subject, null),
      )!;
    });
    await recordPodList(db, 'lab', { pods, askedAt: new Date() });
    const rows = await db('pods').whereIn('pod_id', [...starts.keys()]);
    const told = rows.flatMap((row) => (row.started_at === null ? [] : [[row.pod_id, row.started_at]]));
    const at = new Date('2026-06-01T12:02:00Z');
    assert.deepEqual([rows.length, Object.fromEntries(told)], [7, { good: at, offset: at }]);
  });

  it('stay dead with their machine', async () => {
    const machine = await keptMachine();
    await starts(machine, second);
    await moveAttempt(db, machine.attempt.id, 'open', 'condemned');
    assert.equal(await fetchBundle(machine.bundle), null);
    assert.equal(await acknowledge(machine.bundle), false);
  });
});
