import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { presentWords } from '../../../api/rentals/word-fields.js';
import { noWords } from '../../../domain/rentals/words.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental, insertRunningRental, insertStoppedRental } from '../../support/money/factories.js';

const HOUR = 3_600_000;

describe('rentals on read', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    // Temporal is away: answers that do not need it must come all the same.
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  describe('GET /v1/rentals/:id', () => {
    it('shows a rental that has just been opened', async () => {
      const rental = await insertRental(api.db, user.user.id, { name: 'training' });
      const answer = await user.get(`/v1/rentals/${rental.id}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, {
        id: rental.id,
        ...presentWords({ ...noWords, name: 'training' }),
        status: 'provisioning',
        phase: 'queued',
        phaseSince: rental.started_at.toISOString(),
        attempt: 1,
        expectedReadyAt: null,
        familyId: 'rtx-4090',
        family: 'rtx-4090',
        model: 'RTX_4090',
        gpuCount: 1,
        region: 'Oslo, Norway',
        provider: 'lab',
        providerCode: 'lab',
        templateId: 'ubuntu-24-04',
        interconnect: 'pcie',
        pricePerHourCents: 50,
        host: null,
        port: null,
        username: null,
        hostKeyFingerprint: null,
        software: null,
        endpoints: [],
        startedAt: rental.started_at.toISOString(),
        runningAt: null,
        stoppedAt: null,
        terminatedAt: null,
        autoStopAt: null,
        maxSpendCents: null,
        stopWhenIdleMinutes: null,
        idleGuard: null,
        totalChargedCents: 0,
        writtenOffCents: 0,
        error: null,
        failure: null,
        stopReason: null,
        warnings: ['no_ssh_key'],
      });
    });

    it('shows where to enter a running one, and what it has cost so far, net', async () => {
      const rental = await insertRunningRental(api.db, user.user.id, HOUR, {
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

    it('shows what was written off', async () => {
      const rental = await insertStoppedRental(api.db, user.user.id, { written_off_cents: 12 });
      const { body } = await user.get(`/v1/rentals/${rental.id}`);
      assert.equal(body.writtenOffCents, 12);
    });

    it('shows why one failed', async () => {
      const rental = await insertRental(api.db, user.user.id, {
        status: 'failed',
        error: 'the machine did not start in time',
        settled_at: new Date(),
      });
      const { body } = await user.get(`/v1/rentals/${rental.id}`);
      assert.deepEqual([body.status, body.error], ['failed', 'the machine did not start in time']);
      const { failure } = body as unknown as { failure: object };
      assert.deepEqual(failure, { code: 'not_provisioned', message: 'the machine did not start in time' });
      const lost = await insertRental(api.db, user.user.id, {
        ...{ status: 'failed', error: 'lost', running_at: new Date(), settled_at: new Date() },
      });
      const shown = (await user.get(`/v1/rentals/${lost.id}`)).body as unknown as { failure: object };
      assert.deepEqual(shown.failure, { code: 'lost_at_start', message: 'lost' });
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
      const listed = [...first.body.rentals, ...second.body.rentals];
      assert.deepEqual(
        listed.map((rental) => rental.id),
        ids,
      );
      assert.equal(second.body.nextCursor, null);
      assert.deepEqual(listed[0], (await user.get(`/v1/rentals/${ids[0]}`)).body);
    });

    it('has cursors that tell an id of the user’s own and no number, and takes nobody else’s', async () => {
      const mine = [await insertRental(api.db, user.user.id), await insertRental(api.db, user.user.id)];
      const { body } = await user.get('/v1/rentals?pageSize=1');
      const cursor = Buffer.from(body.nextCursor!, 'base64url').toString();
      assert.deepEqual(JSON.parse(cursor), [mine[1]!.id]);
      const other = await api.signIn();
      await insertRental(api.db, other.user.id);
      const answer = await other.get(`/v1/rentals?cursor=${body.nextCursor!}`);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
      assert.equal(answer.body.details.fields[0]!.field, 'cursor');
    });

    it('filters by status', async () => {
      await insertRental(api.db, user.user.id);
      const running = await insertRunningRental(api.db, user.user.id, 0);
      const { body } = await user.get('/v1/rentals?status=running');
      assert.deepEqual(
        body.rentals.map((rental) => rental.id),
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

  describe('GET /v1/rentals/:id/meter', () => {
    it('shows a running meter by the database’s clock', async () => {
      const insertedMs = performance.now();
      const rental = await insertRunningRental(api.db, user.user.id, 90_500, {
        price_per_hour_cents: 360,
        charged_cents: 8,
        hold_cents: 352,
      });
      await api.db.raw('insert into meter_shards (shard, shards, last_tick_at) values (0, 1, clock_ms())');
      const { body } = await user.get(`/v1/rentals/${rental.id}/meter`);
      assert.equal(body.rentalId, rental.id);
      assert.equal(body.pricePerHourCents, 360);
      const mostSeconds = 90.5 + (performance.now() - insertedMs) / 1_000;
      assert.ok(body.secondsBilled >= 90 && body.secondsBilled <= mostSeconds, `${body.secondsBilled}`);
      assert.equal(body.chargedCents, 8);
      assert.ok(
        body.pendingMillicents >= 1_050 && body.pendingMillicents <= mostSeconds * 100 - 8_000,
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
      const rental = await insertRunningRental(api.db, user.user.id, HOUR);
      await api.db.raw(
        'insert into stop_requests (rental_no, requested_by, requested_at) select no, ?, running_at + ? from rentals where no = ?',
        ['user', '10 seconds', rental.no],
      );
      const { body } = await user.get(`/v1/rentals/${rental.id}/meter`);
      assert.equal(body.secondsBilled, 10);
    });

    it('stands still at the auto-stop', async () => {
      const rental = await insertRunningRental(api.db, user.user.id, HOUR);
      await api.db.raw("update rentals set auto_stop_at = running_at + interval '20 seconds' where no = ?", [
        rental.no,
      ]);
      assert.equal((await user.get(`/v1/rentals/${rental.id}/meter`)).body.secondsBilled, 20);
    });

    it('has nothing pending once it is settled', async () => {
      const rental = await insertStoppedRental(api.db, user.user.id);
      const { body } = await user.get(`/v1/rentals/${rental.id}/meter`);
      assert.deepEqual([body.secondsBilled, body.chargedCents, body.pendingMillicents], [3_600, 100, 0]);
    });
  });
});
