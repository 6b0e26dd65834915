import assert from 'node:assert/strict';
import { ConnectionError, GpuRental, isApiError, RentalNotReadyError } from '@gpu-rental/client';

interface Looks {
  /** What each look at the rental shows; the last one again and again. */
  readonly rentals: readonly object[];
  /** The messages of the stream, sent with the look of the same number; undefined: there is no stream. */
  readonly stream?: Readonly<Record<number, string>>;
  readonly status?: number;
}

const event = `event: rental.running\ndata: {"seq":1,"type":"rental.running","entityId":"rent_1","data":{}}\n\n`;
const provisioning = (phase: string) => ({ id: 'rent_1', status: 'provisioning', phase });
const running = { id: 'rent_1', status: 'running', phase: 'ready' };

/** A client of an API that shows this. */
function clientOf({ rentals, stream, status = 200 }: Looks): { gpu: GpuRental; looks: () => number } {
  let looks = 0;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const fetch = (request: Request): Promise<Response> => {
    if (request.url.includes('/stream')) {
      if (!stream) return Promise.resolve(new Response('{}', { status: 404 }));
      const body = new ReadableStream<Uint8Array>({ start: (opened) => void (controller = opened) });
      return Promise.resolve(new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }));
    }
    const shown = rentals[Math.min(looks, rentals.length - 1)];
    looks += 1;
    const message = stream?.[looks];
    if (message !== undefined) setImmediate(() => controller?.enqueue(new TextEncoder().encode(message)));
    return Promise.resolve(Response.json(shown, { status }));
  };
  return { gpu: new GpuRental({ baseUrl: 'http://127.0.0.1:9', fetch, retries: 0 }), looks: () => looks };
}

/** No answer, for as long as somebody waits for one. */
function silence({ signal }: Request): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
}

describe('waiting for a machine', () => {
  it('goes on over a service that is away, for as long as it was told to, and ends at a refusal', async () => {
    const answers: Response[] = [];
    const lost = () => Promise.reject(new TypeError('fetch failed'));
    const fetch = (request: Request) =>
      request.url.includes('/stream') ? lost() : (answers.shift() ?? lost());
    const client = new GpuRental({ baseUrl: 'http://127.0.0.1:9', fetch: async (r) => fetch(r), retries: 0 });
    const gaps: string[] = [];
    const onGap = (error: Error): void => {
      gaps.push(error.name);
      answers.push(Response.json(running));
    };
    answers.push(Response.json(provisioning('queued')), Response.json({}, { status: 502 }));
    assert.deepEqual(await client.rentals.waitUntilReady('rent_1', { onGap }), running);
    assert.deepEqual(gaps, ['ConnectionError']);
    await assert.rejects(client.rentals.waitUntilReady('rent_1', { gapMs: 0 }), { name: 'ConnectionError' });
    answers.push(Response.json({ error: 'key_revoked', message: 'No.', requestId: 'r' }, { status: 401 }));
    await assert.rejects(client.rentals.waitUntilReady('rent_1'), (error) =>
      isApiError(error, 'key_revoked'),
    );
  });

  it('looks as soon as the stream tells something of it', async () => {
    const { gpu, looks } = clientOf({
      rentals: [provisioning('queued'), provisioning('booting'), running],
      stream: { 1: event, 2: event },
    });
    const phases: unknown[] = [];
    const from = performance.now();
    await gpu.rentals.waitUntilReady('rent_1', { onPhase: ({ phase }) => phases.push(phase) });
    assert.ok(performance.now() - from < 1_500, 'it did not wait for the next look');
    assert.deepEqual(phases, ['queued', 'booting', 'ready']);
    assert.equal(looks(), 3);
  });

  it('looks every two seconds where there is no stream', async () => {
    const { gpu, looks } = clientOf({ rentals: [provisioning('queued'), running] });
    assert.equal((await gpu.rentals.waitUntilReady('rent_1')).phase, 'ready');
    assert.equal(looks(), 2);
  });

  it('tells of a rental that ended', async () => {
    const failure = { code: 'not_provisioned', message: 'no machine came up' };
    const { gpu } = clientOf({ rentals: [{ id: 'rent_1', status: 'failed', phase: null, failure }] });
    await assert.rejects(
      gpu.rentals.waitUntilReady('rent_1'),
      (error) =>
        error instanceof RentalNotReadyError && !error.timedOut && error.message.includes('no machine'),
    );
  });

  it('ends with its time, with the caller’s signal, and with what the API refuses', async () => {
    const { gpu } = clientOf({ rentals: [provisioning('booting')], stream: {} });
    await assert.rejects(
      gpu.rentals.waitUntilReady('rent_1', { timeoutMs: 30 }),
      (error) => error instanceof RentalNotReadyError && error.timedOut && error.rental.phase === 'booting',
    );
    const enough = new AbortController();
    const onPhase = (): void => enough.abort(new Error('enough'));
    await assert.rejects(gpu.rentals.waitUntilReady('rent_1', { signal: enough.signal, onPhase }), /enough/);
    const body = { error: 'rental_not_found', message: 'none', requestId: 'r' };
    const refused = clientOf({ rentals: [body], status: 404 });
    await assert.rejects(refused.gpu.rentals.waitUntilReady('rent_1'), (error) =>
      isApiError(error, 'rental_not_found'),
    );
  });

  it('ends with its time also where the service stays silent', async () => {
    const asked: Request[] = [];
    const fetch = (request: Request): Promise<Response> => {
      asked.push(request);
      return silence(request);
    };
    const gpu = new GpuRental({ baseUrl: 'http://127.0.0.1:9', fetch, answerWithinMs: 3_600_000 });
    await assert.rejects(
      gpu.rentals.waitUntilReady('rent_1', { timeoutMs: 50 }),
      (error) => error instanceof ConnectionError && error.timedOut,
    );
    assert.ok(asked.every(({ signal }) => signal.aborted));
  }).timeout(30_000);

  it('tells of the rental as it was seen where the service falls silent', async () => {
    const answers = [Response.json(provisioning('booting'))];
    const fetch = (request: Request): Promise<Response> => {
      const answer = request.url.includes('/stream') ? new Response('{}', { status: 404 }) : answers.shift();
      return answer ? Promise.resolve(answer) : silence(request);
    };
    const gpu = new GpuRental({ baseUrl: 'http://127.0.0.1:9', fetch, answerWithinMs: 3_600_000 });
    await assert.rejects(
      gpu.rentals.waitUntilReady('rent_1', { timeoutMs: 2_500 }),
      (error) => error instanceof RentalNotReadyError && error.timedOut && error.rental.phase === 'booting',
    );
  }).timeout(30_000);
});
