import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { GpuRental, isApiError, type StreamItem } from '@gpu-rental/client';
import { dies, refusal, ScriptedApi, type Reply } from './support/scripted-api.js';

/** Answers with a stream of these pieces; it stays open unless it is ended. */
function stream(pieces: readonly string[], end: 'open' | 'ended' | 'cut' = 'open'): Reply {
  return (response: ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const piece of pieces) response.write(piece);
    if (end === 'ended') response.end();
    // What was written must leave before the connection is destroyed.
    if (end === 'cut') response.write('', () => setImmediate(() => response.destroy()));
  };
}

const ready = (seq: number): string => `id: ${seq}\nevent: ready\ndata: {"afterSeq":${seq},"lastSeq":99}\n\n`;
const event = (seq: number, type = 'rental.running'): string =>
  `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ id: `evt_${seq}`, seq, type, entityId: 'rent_1', data: {} })}\n\n`;
const retry = 'retry: 1\n\n';

describe('the stream of the typed client', () => {
  let api: ScriptedApi;
  let gpu: GpuRental;

  before(async () => {
    api = await ScriptedApi.start();
    gpu = new GpuRental({ baseUrl: api.url, apiKey: 'gpur_test' });
  });
  after(() => api.stop());

  /** Follows until an event with this number has come. */
  async function followTo(
    seq: number,
    options: Parameters<typeof gpu.events.stream>[0] = {},
  ): Promise<StreamItem[]> {
    const items: StreamItem[] = [];
    for await (const item of gpu.events.stream(options)) {
      items.push(item);
      if (item.kind === 'event' && item.event.seq >= seq) break;
    }
    return items;
  }

  const seqs = (items: readonly StreamItem[]) =>
    items.flatMap((item) => (item.kind === 'event' ? [item.event.seq] : []));
  const kinds = (items: readonly StreamItem[]) => items.map(({ kind }) => kind);
  const lastIds = () => api.arrived.map(({ headers }) => headers['last-event-id']);

  it('asks as who it is for what it wants, and cuts messages out of whatever pieces come', async () => {
    const text = retry + ready(41) + event(42) + event(43);
    api.script(stream(Array.from(text)));
    const items = await followTo(43, { after: 41, types: ['rental.running', 'rental.stopped'] });
    assert.deepEqual(kinds(items), ['connected', 'event', 'event']);
    const [request] = api.arrived;
    assert.equal(request?.path, '/v1/events/stream?types=rental.running,rental.stopped');
    assert.equal(request.headers['authorization'], 'Bearer gpur_test');
    assert.deepEqual(lastIds(), ['41']);
  });

  it('goes on where it was cut, without a gap and without one twice', async () => {
    api.script(
      stream([retry, ready(0), event(1), event(2), 'id: 3\nevent: rental.runn'], 'cut'),
      stream([retry, ready(2), event(3)], 'ended'),
      dies,
      refusal(503, 'temporarily_unavailable'),
      stream([ready(3), event(4)]),
    );
    const items = await followTo(4);
    assert.deepEqual(seqs(items), [1, 2, 3, 4]);
    assert.deepEqual(lastIds(), [undefined, '2', '3', '3', '3']);
    const delays = items.flatMap((item) => (item.kind === 'reconnecting' ? [item.delayMs] : []));
    assert.equal(delays.length, 4);
    assert.ok(
      delays.every((ms) => ms >= 1 && ms < 16),
      String(delays),
    );
  });

  it('moves on under a filter, and tells what can’t be had any more', async () => {
    api.script(
      stream([retry, ready(0), 'id: 7\nevent: seen\ndata: {"lastSeq":7}\n\n'], 'cut'),
      stream(['id: 20\nevent: resync\ndata: {"firstSeq":10,"lastSeq":20}\n\n'], 'cut'),
      stream([ready(20), event(1_000_021, 'feed.resync'), event(1_000_022)]),
    );
    const items = await followTo(1_000_022, { after: 0, types: ['rental.running'] });
    assert.deepEqual(lastIds(), ['0', '7', '20']);
    assert.deepEqual(
      items.filter(({ kind }) => kind === 'resync' || kind === 'seen'),
      [
        { kind: 'seen', lastSeq: 7 },
        { kind: 'resync', firstSeq: 10, lastSeq: 20 },
        { kind: 'resync', lastSeq: 1_000_021 },
      ],
    );
  });

  it('tells balance and meters, and leaves out what it does not know', async () => {
    const balance = { availableCents: 1, ledgerSeq: 3 };
    const meter = { rentalId: 'rent_1', chargedCents: 2 };
    api.script(
      stream([
        `event: balance\ndata: ${JSON.stringify(balance)}\n\nevent: meter\ndata: ${JSON.stringify(meter)}\n\n`,
        'event: weather\ndata: {"sun":true}\n\n:\n\n',
        event(1),
      ]),
    );
    assert.deepEqual((await followTo(1)).slice(0, 2), [
      { kind: 'balance', balance },
      { kind: 'meter', meter },
    ]);
  });

  it('says why the service ended it, and throws what stays refused', async () => {
    api.script(
      stream([ready(0), 'retry: 1\n\nevent: closed\ndata: {"reason":"session_ended"}\n\n'], 'ended'),
      refusal(401, 'unauthorized'),
    );
    const items: StreamItem[] = [];
    await assert.rejects(
      async () => {
        for await (const item of gpu.events.stream()) items.push(item);
      },
      (error) => isApiError(error, 'unauthorized'),
    );
    assert.deepEqual(items[1], { kind: 'closed', reason: 'session_ended' });
  });

  it('never comes back sooner than it was asked to', async () => {
    const asked = stream(
      ['retry: 40000\n\n', ready(0), 'event: closed\ndata: {"reason":"too_many_streams"}\n\n'],
      'ended',
    );
    api.script(asked);
    const enough = new AbortController();
    await assert.rejects(async () => {
      for await (const item of gpu.events.stream({ signal: enough.signal })) {
        if (item.kind !== 'reconnecting') continue;
        assert.ok(item.delayMs >= 40_000 && item.delayMs <= 60_000, String(item.delayMs));
        enough.abort(new Error('enough'));
      }
    }, /enough/);
    api.script(refusal(429, 'rate_limited', { retryAfterSeconds: 7 }, { 'Retry-After': '7' }));
    for await (const item of gpu.events.stream()) {
      assert.ok(item.kind === 'reconnecting' && item.delayMs >= 7_000);
      break;
    }
  });

  it('takes silence for a dead connection', async () => {
    api.script(stream([retry, ready(0)]), stream([event(1)]));
    const items = await followTo(1, { silenceMs: 50 });
    const [lost] = items.filter((item) => item.kind === 'reconnecting');
    assert.match(lost?.error?.message ?? '', /silent for 0\.05 s/);
  });

  it('takes no answer of something else for a stream', async () => {
    api.script({ status: 200, body: '<html>', headers: { 'Content-Type': 'text/html' } }, stream([event(1)]));
    const pauses: number[] = [];
    for await (const item of gpu.events.stream()) {
      if (item.kind === 'event') break;
      if (item.kind === 'reconnecting') pauses.push(item.delayMs);
      if (item.kind === 'reconnecting') assert.match(item.error?.message ?? '', /not an event stream/);
    }
    assert.equal(pauses.length, 1);
  });

  it('lets go of its connection when its loop ends', async () => {
    let closed: Promise<void> | undefined;
    api.script((response) => {
      closed = new Promise((resolve) => response.once('close', () => resolve()));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(event(1));
    });
    await followTo(1);
    await closed;
  });
});
