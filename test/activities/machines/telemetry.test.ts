import assert from 'node:assert/strict';
import { CancelledFailure } from '@temporalio/activity';
import { createActivities } from '../../../activities/index.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { listTelemetryHours } from '../../../adapters/postgres/machines/telemetry.js';
import { writeIdleGuard } from '../../../adapters/postgres/rentals/idle-guards.js';
import { MINUTE } from '../../../domain/durations.js';
import { noUse, pointsOf, reportedUse, type TelemetryTold } from '../../../domain/machines/telemetry.js';
import { notebookTemplateId } from '../../../domain/rentals/notebook.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertProvider, insertRunningRental, insertUser } from '../../support/money/factories.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';
import { runAlone } from '../../support/service/activity-context.js';
import { until } from '../../support/until.js';

const templates = new Set(['pytorch', notebookTemplateId] as const);
const telemetry = { cpu: true, network: false, sessions: false };

describe('the watcher of an upstream that tells use', () => {
  let lone: LoneActivities;
  let workerDb: Database;
  let clock: VirtualClock;
  let rental: RentalRow;
  const upstream = new ScriptedUpstream();
  const machine = { gpuPercent: 40, isFrozen: false };
  let lists = 0;
  let report = 0;

  before(async () => {
    lone = await startActivities();
    clock = await VirtualClock.install(lone.db);
    await lone.db.raw('grant select on virtual_clock to public');
    workerDb = openDatabase(lone.url, 4, 'test-worker', databaseRoles.worker);
    await insertProvider(lone.db);
    const { id } = await insertUser(lone.db);
    rental = await insertRunningRental(lone.db, id, MINUTE, { pod_id: 'pod-1' });
  });
  after(async () => {
    await workerDb.destroy();
    await lone.close();
  });

  /** Watches while something runs. */
  async function watching(
    running: () => Promise<void>,
    installationKey = '',
    told: TelemetryTold = telemetry,
  ): Promise<void> {
    const listPods = () => {
      lists += 1;
      if (!machine.isFrozen) report += 1;
      const { gpuPercent } = machine;
      const use = { ...noUse, report, gpuPercent, busiestGpuPercent: gpuPercent, cpuPercent: 2 };
      const address = { host: null, port: null, username: null, pricePerHourCents: null };
      const pod = { podId: 'pod-1', tag: rental.tag, upstreamStatus: 'up', ...address };
      const listed = { ...pod, status: 'active' as const };
      return Promise.resolve([told.source === undefined ? { ...listed, use } : listed]);
    };
    const activities = createActivities({
      ...lone.deps,
      db: workerDb,
      settings: { ...lone.deps.settings, installationKey },
      providers: new Map([['lab', { ...upstream.port, templates, telemetry: told, listPods }]]),
      oddities: { take: () => [] } as never,
    });
    const watcher = runAlone(() => activities.watchProvider('lab', 60_000));
    watcher.result.catch(() => undefined);
    try {
      await nextLists();
      await running();
    } finally {
      watcher.cancel();
      await assert.rejects(watcher.result, CancelledFailure);
    }
  }

  /** The second list was begun after the first was judged. */
  async function nextLists(): Promise<void> {
    const seen = lists;
    await until('three more lists', () => lists > seen + 2);
  }

  async function passMinutes(count: number): Promise<void> {
    for (let minute = 0; minute < count; minute += 1) {
      await clock.pass(MINUTE);
      await nextLists();
    }
  }

  const guardNow = () => lone.db('idle_guards').where({ rental_no: rental.no }).first();
  const stopNow = () => lone.db('stop_requests').where({ rental_no: rental.no }).first();
  const setGuard = () =>
    lone.db.transaction((trx) => writeIdleGuard(trx, rental.no, { minutes: 15, ignores: ['sessions'] }));

  it('keeps it by the minutes of the database, each once it is over, and says what is told', async () => {
    const startMs = await clock.nowMs();
    const read = async () => {
      const window = { from: new Date(startMs), to: new Date(startMs + 3 * MINUTE), points: 3 };
      const hours = await listTelemetryHours(lone.db, rental.no, window);
      return pointsOf(hours, window).points.map((point) => point.gpuPercent);
    };
    await watching(async () => {
      await passMinutes(1);
      assert.deepEqual(await read(), [40, null, null]);
      await passMinutes(1);
      assert.deepEqual(await read(), [40, 40, null]);
      const provider = await lone.db('providers').where({ code: 'lab' }).first('telemetry');
      assert.deepEqual(provider?.telemetry, telemetry);
    });
  });

  it('says what can be started: no notebook without a key for its token', async () => {
    const startedAs = async (installationKey: string) => {
      await watching(nextLists, installationKey);
      return (await lone.db('providers').where({ code: 'lab' }).first('template_ids'))?.template_ids;
    };
    assert.deepEqual(await startedAs(''), ['pytorch']);
    assert.deepEqual(await startedAs('a key'), [notebookTemplateId, 'pytorch']);
  });

  it('judges what a minute told so far before another watcher takes over', async () => {
    await setGuard();
    machine.gpuPercent = 1;
    await watching(async () => {
      await passMinutes(2);
      assert.ok((await guardNow())?.idle_since);
      machine.gpuPercent = 90;
      await nextLists();
    });
    assert.equal((await guardNow())?.idle_since, null);
  });

  it('takes a report for none that another watcher may have seen', async () => {
    await setGuard();
    Object.assign(machine, { gpuPercent: 1, isFrozen: true });
    for (let nth = 0; nth < 3; nth += 1) await watching(() => passMinutes(2));
    assert.deepEqual([(await guardNow())?.seen_at, await stopNow()], [null, undefined]);
  });

  it('asks for the end of a guarded machine that was idle for its minutes', async () => {
    await setGuard();
    Object.assign(machine, { gpuPercent: 1, isFrozen: false });
    await watching(async () => {
      await passMinutes(14);
      assert.equal(await stopNow(), undefined);
      await passMinutes(2);
      assert.equal((await stopNow())?.requested_by, 'idle');
    });
    assert.deepEqual(lone.alarms, []);
    assert.deepEqual(await lone.db('stuck_items').select('item', 'last_error'), []);
  });

  describe('where machines report it', () => {
    let attemptId: number;
    let uptime = 0;
    before(async () => {
      await lone.db('stop_requests').delete();
      await lone.db('telemetry_hours').delete();
      const attempt = await insertAttempt(lone.db, {
        ...{ rentalId: rental.id, deployment: 'test', providerCode: 'lab', listingId: rental.listing_id },
        ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
      });
      attemptId = attempt.id;
      await lone.db('rentals').where({ id: rental.id }).update({ tag: attempt.tag });
    });

    /** What the listener's function keeps. */
    async function report(gpu: string, sessions = 0): Promise<void> {
      uptime += 60;
      const body = `gpu-use 1 ${uptime} 2 30 1000 ${sessions}\n-\n${gpu}, 0\n`;
      await lone
        .db('machine_uses')
        .insert({ attempt_id: attemptId, uptime, body, received_at: lone.db.raw('clock_ms()') as never })
        .onConflict('attempt_id')
        .merge();
    }
    async function pass(minutes: number, gpu: string, sessions = 0): Promise<void> {
      for (let minute = 0; minute < minutes; minute += 1) {
        await clock.pass(MINUTE);
        await report(gpu, sessions);
        const sent = await lone.db('machine_uses').first('received_at');
        if (gpu !== '')
          await until(
            'it was read',
            async () => Number((await guardNow())?.seen_at) === Number(sent?.received_at),
          );
      }
    }

    it('keeps it as theirs, and judges their guards by it alone', async () => {
      await setGuard();
      const startMs = await clock.nowMs();
      await watching(
        async () => {
          await pass(2, '40');
          assert.equal((await guardNow())?.idle_since, null);
          await pass(2, '1', 1);
          assert.ok((await guardNow())?.idle_since);
          await pass(1, '[N/A]');
          assert.equal((await guardNow())?.idle_since, null);
        },
        '',
        reportedUse,
      );
      const window = { from: new Date(startMs), to: new Date(startMs + 6 * MINUTE), points: 6 };
      const hours = await listTelemetryHours(lone.db, rental.no, window);
      assert.deepEqual([...new Set(hours.map(({ source }) => source))], ['reporter']);
      const told = pointsOf(hours, window).points.map((point) => [point.gpuPercent, point.cpuPercent]);
      assert.deepEqual(told, [
        [null, null],
        [40, 2],
        [40, 2],
        [1, 2],
        [1, 2],
        [null, 2],
      ]);
    });

    it('counts somebody who is logged in as use, unless the renter ignores it', async () => {
      await lone.db.transaction((trx) => writeIdleGuard(trx, rental.no, { minutes: 15, ignores: [] }));
      await watching(() => pass(1, '1', 1), '', reportedUse);
      assert.equal((await guardNow())?.idle_since, null);
      await watching(() => pass(1, '1', 0), '', reportedUse);
      assert.ok((await guardNow())?.idle_since);
    });

    it('goes on after a report was lost, whose minutes are no idle ones', async () => {
      await setGuard();
      await watching(
        async () => {
          await pass(2, '1');
          const before = Number((await guardNow())?.idle_since);
          await clock.pass(2 * MINUTE);
          await pass(1, '1');
          assert.equal(Number((await guardNow())?.idle_since) - before, 3 * MINUTE);
          assert.equal((await guardNow())?.stops_at, null);
        },
        '',
        reportedUse,
      );
    });

    it('begins anew after a silence, and asks for the end of one that was idle for its minutes', async () => {
      await watching(
        async () => {
          await pass(8, '1');
          await clock.pass(5 * MINUTE);
          await pass(15, '1');
          assert.equal(await stopNow(), undefined);
          await pass(1, '1');
          await until('its end was asked for', async () => (await stopNow()) !== undefined);
        },
        '',
        reportedUse,
      );
      assert.equal((await stopNow())?.requested_by, 'idle');
      assert.deepEqual(await lone.db('stuck_items').select('item', 'last_error'), []);
    });
  });
});
