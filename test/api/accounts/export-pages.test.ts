import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { recordUse } from '../../../adapters/postgres/machines/telemetry.js';
import { exportFiles, type ExportSource } from '../../../api/accounts/export-files.js';
import type { Ask } from '../../../api/http/ask.js';
import { noSuchCursor } from '../../../api/http/cursor.js';
import type { Telemetry } from '../../../api/rentals/describe-telemetry.js';
import { DAY, HOUR, MINUTE } from '../../../domain/durations.js';
import { noUse } from '../../../domain/machines/telemetry.js';
import { Refusal } from '../../../domain/refusal.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { exportOf, linesOf } from '../../support/http/archive.js';
import { insertRunningRental } from '../../support/money/factories.js';

describe('the pages of an export', function () {
  this.timeout(30_000);

  describe('of an account', () => {
    let api: TestApi;
    let user: SignedIn;
    before(async () => {
      api = await startApi();
    });
    beforeEach(async () => {
      user = await api.signIn();
    });
    after(() => api.stop());

    it('tell each minute of a machine that began within one, more than a day ago', async () => {
      const ranMs = Math.ceil(Date.now() / MINUTE) * MINUTE - Date.now() + 2 * DAY + HOUR + 17_345;
      const rental = await insertRunningRental(api.db, user.user.id, ranMs, { pod_id: 'pod-1' });
      const firstMs = Math.floor(rental.running_at!.getTime() / MINUTE) * MINUTE;
      const used = [firstMs, firstMs + MINUTE, firstMs + DAY - MINUTE, firstMs + DAY, firstMs + 2 * DAY];
      for (const [nth, atMs] of used.entries())
        await recordUse(api.db, 'lab', [
          { ...noUse, gpuPercent: 10 + nth, podId: 'pod-1', atMs, firstMs: atMs, lastMs: atMs },
        ]);
      const days = linesOf((await exportOf(user))['machine-use.jsonl']) as unknown as Telemetry[];
      assert.deepEqual(
        days.map(({ stepSeconds }) => stepSeconds),
        [60, 60, 60],
      );
      const points = days.flatMap((day) => day.points);
      assert.equal(new Set(points.map(({ at }) => at)).size, points.length);
      assert.deepEqual(
        points.filter(({ gpuPercent }) => gpuPercent !== null).map(({ at, gpuPercent }) => [at, gpuPercent]),
        used.map((atMs, nth) => [new Date(atMs).toISOString(), 10 + nth]),
      );
    });

    it('tell a machine’s use where its first day has none', async () => {
      const rental = await insertRunningRental(api.db, user.user.id, 1.5 * DAY, { pod_id: 'pod-2' });
      const atMs = Math.floor(Date.now() / MINUTE - 5) * MINUTE;
      await recordUse(api.db, 'lab', [
        { ...noUse, gpuPercent: 7, podId: 'pod-2', atMs, firstMs: atMs, lastMs: atMs },
      ]);
      const days = linesOf((await exportOf(user))['machine-use.jsonl']) as unknown as Telemetry[];
      assert.deepEqual(
        days.map(({ rentalId }) => rentalId),
        [rental.id],
      );
    });

    it('tell all events, newest first, though the oldest are forgotten', async () => {
      const events = Array.from({ length: 450 }, (_, nth) => ({
        ...{ id: newId('evt'), user_id: user.user.id, seq: 51 + nth, type: 'ssh_key.added' as const },
        ...{ entity_id: 'key', data: { fingerprint: 'SHA256:x' }, at: new Date(), sequenced_at: new Date() },
      }));
      await api.db('events').insert(events);
      await api
        .db('event_feeds')
        .insert({ user_id: user.user.id, last_seq: 500 })
        .onConflict('user_id')
        .merge();
      const told = linesOf((await exportOf(user))['events.jsonl']).map(({ seq }) => seq);
      assert.deepEqual(
        told,
        Array.from({ length: 450 }, (_, nth) => 500 - nth),
      );
    });
  });

  /** What a file tells where each of these is what the API answers next. */
  async function told(name: string, answers: readonly unknown[]): Promise<Record<string, unknown>[]> {
    const left = [...answers];
    const ask = (() => {
      const next = left.shift();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    }) as Ask;
    const none = () => Promise.resolve([]);
    const receipt = () => Promise.resolve(undefined);
    const source: ExportSource = { ask, receipt, mails: none, identities: none };
    let text = '';
    for await (const piece of exportFiles.find((file) => file.name === name)!.write(source)) text += piece;
    assert.deepEqual(left, []);
    return linesOf(text);
  }

  const page = { deliveries: [{ id: 'dlv_1' }], nextCursor: 'x' };
  const last = { deliveries: [{ id: 'dlv_2' }], nextCursor: null };

  it('end at a webhook or a place that goes meanwhile, and the next webhook is told', async () => {
    const webhooks = { webhooks: [{ id: 'wh_1' }, { id: 'wh_2' }] };
    for (const gone of [new Refusal('webhook_not_found', 'gone'), noSuchCursor()])
      assert.deepEqual(await told('webhook-deliveries.jsonl', [webhooks, page, gone, last]), [
        { webhookId: 'wh_1', id: 'dlv_1' },
        { webhookId: 'wh_2', id: 'dlv_2' },
      ]);
  });

  it('end where the audit trail is forgotten meanwhile', async () => {
    const first = { events: [{ id: 'aud_1' }], failedSignIns: [], nextCursor: 'x' };
    assert.deepEqual(await told('audit.jsonl', [first, noSuchCursor()]), [{ id: 'aud_1' }]);
  });

  it('fail where another failure cuts them', async () => {
    const first = { rentals: [{ id: 'rent_1' }], nextCursor: 'x' };
    await assert.rejects(told('rentals.jsonl', [first, noSuchCursor()]));
    const audited = { events: [{ id: 'aud_1' }], failedSignIns: [], nextCursor: 'x' };
    await assert.rejects(told('audit.jsonl', [audited, new Error('away')]));
  });
});
