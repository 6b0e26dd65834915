import assert from 'node:assert/strict';
import { GpuRental, isApiError, type RentalPhase, type StreamItem } from '@gpu-rental/client';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';

/** One user's way through the typed client, against the mock. */
describe('the typed client', () => {
  let mock: MockServer;
  let gpu: GpuRental;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 200, tickMs: 50, endMs: 50 } });
    gpu = new GpuRental({ baseUrl: mock.url });
    assert.equal(gpu.session, undefined);
  });
  after(() => mock.stop());

  it('signs in, and goes on with the session elsewhere', async () => {
    await assert.rejects(gpu.auth.me(), (error) => isApiError(error, 'unauthorized') && error.status === 401);
    await gpu.auth.requestCode({ email: 'ann@example.com' });
    const { user } = await gpu.auth.verifyCode({ email: 'ann@example.com', code: '123456' });
    assert.match(gpu.session?.cookie ?? '', /sid=/);
    const elsewhere = new GpuRental({ baseUrl: `${mock.url}/`, session: gpu.session });
    assert.deepEqual((await elsewhere.auth.me()).user, user);
  });

  it('tops up, rents by a quote, waits by the stream, and stops', async () => {
    const page = await gpu.checkout.create({ amountCents: 10_000 });
    assert.ok(page.checkoutUrl !== null);
    await fetch(page.checkoutUrl, { redirect: 'manual' });
    assert.equal((await gpu.wallet.get()).availableCents, 10_000);

    const quote = await gpu.quotes.create({ familyId: 'b200', gpuCount: 8, autoStopAfterHours: 2 });
    assert.equal(quote.worstCaseCents, 2 * quote.pricePerHourCents);
    const { id } = await gpu.rentals.create({ quoteId: quote.quoteId });
    const phases: (RentalPhase | null)[] = [];
    const rental = await gpu.rentals.waitUntilReady(id, { onPhase: ({ phase }) => phases.push(phase) });
    assert.equal(rental.status, 'running');
    assert.equal(phases.at(-1), 'ready');

    const seen: StreamItem[] = [];
    for await (const item of gpu.events.stream({ after: 0 })) {
      seen.push(item);
      if (item.kind === 'meter' && item.meter.chargedCents > 0) break;
    }
    assert.equal(seen[0]?.kind, 'connected');
    const events = seen.flatMap((item) => (item.kind === 'event' ? [item.event] : []));
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.deepEqual(events, await gpu.events.list({ pageSize: 2 }).toArray(events.length));

    const stopped = await gpu.rentals.stop(id);
    assert.ok((stopped.finalChargedCents ?? 0) > 0);
    const [listed] = await gpu.rentals.list({ pageSize: 1 }).toArray();
    assert.equal(listed?.id, id);
    await until('it is stopped', async () => (await gpu.rentals.get(id)).status === 'stopped');
    const error: unknown = await gpu.rentals.stop(id).catch((thrown: unknown) => thrown);
    assert.ok(isApiError(error, 'already_stopped'), String(error));
    assert.equal(error.details.finalChargedCents, stopped.finalChargedCents);
  });
});
