import assert from 'node:assert/strict';
import { CancelledFailure } from '@temporalio/activity';
import { createActivities } from '../../../activities/index.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { listTelemetryHours } from '../../../adapters/postgres/machines/telemetry.js';
import { writeIdleGuard } from '../../../adapters/postgres/rentals/idle-guards.js';
import { MINUTE } from '../../../domain/durations.js';
import { noUse, pointsOf } from '../../../domain/machines/telemetry.js';
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
  async function watching(running: () => Promise<void>, installationKey = ''): Promise<void> {
    const listPods = () => {
      lists += 1;
      if (!machine.isFrozen) report += 1;
      const { gpuPercent } = machine;
      const use = { ...noUse, report, gpuPercent, busiestGpuPercent: gpuPercent, cpuPercent: 2 };
      const address = { host: null, port: null, username: null, pricePerHourCents: null };
      const pod = { podId: 'pod-1', tag: rental.tag, upstreamStatus: 'up', ...address };
      return Promise.resolve([{ ...pod, status: 'active' as const, use }]);
    };
    const activities = createActivities({
      ...lone.deps,
      db: workerDb,
      settings: { ...lone.deps.settings, installationKey },
      providers: new Map([['lab', { ...upstream.port, templates, telemetry, listPods }]]),
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
});
