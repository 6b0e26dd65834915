import assert from 'node:assert/strict';
import type { RentalId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { until } from '../../support/until.js';

describe('the API with its worker', () => {
  let service: TestService;
  let user: SignedIn;

  before(async () => {
    service = await startService();
  });
  beforeEach(async () => {
    user = await service.signIn(100_000);
  });
  after(() => service.stop());

  const body = { familyId: 'rtx-4090', gpuCount: 1 };

  describe('POST /v1/rentals', () => {
    it('answers the specification’s fields, and a warning without an SSH key', async () => {
      const answer = await user.post('/v1/rentals', { ...body, name: 'first' });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.match(answer.body.id, /^rent_/);
      assert.deepEqual(answer.body, {
        id: answer.body.id,
        status: 'provisioning',
        host: null,
        port: null,
        pricePerHourCents: answer.body.pricePerHourCents,
        startedAt: answer.body.startedAt,
        warnings: ['no_ssh_key'],
      });
      const balance = await user.get('/v1/billing/balance');
      assert.equal(balance.body.totalCents, 100_000);
      assert.equal(balance.body.reservedCents, answer.body.pricePerHourCents);
    });

    it('answers without warnings when there is a key, and uses it', async () => {
      const key = await user.post('/v1/ssh-keys', { name: 'k', generate: true });
      const answer = await user.post('/v1/rentals', body);
      assert.deepEqual(Object.keys(answer.body), [
        'id',
        'status',
        'host',
        'port',
        'pricePerHourCents',
        'startedAt',
      ]);
      const row = await service.api
        .db('rentals')
        .where({ id: answer.body.id as RentalId })
        .first();
      assert.deepEqual(row!.ssh_key_ids, [key.body.id]);
    });

    it('refuses a wallet that can’t pay for an hour, with both amounts', async () => {
      const poor = await service.signIn();
      const answer = await poor.post('/v1/rentals', body);
      assert.deepEqual([answer.status, answer.body.error], [403, 'insufficient_balance']);
      assert.equal(answer.body.details.availableCents, 0);
      assert.ok(answer.body.details.requiredCents > 0);
    });

    it('refuses when no live listing matches', async () => {
      const answer = await user.post('/v1/rentals', { ...body, maxPricePerHourCents: 1 });
      assert.deepEqual([answer.status, answer.body.error], [400, 'model_unavailable']);
    });

    it('opens one rental for many retries with one Idempotency-Key', async () => {
      const answers: Answer[] = await Promise.all(
        Array.from({ length: 4 }, () => user.post('/v1/rentals', body, { 'Idempotency-Key': 'k' })),
      );
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
      const ids = new Set(answers.map((answer) => answer.body.id));
      assert.equal(ids.size, 1);
      assert.equal((await user.get('/v1/rentals')).body.rentals.length, 1);
      const replay = await user.post('/v1/rentals', body, { 'Idempotency-Key': 'k' });
      assert.equal(replay.headers.get('idempotent-replayed'), 'true');
    });
  });

  describe('POST /v1/rentals/:id/stop', () => {
    it('answers the amounts once the rental is settled, and again in a 409 when it has ended', async () => {
      const { id } = (await user.post('/v1/rentals', body)).body as { id: string };
      await until('it runs', async () => (await user.get(`/v1/rentals/${id}`)).body.status === 'running');
      const answer = await user.post(`/v1/rentals/${id}/stop`);
      assert.equal(answer.status, 200);
      const rental = (await user.get(`/v1/rentals/${id}`)).body;
      assert.equal(answer.body.finalChargedCents, rental.totalChargedCents);
      assert.equal(answer.body.refundedCents, rental.pricePerHourCents - rental.totalChargedCents);
      await until(
        'it has ended',
        async () => (await user.get(`/v1/rentals/${id}`)).body.status === 'stopped',
      );
      const again = await user.post(`/v1/rentals/${id}/stop`);
      assert.deepEqual([again.status, again.body.error], [409, 'already_stopped']);
      assert.deepEqual(again.body.details, {
        status: 'stopped',
        finalChargedCents: answer.body.finalChargedCents,
        refundedCents: answer.body.refundedCents,
      });
    });
  });

  it('POST /v1/billing/checkout answers a page; paying it credits the wallet', async () => {
    const answer = await user.post(
      '/v1/billing/checkout',
      { amountCents: 2_500 },
      { 'Idempotency-Key': 'pay' },
    );
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(Object.keys(answer.body), ['checkoutUrl', 'sessionId', 'topupId', 'status']);
    assert.equal(answer.body.status, 'requires_payment');
    assert.match(answer.body.sessionId, /^cs_/);
    const again = await user.post(
      '/v1/billing/checkout',
      { amountCents: 2_500 },
      { 'Idempotency-Key': 'pay' },
    );
    assert.deepEqual(again.body, answer.body);
    const form = new URLSearchParams({ cardNumber: '4242424242424242', cardExpiry: '12/40', cardCvc: '123' });
    await fetch(answer.body.checkoutUrl, { method: 'POST', body: form, redirect: 'manual' });
    await until(
      'the wallet is credited',
      async () => (await user.get('/v1/billing/balance')).body.availableCents === 102_500,
    );
    const topup = (await user.get(`/v1/billing/topups/${answer.body.topupId}`)).body;
    assert.deepEqual([topup.status, topup.creditedCents], ['succeeded', 2_500]);
    const [entry] = (await user.get('/v1/billing/ledger')).body.entries;
    assert.deepEqual([entry!.type, entry!.amountCents], ['processor_topup', 2_500]);
    assert.equal(entry!.processorChargeId, topup.processorChargeId);
  });
});

describe('a worker that comes too late', () => {
  let service: TestService;

  before(async () => {
    service = await startService({ worker: false, settings: { answerWithinMs: 300, answerGraceMs: 100 } });
  });
  after(() => service.stop());

  it('never opens the rental that was answered with a 503', async () => {
    const user = await service.signIn(100_000);
    const answer = await user.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
    assert.equal(answer.status, 503);
    await service.startWorker();
    const { workflow } = service.temporal;
    const outcome: unknown = await workflow.getHandle(answer.body.details.rentalId).result();
    assert.deepEqual(outcome, { outcome: 'refused', code: 'temporarily_unavailable' });
    assert.deepEqual((await user.get('/v1/rentals')).body.rentals, []);
    assert.equal((await user.get('/v1/billing/balance')).body.reservedCents, 0);
  });
});
