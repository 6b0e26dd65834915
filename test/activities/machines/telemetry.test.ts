import assert from 'node:assert/strict';
import { CancelledFailure } from '@temporalio/activity';
import { createActivities } from '../../../activities/index.js';
import { listTelemetryHours } from '../../../adapters/postgres/machines/telemetry.js';
import { MINUTE } from '../../../domain/durations.js';
import { noUse, pointsOf } from '../../../domain/machines/telemetry.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertProvider, insertRunningRental, insertUser } from '../../support/money/factories.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';
import { runAlone } from '../../support/service/activity-context.js';
import { until } from '../../support/until.js';

describe('the watcher of an upstream that tells use', () => {
  let lone: LoneActivities;
  let clock: VirtualClock;
  let rental: RentalRow;
  const upstream = new ScriptedUpstream();

  before(async () => {
    lone = await startActivities();
    clock = await VirtualClock.install(lone.db);
    await insertProvider(lone.db);
    const { id } = await insertUser(lone.db);
    rental = await insertRunningRental(lone.db, id, MINUTE, { pod_id: 'pod-1' });
  });
  after(() => lone.close());

  it('keeps it by the minutes of the database, each once it is over, and says what is told', async () => {
    let lists = 0;
    const gpuPercent = 40;
    const activities = createActivities({
      ...lone.deps,
      providers: new Map([
        [
          'lab',
          {
            ...upstream.port,
            telemetry: { cpu: true, network: false, sessions: false },
            listPods() {
              lists += 1;
              const use = { ...noUse, report: lists, gpuPercent, busiestGpuPercent: gpuPercent };
              const address = { host: null, port: null, username: null, pricePerHourCents: null };
              const pod = { podId: 'pod-1', tag: rental.tag, upstreamStatus: 'up', ...address };
              return Promise.resolve([{ ...pod, status: 'active' as const, use }]);
            },
          },
        ],
      ]),
      oddities: { take: () => [] } as never,
    });
    const running = runAlone(() => activities.watchProvider('lab', 60_000));
    running.result.catch(() => undefined);
    const nextLists = async (): Promise<void> => {
      const seen = lists;
      await until('two more lists', () => lists > seen + 1);
    };
    const startMs = await clock.nowMs();
    const read = async () => {
      const window = { from: new Date(startMs), to: new Date(startMs + 3 * MINUTE), points: 3 };
      const hours = await listTelemetryHours(lone.db, rental.no, window);
      return pointsOf(hours, window).points.map((point) => point.gpuPercent);
    };
    try {
      await nextLists();
      await clock.pass(MINUTE);
      await nextLists();
      assert.deepEqual(await read(), [40, null, null]);
      await clock.pass(MINUTE);
      await nextLists();
      assert.deepEqual(await read(), [40, 40, null]);
      const provider = await lone.db('providers').where({ code: 'lab' }).first('telemetry');
      assert.deepEqual(provider?.telemetry, { cpu: true, network: false, sessions: false });
    } finally {
      running.cancel();
      await assert.rejects(running.result, CancelledFailure);
    }
  });
});
