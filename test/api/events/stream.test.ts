import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { openDatabase } from '../../../adapters/postgres/database.js';
import { streamLimits } from '../../../domain/events/stream-limits.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { askForStream, openStream, type StreamClient } from '../../support/http/event-stream.js';
import { happen, newcomer, prune, times } from '../../support/service/events.js';
import { until } from '../../support/until.js';

const DASHBOARD = 'https://app.example.com';

describe('GET /v1/events/stream', () => {
  let api: TestApi;
  let user: SignedIn;
  const opened: StreamClient[] = [];

  before(async () => {
    api = await startApi({ settings: { allowedOrigins: [DASHBOARD], requestsAtOnce: 1 } });
  });
  beforeEach(async () => {
    user = await newcomer(api);
  });
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.cut();
  });
  after(() => api.stop());

  const open = async (query = '', headers: Record<string, string> = {}, at = user): Promise<StreamClient> => {
    const stream = await openStream(at, query, headers);
    opened.push(stream);
    return stream;
  };

  /** As many numbers, from this one on. */
  const numbers = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);

  it('begins now, and tells what happens with the same JSON as the pages', async () => {
    await happen(api.db, user.user.id, times(2));
    const stream = await open();
    const [ready] = stream.heard;
    assert.deepEqual([ready?.name, ready?.id, ready?.data], ['ready', 2, { afterSeq: 2, lastSeq: 2 }]);
    await happen(api.db, user.user.id, ['card.saved', 'ssh_key.removed'], { fingerprint: 'x\n\ndata: x' });
    await stream.awaitSeq(4);
    const { events } = (await user.get('/v1/events?after=2')).body as unknown as { events: object[] };
    assert.deepEqual(
      stream.events().map(({ data }) => data),
      events,
    );
    assert.deepEqual(
      stream.events().map(({ name, id }) => [name, id]),
      [
        ['card.saved', 3],
        ['ssh_key.removed', 4],
      ],
    );
  });

  it('tells nothing that happens to others', async () => {
    const other = await newcomer(api);
    const stream = await open();
    await happen(api.db, other.user.id, times(3));
    await happen(api.db, user.user.id, ['card.saved']);
    await stream.awaitSeq(1);
    assert.deepEqual(
      stream.events().map(({ name }) => name),
      ['card.saved'],
    );
  });

  it('has the headers that keep everybody between from keeping or packing it', async () => {
    const stream = await open('', { 'Accept-Encoding': 'gzip, br' });
    const { headers } = stream.response;
    assert.equal(headers['content-type'], 'text/event-stream');
    assert.equal(headers['cache-control'], 'no-store, no-transform');
    assert.equal(headers['x-accel-buffering'], 'no');
    assert.equal(headers['content-encoding'], undefined);
    assert.ok(stream.retryMs! >= streamLimits.retryMinMs && stream.retryMs! <= streamLimits.retryMaxMs);
  });

  it('answers a HEAD at once', async () => {
    const { status, headers } = await user.send('HEAD', '/v1/events/stream', undefined, {});
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream']);
  });

  describe('after a number', () => {
    it('tells all pages since, and goes live without a gap or anything twice', async () => {
      await happen(api.db, user.user.id, times(3 * streamLimits.pageSize));
      const busy = { is: true };
      const going = (async () => {
        while (busy.is) await happen(api.db, user.user.id, times(3));
      })();
      const streams = await Promise.all([open('?after=0'), open('?after=0'), open('?after=100')]);
      await until('some happened live', () => streams[0].seqs().length > 3 * streamLimits.pageSize + 20);
      busy.is = false;
      await going;
      const last = (await api.db('event_feeds').where({ user_id: user.user.id }).first())!.last_seq;
      for (const [index, stream] of streams.entries()) {
        await stream.awaitSeq(last);
        assert.deepEqual(stream.seqs(), numbers(index === 2 ? 101 : 1, last));
      }
    });

    it('takes Last-Event-ID before the address', async () => {
      await happen(api.db, user.user.id, times(5));
      const stream = await open('?after=1', { 'Last-Event-ID': '3' });
      assert.deepEqual(stream.heard[0]!.data, { afterSeq: 3, lastSeq: 5 });
      await stream.awaitSeq(5);
      assert.deepEqual(stream.seqs(), [4, 5]);
    });

    it('refuses a Last-Event-ID that is no number, and unknown types', async () => {
      for (const id of ['abc', '-1', '1.5', '9'.repeat(16), '9'.repeat(40)]) {
        const { status, body } = await user.get('/v1/events/stream', { 'Last-Event-ID': id });
        assert.deepEqual([status, body.details.fields[0]?.field], [400, 'Last-Event-ID'], id);
      }
      const { status, body } = await user.get('/v1/events/stream?types=rental');
      assert.deepEqual([status, body.details.fields[0]?.field], [400, 'types']);
    });

    for (const [what, after, firstSeq] of [
      ['beyond the newest event', 9, 1],
      ['before the oldest that is kept', 1, 4],
    ] as const) {
      it(`${what}, it says resync and goes on live`, async () => {
        await happen(api.db, user.user.id, times(6));
        await prune(api.db, user.user.id, firstSeq - 1);
        const stream = await open(`?after=${after}`);
        const [resync] = stream.heard;
        assert.deepEqual([resync?.name, resync?.id, resync?.data], ['resync', 6, { firstSeq, lastSeq: 6 }]);
        await happen(api.db, user.user.id, ['card.saved']);
        await stream.awaitSeq(7);
        assert.deepEqual(stream.seqs(), [7]);
      });
    }

    it('takes the step of a restored database for what it is', async () => {
      await happen(api.db, user.user.id, times(1));
      const stream = await open();
      await api.db('event_feeds').where({ user_id: user.user.id }).update({ last_seq: 1_000_000 });
      await happen(api.db, user.user.id, ['feed.resync', 'card.saved']);
      await stream.awaitSeq(1_000_002);
      assert.deepEqual(
        stream.events().map(({ name, id }) => [name, id]),
        [
          ['feed.resync', 1_000_001],
          ['card.saved', 1_000_002],
        ],
      );
    });
  });

  describe('with a filter', () => {
    it('tells only that, and moves the id on past the rest, old and new', async () => {
      await happen(api.db, user.user.id, ['card.saved', ...times(5)]);
      const stream = await open('?after=0&types=card.saved,card.removed');
      await stream.awaitSeq(6);
      await happen(api.db, user.user.id, times(4));
      await stream.awaitSeq(10);
      await happen(api.db, user.user.id, [...times(2), 'card.removed']);
      await stream.awaitSeq(13);
      assert.deepEqual(stream.seqs(), [1, 13]);
      const again = await open('?types=card.removed', { 'Last-Event-ID': '10' });
      await again.awaitSeq(13);
      assert.deepEqual(again.seqs(), [13]);
    });
  });

  describe('and other requests', () => {
    it('takes no turn of its user', async () => {
      const streams = await Promise.all(Array.from({ length: streamLimits.ofUser }, () => open()));
      assert.equal((await user.get('/v1/events')).status, 200);
      assert.ok(streams.every(({ isClosed }) => !isClosed));
    });

    it('is refused to pages of foreign origins, and open to those of the list', async () => {
      const { status, body } = await user.get('/v1/events/stream', { Origin: 'https://evil.example.com' });
      assert.deepEqual([status, body.error], [403, 'forbidden']);
      const stream = await open('', { Origin: DASHBOARD });
      const { headers } = stream.response;
      assert.equal(headers['access-control-allow-origin'], DASHBOARD);
      assert.equal(headers['access-control-allow-credentials'], 'true');
    });

    it('lets a page of the list send Last-Event-ID', async () => {
      const preflight = await fetch(`${api.url}/v1/events/stream`, {
        method: 'OPTIONS',
        headers: { Origin: DASHBOARD, 'Access-Control-Request-Method': 'GET' },
      });
      assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Last-Event-ID/);
    });
  });

  it('cuts a client that does not read, and nobody else', async () => {
    const reader = await open();
    const before = api.deps.streams.figures().open;
    const port = Number(new URL(api.url).port);
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: a\r\nCookie: sid=${user.sid!}\r\n\r\n`);
    await once(socket, 'data');
    socket.pause();
    assert.equal(api.deps.streams.figures().open, before + 1);
    // The kernels of both sides take some megabytes before anything waits in the process.
    const big = { fingerprint: 'x'.repeat(200_000) };
    for (let sent = 0; api.deps.streams.figures().open > before; sent += 1) {
      assert.ok(sent < 200, 'it is cut in the end');
      await happen(api.db, user.user.id, times(1), big);
      await reader.awaitSeq(sent + 1);
    }
    assert.equal(reader.isClosed, false);
    socket.destroy();
  });

  it('waits while the database is away, and goes on from where it was', async () => {
    await happen(api.db, user.user.id, times(1));
    const stream = await open();
    const name = new URL(api.databaseUrl).pathname.slice(1);
    const elsewhere = openDatabase(api.databaseUrl.replace(/[^/]+$/, 'postgres'), 1, 'test');
    try {
      await elsewhere.raw('alter database ?? with allow_connections false', [name]);
      await elsewhere.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = ? and application_name = 'api'`,
        [name],
      );
      await until('a look has failed', () =>
        api.logged.some(({ msg, what }) => msg === 'streams wait; nothing is lost' && what === 'new events'),
      );
      // The test's own connections live on.
      await happen(api.db, user.user.id, times(2));
    } finally {
      await elsewhere.raw('alter database ?? with allow_connections true', [name]);
      await elsewhere.destroy();
    }
    await stream.awaitSeq(3);
    assert.deepEqual(stream.seqs(), [2, 3]);
    assert.equal(stream.isClosed, false);
  });

  it('reads anew when the database was set back to an earlier state', async () => {
    await happen(api.db, user.user.id, times(5));
    const stream = await open();
    const other = await newcomer(api);
    const ahead = await open('', {}, other);
    await happen(api.db, other.user.id, ['card.saved']);
    await ahead.awaitSeq(1);
    const all = await api.db('events').where({ user_id: user.user.id }).orderBy('seq');
    await api.db.transaction(async (trx) => {
      await trx('events').where('no', '>', all[2]!.no).delete();
      await trx('event_feeds').where({ user_id: user.user.id }).update({ last_seq: 3 });
      await trx('event_feeds').where({ user_id: other.user.id }).delete();
      await trx.raw(`select setval(pg_get_serial_sequence('events', 'no'), ?)`, [all[2]!.no]);
    });
    const resync = await stream.await('resync');
    assert.deepEqual([resync.id, resync.data], [3, { firstSeq: 1, lastSeq: 3 }]);
    await happen(api.db, user.user.id, ['card.removed']);
    await stream.awaitSeq(4);
    assert.deepEqual(stream.events().at(-1)?.name, 'card.removed');
  });

  it('keeps nothing of a client that left', async () => {
    const stream = await open();
    await until('it is written down', async () => (await openRows()) === 1);
    stream.cut();
    await until('its row is gone', async () => (await openRows()) === 0);
    assert.equal(api.deps.streams.figures().open, 0);
  });

  async function openRows(): Promise<number> {
    return (await api.db('open_streams').where({ user_id: user.user.id })).length;
  }

  it('says what it is to one without a session', async () => {
    const response = await askForStream({ url: api.url, sid: undefined });
    assert.equal(response.statusCode, 401);
    assert.match(await textOf(response), /unauthorized/);
  });
});
