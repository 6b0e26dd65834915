import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ConnectionError, GpuRental, isApiError, plainAnswer, type Retry } from '@gpu-rental/client';
import { dies, refusal, ScriptedApi } from './support/scripted-api.js';

const machine = { familyId: 'b200', gpuCount: 8 } as const;
const opened = {
  ...{ id: 'rent_1', status: 'provisioning', host: null, port: null },
  ...{ pricePerHourCents: 3_992, startedAt: '2026-11-01T09:31:07.000Z', warnings: [] },
};
const stopped = { id: 'rent_1', status: 'stopping', finalChargedCents: 7, refundedCents: 3 };
const unknown = { outcome: 'unknown', lookAt: '/v1/rentals/rent_1', rentalId: 'rent_1' };

/** What is sent again, by which key, and what never is. */
describe('retries of the typed client', () => {
  let api: ScriptedApi;
  let gpu: GpuRental;
  let retries: Retry[];

  before(async () => {
    api = await ScriptedApi.start();
  });
  after(() => api.stop());
  beforeEach(() => {
    retries = [];
    gpu = new GpuRental({ baseUrl: api.url, pauseMs: 1, onRetry: (retry) => retries.push(retry) });
  });
  afterEach(() =>
    assert.deepEqual([api.left, api.unforeseen], [0, 0], 'what the script says is asked for, and no more'),
  );

  const keys = () => api.arrived.map(({ headers }) => headers['idempotency-key']);
  const sent = () => api.arrived.map(({ method, path }) => `${method} ${path}`);

  it('send a create again under one key, whatever became of its answer', async () => {
    api.script(
      dies,
      refusal(503, 'temporarily_unavailable', { outcome: 'not_done' }),
      refusal(409, 'idempotency_in_progress', { rentalId: 'rent_1' }),
      { status: 200, body: opened },
    );
    assert.deepEqual(await gpu.rentals.create(machine), opened);
    assert.equal(new Set(keys()).size, 1);
    assert.match(String(keys()[0]), /^[0-9a-f-]{32,36}$/);
    assert.deepEqual(new Set(api.arrived.map(({ body }) => body)), new Set([JSON.stringify(machine)]));
    assert.deepEqual(
      retries.map(({ number, error }) => [number, error.name]),
      [
        [1, 'ConnectionError'],
        [2, 'ApiError'],
        [3, 'ApiError'],
      ],
    );
  });

  it('tell of an outcome that one of them left open, though the last one was not begun', async () => {
    const few = new GpuRental({ baseUrl: api.url, pauseMs: 1, retries: 1 });
    for (const last of [
      refusal(429, 'rate_limited'),
      refusal(503, 'temporarily_unavailable', { outcome: 'not_done' }),
    ]) {
      api.script(dies, last);
      await assert.rejects(few.rentals.create(machine), (error) => {
        assert.ok(error instanceof ConnectionError);
        return !error.neverSent;
      });
    }
    api.script(dies, refusal(429, 'rate_limited'));
    await assert.rejects(few.rentals.get('rent_1'), (error) => isApiError(error, 'rate_limited'));
  });

  it('tell of an outcome that one of them left open, though the last one was refused at the door', async () => {
    const key = { keyId: 'key_1' };
    for (const door of [refusal(403, 'key_address', key), refusal(401, 'key_revoked', key)]) {
      for (const call of [() => gpu.rentals.create(machine), () => gpu.rentals.stop('rent_1')]) {
        api.script(dies, door);
        await assert.rejects(call, ConnectionError);
      }
      api.script(dies, door);
      await assert.rejects(gpu.rentals.get('rent_1'), (error) => isApiError(error));
      api.script(refusal(503, 'temporarily_unavailable', { outcome: 'not_done' }), door);
      await assert.rejects(gpu.rentals.create(machine), (error) => isApiError(error));
    }
    api.script(dies, refusal(409, 'quote_expired'));
    await assert.rejects(gpu.rentals.create(machine), (error) => isApiError(error, 'quote_expired'));
  });

  it('hand each answer on as the caller gives it, refusals too', async () => {
    const plain = new GpuRental({ baseUrl: api.url, retries: 0, onAnswer: plainAnswer });
    api.script(
      { status: 200, body: { ...opened, warnings: ['a\u202eb\n\u001b[2Jc'] } },
      { status: 404, body: { error: 'rental_not_found', message: 'no\u0007ne', requestId: 'r' } },
    );
    assert.deepEqual((await plain.rentals.create(machine)).warnings, ['ab\nc']);
    await assert.rejects(plain.rentals.get('rent_1'), { message: 'none' });
  });

  it('are refused an address that would lose a part, or show a password', () => {
    for (const wrong of ['https://a:b@x', 'https://x/?a=b', 'https://x/#a', 'ftp://x'])
      assert.throws(() => new GpuRental({ baseUrl: wrong }), TypeError, wrong);
    assert.equal(new GpuRental({ baseUrl: 'https://x/gpu/' }).baseUrl, 'https://x/gpu');
  });

  it('give each create a key of its own, or the caller’s', async () => {
    api.script({ status: 200, body: opened }, { status: 200, body: opened }, { status: 200, body: opened });
    await gpu.rentals.create(machine);
    await gpu.rentals.create(machine);
    await gpu.rentals.create(machine, { idempotencyKey: 'mine' });
    assert.equal(new Set(keys()).size, 3);
    assert.equal(keys()[2], 'mine');
  });

  it('look a rental up whose id is known and whose outcome is not, and create no other', async () => {
    api.script(refusal(503, 'temporarily_unavailable', unknown), refusal(404, 'rental_not_found'), {
      status: 200,
      body: { ...opened, totalChargedCents: 0 },
    });
    assert.deepEqual(await gpu.rentals.create(machine), opened);
    assert.deepEqual(sent(), ['POST /v1/rentals', 'GET /v1/rentals/rent_1', 'GET /v1/rentals/rent_1']);
  });

  it('look a top-up up as well, and give its page', async () => {
    const page = { checkoutUrl: 'https://pay.example.com/1', sessionId: 'cs_1', status: 'requires_payment' };
    api.script(refusal(500, 'internal_error', { outcome: 'unknown', topupId: 'top_1' }), {
      status: 200,
      body: { id: 'top_1', ...page, amountCents: 500, processorChargeId: null },
    });
    assert.deepEqual(await gpu.checkout.create({ amountCents: 500 }), { topupId: 'top_1', ...page });
    assert.deepEqual(sent(), ['POST /v1/billing/checkout', 'GET /v1/billing/topups/top_1']);
  });

  it('look up what is still under way when its tries are over', async () => {
    const few = new GpuRental({ baseUrl: api.url, pauseMs: 1, retries: 1 });
    const underWay = refusal(409, 'idempotency_in_progress', { rentalId: 'rent_1' });
    api.script(underWay, underWay, { status: 200, body: { ...opened, totalChargedCents: 0 } });
    assert.deepEqual(await few.rentals.create(machine), opened);
    assert.deepEqual(sent(), ['POST /v1/rentals', 'POST /v1/rentals', 'GET /v1/rentals/rent_1']);
  });

  it('tell the id of what they may not look up', async () => {
    api.script(refusal(500, 'internal_error', unknown), refusal(403, 'key_scope', { scope: 'read' }));
    await assert.rejects(gpu.rentals.create(machine), (error) => {
      assert.ok(isApiError(error, 'internal_error'), String(error));
      return error.details?.rentalId === 'rent_1';
    });
  });

  it('tell the id of what was not found in time', async () => {
    const bounded = new GpuRental({ baseUrl: api.url, callWithinMs: 400 });
    for (const create of [
      () => gpu.rentals.create(machine, { timeoutMs: 400 }),
      () => bounded.rentals.create(machine),
      () => bounded.rentals.create(machine, { timeoutMs: 60_000 }),
    ]) {
      api.script(refusal(503, 'temporarily_unavailable', unknown), refusal(404, 'rental_not_found'));
      const error: unknown = await create().catch((thrown: unknown) => thrown);
      assert.ok(isApiError(error, 'temporarily_unavailable'), String(error));
      assert.equal(error.details?.rentalId, 'rent_1');
    }
  });

  it('never send again what was refused', async () => {
    for (const reply of [
      refusal(400, 'validation_failed', { fields: [] }),
      refusal(402, 'card_declined', { declineCode: 'x', topupId: 'top_1' }),
      refusal(403, 'insufficient_balance', { requiredCents: 2, availableCents: 1 }),
      refusal(409, 'idempotency_conflict'),
    ]) {
      api.script(reply);
      await assert.rejects(gpu.checkout.create({ amountCents: 500 }), (error) => isApiError(error));
    }
  });

  it('never send again what has no key and may have been done', async () => {
    for (const reply of [dies, refusal(500, 'internal_error'), refusal(503, 'temporarily_unavailable')]) {
      api.script(reply);
      await assert.rejects(gpu.webhooks.add({ url: 'https://example.com/' }));
      api.script(reply);
      await assert.rejects(gpu.sshKeys.add({ name: 'laptop', generate: true }));
      api.script(reply);
      await assert.rejects(gpu.account.export());
    }
  });

  it('wait as long as Retry-After says, for what was not begun', async () => {
    const limited = refusal(429, 'rate_limited', { retryAfterSeconds: 1 }, { 'Retry-After': '1' });
    api.script(limited, { status: 200, body: { id: 'wh_1' } });
    const from = performance.now();
    await gpu.webhooks.add({ url: 'https://example.com/' });
    assert.ok(performance.now() - from >= 1_000);
    assert.ok((retries[0]?.delayMs ?? 0) >= 1_000);
  });

  it('leave a long Retry-After to the caller', async () => {
    api.script(refusal(429, 'rate_limited', { retryAfterSeconds: 45 }, { 'Retry-After': '45' }));
    const error: unknown = await gpu.rentals.create(machine).catch((thrown: unknown) => thrown);
    assert.ok(isApiError(error, 'rate_limited'));
    assert.equal(error.retryAfterSeconds, 45);
  });

  it('read again, a few times', async () => {
    const away = { status: 502, body: '<html>Bad gateway</html>', headers: { 'Content-Type': 'text/html' } };
    api.script(away, dies, refusal(500, 'internal_error'), { status: 200, body: opened });
    assert.equal((await gpu.rentals.get('rent_1')).id, 'rent_1');
    api.script(away, away, away, away);
    await assert.rejects(
      gpu.rentals.get('rent_1'),
      (error) =>
        error instanceof ConnectionError && error.status === 502 && error.message.includes('HTTP 502'),
    );
  });

  it('answer what a stop came to, also when its first answer was lost', async () => {
    const { id, ...figures } = stopped;
    api.script(dies, refusal(409, 'already_stopped', { ...figures, status: 'stopped' }));
    assert.deepEqual(await gpu.rentals.stop(id), { id, ...figures, status: 'stopped' });
    api.script(refusal(409, 'already_stopped', figures));
    await assert.rejects(gpu.rentals.stop(id), (error) => isApiError(error, 'already_stopped'));
  });

  it('take something for removed that a lost request removed', async () => {
    api.script(dies, refusal(404, 'webhook_not_found'));
    await gpu.webhooks.delete('wh_1');
    api.script(refusal(404, 'webhook_not_found'));
    await assert.rejects(gpu.webhooks.delete('wh_1'), (error) => isApiError(error, 'webhook_not_found'));
    api.script(dies, refusal(401, 'unauthorized'));
    await gpu.auth.logout();
  });

  it('end with the caller’s signal, in a request and in a pause', async () => {
    const reason = new Error('enough');
    for (const script of [[() => undefined], [refusal(503, 'temporarily_unavailable')]]) {
      const enough = new AbortController();
      const slow = new GpuRental({ baseUrl: api.url, pauseMs: 60_000, onRetry: () => enough.abort(reason) });
      api.script(...script);
      const call = slow.wallet.get({ signal: enough.signal });
      if (typeof script[0] === 'function') setTimeout(() => enough.abort(reason), 20);
      await assert.rejects(call, reason);
    }
    await assert.rejects(gpu.wallet.get({ signal: AbortSignal.abort(reason) }), reason);
  });

  it('end with their time', async () => {
    const impatient = new GpuRental({ baseUrl: api.url, answerWithinMs: 30, retries: 1, pauseMs: 1 });
    api.script(
      () => undefined,
      (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"half":'),
    );
    await assert.rejects(
      impatient.wallet.get(),
      (error) => error instanceof ConnectionError && error.timedOut && !error.neverSent,
    );
    assert.equal(api.arrived.length, 2);
    api.script(() => undefined);
    const from = performance.now();
    await assert.rejects(gpu.wallet.get({ timeoutMs: 50 }), /No answer within/);
    assert.ok(performance.now() - from < 5_000);
    const bounded = new GpuRental({ baseUrl: api.url, callWithinMs: 50, pauseMs: 1 });
    api.script(() => undefined);
    await assert.rejects(bounded.wallet.get({ timeoutMs: 60_000 }), /No answer within/);
    assert.equal(api.arrived.length, 1, 'no time is left for another try');
  });

  it('send again what surely never left, and say where nobody answers', async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as AddressInfo;
    nobody.close();
    const baseUrl = `http://127.0.0.1:${port}`;
    const alone = new GpuRental({ baseUrl, pauseMs: 1, onRetry: (retry) => retries.push(retry) });
    await assert.rejects(
      alone.webhooks.add({ url: 'https://example.com/' }),
      (error) => error instanceof ConnectionError && error.neverSent && error.message.includes(baseUrl),
    );
    assert.equal(retries.length, 3);
  });
});
