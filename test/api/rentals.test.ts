import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { RentalRow } from '../../adapters/postgres/tables.js';
import { startApi, type SignedIn, type TestApi } from '../support/api.js';
import { insertKey, insertRental } from '../support/factories.js';

const HOUR = 3_600_000;

describe('rentals', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    // Temporal is away: what can be told without it must be told all the same.
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  /** A rental that began to run this long ago, by the database's clock. */
  async function insertRunning(ranMs: number, columns: Partial<RentalRow> = {}): Promise<RentalRow> {
    const { rows } = await api.db.raw<{ rows: { at: Date }[] }>(
      "select clock_ms() - ? * interval '1 millisecond' as at",
      [ranMs],
    );
    return insertRental(api.db, user.user.id, {
      status: 'running',
      started_at: rows[0]!.at,
      running_at: rows[0]!.at,
      host: '127.0.0.1',
      port: 2222,
      username: 'ubuntu',
      host_key_fingerprint: 'SHA256:abc',
      ...columns,
    });
  }

  /** A rental that ran an hour at $1 and is settled, with 30 cents of its hold given back. */
  async function insertStopped(columns: Partial<RentalRow> = {}): Promise<RentalRow> {
    const rental = await insertRunning(2 * HOUR, { price_per_hour_cents: 100 });
    const endedAt = new Date(rental.running_at!.getTime() + HOUR);
    const [row] = await api
      .db('rentals')
      .where({ no: rental.no })
      .update({
        status: 'stopped',
        ended_at: endedAt,
        settled_at: endedAt,
        charged_cents: 100,
        released_cents: 30,
        stop_reason: 'user',
        ...columns,
      })
      .returning('*');
    return row!;
  }

  describe('POST /v1/rentals', () => {
    const body = { familyId: 'rtx-4090', gpuCount: 1 };

    it('refuses bodies of another shape, naming each field', async () => {
      const wrong: [object, string, string][] = [
        [{ gpuCount: 1 }, 'validation_failed', 'familyId'],
        [{ ...body, familyId: 7 }, 'validation_failed', 'familyId'],
        [{ familyId: 'rtx-4090' }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: 3 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: 0 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: -1 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: 1.5 }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: '1' }, 'invalid_count', 'gpuCount'],
        [{ ...body, gpuCount: null }, 'invalid_count', 'gpuCount'],
        [{ ...body, templateId: 'windows' }, 'validation_failed', 'templateId'],
        [{ ...body, region: 'mars' }, 'validation_failed', 'region'],
        [{ ...body, region: 7 }, 'validation_failed', 'region'],
        [{ ...body, name: 'x'.repeat(65) }, 'validation_failed', 'name'],
        [{ ...body, name: 7 }, 'validation_failed', 'name'],
        [{ ...body, name: 'a\u0000' }, 'validation_failed', 'name'],
        [{ ...body, autoStopAfterHours: 0 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: -1 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: 721 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: 720.001 }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, autoStopAfterHours: '1' }, 'validation_failed', 'autoStopAfterHours'],
        [{ ...body, maxSpendCents: 0 }, 'validation_failed', 'maxSpendCents'],
        [{ ...body, maxSpendCents: 1.5 }, 'validation_failed', 'maxSpendCents'],
        [{ ...body, maxPricePerHourCents: 0 }, 'validation_failed', 'maxPricePerHourCents'],
        [{ ...body, sshKeyIds: 'all' }, 'validation_failed', 'sshKeyIds'],
        [{ ...body, sshKeyIds: [7] }, 'validation_failed', 'sshKeyIds.0'],
        [{ ...body, colour: 'red' }, 'validation_failed', 'colour'],
      ];
      for (const [request, code, field] of wrong) {
        const answer = await user.post('/v1/rentals', request);
        assert.deepEqual([answer.status, answer.body.error], [400, code], JSON.stringify(request));
        const fields = (answer.body.details.fields as { field: string }[]).map((fault) => fault.field);
        assert.deepEqual(fields, [field], JSON.stringify(request));
      }
    });

    it('names all wrong fields at once, under the narrow code', async () => {
      const answer = await user.post('/v1/rentals', { familyId: 7, gpuCount: 3, colour: 'red' });
      assert.equal(answer.body.error, 'invalid_count');
      assert.equal(answer.body.details.fields.length, 3);
    });

    it('answers model_unavailable for a family that does not exist', async () => {
      for (const familyId of ['rtx-9999', 'constructor', 'RTX-4090']) {
        const answer = await user.post('/v1/rentals', { ...body, familyId });
        assert.deepEqual([answer.status, answer.body.error], [400, 'model_unavailable'], familyId);
      }
    });

    it('answers key_not_found for a key of another user', async () => {
      const other = await api.signIn();
      const key = await insertKey(api.db, other.user.id);
      for (const id of [key.id, newId('key'), 'key_1']) {
        const answer = await user.post('/v1/rentals', { ...body, sshKeyIds: [id] });
        assert.deepEqual([answer.status, answer.body.error], [404, 'key_not_found']);
      }
    });

    it('refuses an Idempotency-Key that is too long or not plain text', async () => {
      for (const key of ['x'.repeat(256), 'é']) {
        const answer = await user.post('/v1/rentals', body, { 'Idempotency-Key': key });
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
        assert.equal(answer.body.details.fields[0].field, 'Idempotency-Key');
      }
    });

    it('is a 503 at once when Temporal is away: nothing was done', async () => {
      const answer = await user.post('/v1/rentals', body);
      assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
      assert.deepEqual(answer.body.details, { outcome: 'not_done' });
    });
  });

  describe('GET /v1/rentals/:id', () => {
    it('shows a rental that has just been opened', async () => {
      const rental = await insertRental(api.db, user.user.id, { name: 'training' });
      const answer = await user.get(`/v1/rentals/${rental.id}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, {
        id: rental.id,
        name: 'training',
        status: 'provisioning',
        familyId: 'rtx-4090',
        model: 'RTX_4090',
        gpuCount: 1,
        region: 'Oslo, Norway',
        provider: 'lab',
        templateId: 'ubuntu-24-04',
        interconnect: 'pcie',
        pricePerHourCents: 50,
        host: null,
        port: null,
        username: null,
        hostKeyFingerprint: null,
        startedAt: rental.started_at.toISOString(),
        runningAt: null,
        stoppedAt: null,
        terminatedAt: null,
        autoStopAt: null,
        maxSpendCents: null,
        totalChargedCents: 0,
        error: null,
        stopReason: null,
        warnings: ['no_ssh_key'],
      });
    });

    it('shows where to enter a running one, and what it has cost so far, net', async () => {
      const rental = await insertRunning(HOUR, {
        charged_cents: 50,
        refunded_cents: 20,
        ssh_key_ids: [newId('key')],
      });
      const { body } = await user.get(`/v1/rentals/${rental.id}`);
      assert.deepEqual(
        [body.status, body.host, body.port, body.username],
        ['running', '127.0.0.1', 2222, 'ubuntu'],
      );
      assert.equal(body.hostKeyFingerprint, 'SHA256:abc');
      assert.equal(body.runningAt, rental.running_at!.toISOString());
      assert.equal(body.totalChargedCents, 30);
      assert.deepEqual(body.warnings, []);
    });

    it('shows why one failed', async () => {
      const rental = await insertRental(api.db, user.user.id, {
        status: 'failed',
        error: 'the machine did not start in time',
        settled_at: new Date(),
      });
      const { body } = await user.get(`/v1/rentals/${rental.id}`);
      assert.deepEqual([body.status, body.error], ['failed', 'the machine did not start in time']);
    });

    it('is rental_not_found for another user’s id as for one that does not exist', async () => {
      const other = await api.signIn();
      const rental = await insertRental(api.db, other.user.id);
      for (const id of [rental.id, newId('rent'), 'rent_1', 'nonsense', '%00', '%ff', "';--"]) {
        const read = await user.get(`/v1/rentals/${id}`);
        assert.deepEqual([read.status, read.body.error], [404, 'rental_not_found'], id);
        const meter = await user.get(`/v1/rentals/${id}/meter`);
        assert.deepEqual([meter.status, meter.body.error], [404, 'rental_not_found'], id);
        const stop = await user.post(`/v1/rentals/${id}/stop`);
        assert.deepEqual([stop.status, stop.body.error], [404, 'rental_not_found'], id);
      }
      assert.equal(await api.db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
    });
  });

  describe('GET /v1/rentals', () => {
    it('lists the user’s own, newest first, page by page', async () => {
      const other = await api.signIn();
      await insertRental(api.db, other.user.id);
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.unshift((await insertRental(api.db, user.user.id)).id);
      const first = await user.get('/v1/rentals?pageSize=3');
      await insertRental(api.db, user.user.id);
      const second = await user.get(`/v1/rentals?pageSize=3&cursor=${first.body.nextCursor}`);
      const listed = [...first.body.rentals, ...second.body.rentals] as { id: string }[];
      assert.deepEqual(
        listed.map((rental) => rental.id),
        ids,
      );
      assert.equal(second.body.nextCursor, null);
      assert.deepEqual(listed[0], (await user.get(`/v1/rentals/${ids[0]}`)).body);
    });

    it('filters by status', async () => {
      await insertRental(api.db, user.user.id);
      const running = await insertRunning(0);
      const { body } = await user.get('/v1/rentals?status=running');
      assert.deepEqual(
        (body.rentals as { id: string }[]).map((rental) => rental.id),
        [running.id],
      );
    });

    it('refuses queries of another shape', async () => {
      for (const query of ['?status=paused', '?pageSize=201', '?cursor=abc', '?page=2']) {
        const answer = await user.get(`/v1/rentals${query}`);
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], query);
      }
    });
  });

  describe('POST /v1/rentals/:id/stop', () => {
    it('keeps the request and answers 200 even when Temporal is away, the amounts still unknown', async () => {
      const rental = await insertRunning(HOUR);
      const answer = await user.post(`/v1/rentals/${rental.id}/stop`);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, {
        id: rental.id,
        status: 'running',
        finalChargedCents: null,
        refundedCents: null,
      });
      const request = (await api.db('stop_requests').where({ rental_no: rental.no }).first())!;
      assert.deepEqual([request.requested_by, request.open], ['user', true]);
    });

    it('takes no body, and JSON that is none is refused', async () => {
      const rental = await insertRunning(HOUR);
      const answer = await user.send('POST', `/v1/rentals/${rental.id}/stop`, '{', {
        'Content-Type': 'application/json',
      });
      assert.equal(answer.status, 400);
      assert.equal(await api.db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
    });

    it('lets the first request win', async () => {
      const rental = await insertRunning(HOUR);
      await user.post(`/v1/rentals/${rental.id}/stop`);
      const first = (await api.db('stop_requests').where({ rental_no: rental.no }).first())!;
      assert.equal((await user.post(`/v1/rentals/${rental.id}/stop`)).status, 200);
      assert.deepEqual(await api.db('stop_requests').where({ rental_no: rental.no }), [first]);
    });

    it('does not wait for locks that metering holds', async () => {
      const rental = await insertRunning(HOUR);
      await api.db.transaction(async (trx) => {
        await trx.raw('select 1 from wallets where id = ? for no key update', [rental.wallet_id]);
        await trx.raw('select 1 from rentals where no = ? for no key update', [rental.no]);
        assert.equal((await user.post(`/v1/rentals/${rental.id}/stop`)).status, 200);
      });
    });

    it('answers the amounts of one that is settled and still stopping', async () => {
      const rental = await insertStopped({ status: 'stopping', refunded_cents: 10 });
      const answer = await user.post(`/v1/rentals/${rental.id}/stop`);
      assert.deepEqual(answer.body, {
        id: rental.id,
        status: 'stopping',
        finalChargedCents: 90,
        refundedCents: 30,
      });
      assert.equal(await api.db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
    });

    it('is 409 already_stopped with the amounts once it has ended', async () => {
      const rental = await insertStopped();
      const answer = await user.post(`/v1/rentals/${rental.id}/stop`);
      assert.deepEqual([answer.status, answer.body.error], [409, 'already_stopped']);
      assert.deepEqual(answer.body.details, { status: 'stopped', finalChargedCents: 100, refundedCents: 30 });
    });
  });

  describe('GET /v1/rentals/:id/meter', () => {
    it('shows a running meter by the database’s clock', async () => {
      const rental = await insertRunning(90_500, {
        price_per_hour_cents: 360,
        charged_cents: 8,
        hold_cents: 352,
      });
      await api.db.raw('insert into meter_shards (shard, shards, last_tick_at) values (0, 1, clock_ms())');
      const { body } = await user.get(`/v1/rentals/${rental.id}/meter`);
      assert.equal(body.rentalId, rental.id);
      assert.equal(body.pricePerHourCents, 360);
      assert.ok(body.secondsBilled >= 90 && body.secondsBilled <= 92, `${body.secondsBilled}`);
      assert.equal(body.chargedCents, 8);
      assert.ok(
        body.pendingMillicents >= 1_050 && body.pendingMillicents <= 1_250,
        `${body.pendingMillicents}`,
      );
      assert.equal(body.holdCents, 352);
      assert.ok(Math.abs(Date.parse(body.lastTickAt) - Date.now()) < 60_000);
      assert.deepEqual(Object.keys(body), [
        'rentalId',
        'pricePerHourCents',
        'secondsBilled',
        'chargedCents',
        'pendingMillicents',
        'holdCents',
        'lastTickAt',
      ]);
    });

    it('shows zeros before it runs', async () => {
      const rental = await insertRental(api.db, user.user.id, { hold_cents: 50 });
      const { body } = await user.get(`/v1/rentals/${rental.id}/meter`);
      assert.deepEqual(
        [body.secondsBilled, body.chargedCents, body.pendingMillicents, body.holdCents],
        [0, 0, 0, 50],
      );
    });

    it('stands still from the stop request on', async () => {
      const rental = await insertRunning(HOUR);
      await api.db.raw(
        'insert into stop_requests (rental_no, requested_by, requested_at) select no, ?, running_at + ? from rentals where no = ?',
        ['user', '10 seconds', rental.no],
      );
      const { body } = await user.get(`/v1/rentals/${rental.id}/meter`);
      assert.equal(body.secondsBilled, 10);
    });

    it('stands still at the auto-stop', async () => {
      const rental = await insertRunning(HOUR);
      await api.db.raw("update rentals set auto_stop_at = running_at + interval '20 seconds' where no = ?", [
        rental.no,
      ]);
      assert.equal((await user.get(`/v1/rentals/${rental.id}/meter`)).body.secondsBilled, 20);
    });

    it('has nothing pending once it is settled', async () => {
      const rental = await insertStopped();
      const { body } = await user.get(`/v1/rentals/${rental.id}/meter`);
      assert.deepEqual([body.secondsBilled, body.chargedCents, body.pendingMillicents], [3_600, 100, 0]);
    });
  });
});
