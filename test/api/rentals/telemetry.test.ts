import assert from 'node:assert/strict';
import { recordUse } from '../../../adapters/postgres/machines/telemetry.js';
import type { Telemetry } from '../../../api/rentals/describe-telemetry.js';
import { HOUR, MINUTE } from '../../../domain/durations.js';
import { noUse } from '../../../domain/machines/telemetry.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRunningRental, insertStoppedRental } from '../../support/money/factories.js';

describe('GET /v1/rentals/:id/telemetry', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
    user = await api.signIn();
  });
  after(() => api.stop());

  const read = async (id: string, query = '') => {
    const { status, body } = await user.get(`/v1/rentals/${id}/telemetry${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Telemetry;
  };

  it('shows what was told by points of a minute, of the last hours or of a time that is asked for', async () => {
    const rental = await insertRunningRental(api.db, user.user.id, 3 * HOUR, { pod_id: 'pod-1' });
    const lastMs = Math.floor(Date.now() / MINUTE - 1) * MINUTE;
    const use = { ...noUse, gpuPercent: 40, busiestGpuPercent: 81, cpuPercent: 12, memoryPercent: 7 };
    await recordUse(api.db, 'lab', [{ ...use, podId: 'pod-1', atMs: lastMs, firstMs: lastMs, lastMs }]);
    const from = new Date(lastMs - MINUTE).toISOString();
    const shown = await read(rental.id, `?from=${from}&to=${new Date(lastMs + MINUTE).toISOString()}`);
    const untold = { gpuPercent: null, busiestGpuPercent: null, gpuMemoryPercent: null, cpuPercent: null };
    assert.deepEqual(shown, {
      ...{ rentalId: rental.id, source: 'upstream', stepSeconds: 60 },
      ...{ from, to: new Date(lastMs + MINUTE).toISOString() },
      points: [
        { at: from, ...untold, memoryPercent: null },
        {
          ...{ at: new Date(lastMs).toISOString(), gpuPercent: 40, busiestGpuPercent: 81 },
          ...{ gpuMemoryPercent: null, cpuPercent: 12, memoryPercent: 7 },
        },
      ],
    });
    const all = await read(rental.id, '?points=60');
    assert.equal(all.from, rental.running_at!.toISOString());
    assert.ok(all.points.length <= 60 && all.points.some(({ gpuPercent }) => gpuPercent === 40));
  });

  it('says so where nobody tells, and shows nothing from before the billing or after its end', async () => {
    const rental = await insertStoppedRental(api.db, user.user.id);
    const shown = await read(rental.id, '?from=1970-01-01');
    assert.deepEqual([shown.source, shown.to], [null, rental.ended_at!.toISOString()]);
    assert.equal(shown.from, rental.running_at!.toISOString());
    assert.ok(shown.points.every(({ gpuPercent }) => gpuPercent === null));
  });
});
