import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { insertAttempt } from '../../../../adapters/postgres/machines/attempts.js';
import {
  listTelemetryHours,
  readReportedUse,
  recordUse,
} from '../../../../adapters/postgres/machines/telemetry.js';
import { HOUR, MINUTE } from '../../../../domain/durations.js';
import { noUse, pointsOf } from '../../../../domain/machines/telemetry.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import { insertRunningRental, insertUser } from '../../../support/money/factories.js';
import { createTestDatabase } from '../../../support/servers/database.js';

describe('the kept use of machines', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let owner: Database;
  let worker: Database;
  before(async () => {
    database = await createTestDatabase();
    owner = openDatabase(database.url, 2, 'test');
    worker = openDatabase(database.url, 2, 'test', databaseRoles.worker);
  });
  after(async () => {
    await Promise.all([owner.destroy(), worker.destroy()]);
    await database.drop();
  });

  it('is one row an hour for each rental that runs, and is read as it was told', async () => {
    const { id } = await insertUser(owner);
    const rental = await insertRunningRental(owner, id, HOUR, { pod_id: 'pod-1' });
    const atMs = Date.parse('2026-11-01T09:58:00Z');
    const minute = (podId: string, at: number, gpuPercent: number) => ({
      ...{
        ...noUse,
        podId,
        atMs: at,
        firstMs: at,
        lastMs: at,
        gpuPercent,
        busiestGpuPercent: gpuPercent,
        memoryPercent: 7,
      },
    });
    await recordUse(worker, 'lab', [
      minute('pod-1', atMs, 11),
      minute('pod-1', atMs + MINUTE, 12),
      minute('pod-1', atMs + 2 * MINUTE, 13),
      minute('pod-of-nobody', atMs, 99),
    ]);
    // A watcher that overlaps its own retry tells a minute twice.
    await recordUse(worker, 'lab', [minute('pod-1', atMs + MINUTE, 14)]);
    await recordUse(worker, 'elsewhere', [minute('pod-1', atMs, 55)]);
    assert.equal((await owner('telemetry_hours').select('hour')).length, 2);
    const window = { from: new Date(atMs), to: new Date(atMs + 4 * MINUTE), points: 60 };
    const hours = await listTelemetryHours(owner, rental.no, window);
    assert.deepEqual(
      hours.map(({ source }) => source),
      ['upstream', 'upstream'],
    );
    assert.deepEqual(
      pointsOf(hours, window).points.map((point) => [
        point.gpuPercent,
        point.busiestGpuPercent,
        point.cpuPercent,
        point.memoryPercent,
      ]),
      [
        [11, 11, null, 7],
        [14, 14, null, 7],
        [13, 13, null, 7],
        [null, null, null, null],
      ],
    );
  });

  it('is read out of the newest reports of machines that run for their rentals', async () => {
    const { id } = await insertUser(owner);
    const rental = await insertRunningRental(owner, id, HOUR, { pod_id: 'pod-2', gpu_count: 2 });
    const reportAs = async (tag: string | null, receivedAt: Date) => {
      const attempt = await insertAttempt(owner, {
        ...{ rentalId: rental.id, deployment: 'test', providerCode: 'lab', listingId: rental.listing_id },
        ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
      });
      if (tag !== null) await owner('rentals').where({ id: rental.id }).update({ tag: attempt.tag });
      await owner('machine_uses').insert({
        ...{ attempt_id: attempt.id, uptime: 60, received_at: receivedAt },
        body: 'gpu-use 1 60 7 30 500 0\n-\n3, 0\n4, 0\n',
      });
    };
    const at = new Date('2026-11-01T09:58:20.500Z');
    await reportAs('its own', at);
    // One of an attempt before, whose machine was given back.
    await reportAs(null, at);
    const read = (code: string, since: number) => readReportedUse(worker, code, new Date(Number(at) - since));
    const atMs = Date.parse('2026-11-01T09:58:00Z');
    assert.deepEqual(await read('lab', 1), [
      {
        ...{ ...noUse, podId: 'pod-2', atMs, firstMs: Number(at), lastMs: Number(at) },
        ...{ gpuPercent: 3.5, busiestGpuPercent: 4, gpuMemoryPercent: 0, cpuPercent: 7, memoryPercent: 30 },
        ...{ networkBytesPerSecond: 500, sessions: 0 },
      },
    ]);
    assert.deepEqual(await read('lab', 0), []);
    assert.deepEqual(await read('elsewhere', 1), []);
  });
});
