import assert from 'node:assert/strict';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRunningRental, insertStoppedRental } from '../../support/money/factories.js';

const HOUR = 3_600_000;

describe('stopping a rental', () => {
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

  describe('POST /v1/rentals/:id/stop', () => {
    it('keeps the request and answers 200 even when Temporal is away, the amounts still unknown', async () => {
      const rental = await insertRunningRental(api.db, user.user.id, HOUR);
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
      const rental = await insertRunningRental(api.db, user.user.id, HOUR);
      const answer = await user.send('POST', `/v1/rentals/${rental.id}/stop`, '{', {
        'Content-Type': 'application/json',
      });
      assert.equal(answer.status, 400);
      assert.equal(await api.db('stop_requests').where({ rental_no: rental.no }).first(), undefined);
    });

    it('lets the first request win', async () => {
      const rental = await insertRunningRental(api.db, user.user.id, HOUR);
      await user.post(`/v1/rentals/${rental.id}/stop`);
      const first = (await api.db('stop_requests').where({ rental_no: rental.no }).first())!;
      assert.equal((await user.post(`/v1/rentals/${rental.id}/stop`)).status, 200);
      assert.deepEqual(await api.db('stop_requests').where({ rental_no: rental.no }), [first]);
    });

    it('does not wait for locks that metering holds', async () => {
      const rental = await insertRunningRental(api.db, user.user.id, HOUR);
      await api.db.transaction(async (trx) => {
        await trx.raw('select 1 from wallets where id = ? for no key update', [rental.wallet_id]);
        await trx.raw('select 1 from rentals where no = ? for no key update', [rental.no]);
        assert.equal((await user.post(`/v1/rentals/${rental.id}/stop`)).status, 200);
      });
    });

    it('answers the amounts of one that is settled and still stopping', async () => {
      const rental = await insertStoppedRental(api.db, user.user.id, {
        status: 'stopping',
        refunded_cents: 10,
      });
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
      const rental = await insertStoppedRental(api.db, user.user.id);
      const answer = await user.post(`/v1/rentals/${rental.id}/stop`);
      assert.deepEqual([answer.status, answer.body.error], [409, 'already_stopped']);
      assert.deepEqual(answer.body.details, { status: 'stopped', finalChargedCents: 100, refundedCents: 30 });
    });
  });
});
