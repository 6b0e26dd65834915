import assert from 'node:assert/strict';
import { rotateSession } from '../../../adapters/postgres/accounts/sessions.js';
import { randomUUID } from 'node:crypto';
import { StreamRegistry } from '../../../api/events/registry.js';
import type { EventStream } from '../../../api/events/stream.js';
import { streamLimits } from '../../../domain/events/stream-limits.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { openStream, type StreamClient } from '../../support/http/event-stream.js';
import { insertApiKeyOf, insertSessionOf } from '../../support/money/factories.js';
import { happen, times } from '../../support/service/events.js';
import { until } from '../../support/until.js';

/** Two API processes on one database, as far as streams go. */
describe('the end of a stream', () => {
  let one: TestApi;
  let two: TestApi;
  let user: SignedIn;
  const opened: StreamClient[] = [];

  before(async () => {
    one = await startApi({ timeouts: { headersMs: 500, requestMs: 500, keepAliveMs: 500, idleMs: 500 } });
    two = await startApi({ databaseUrl: one.databaseUrl });
  });
  beforeEach(async () => {
    user = await one.signIn();
  });
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.cut();
  });
  after(async () => {
    await two.stop();
    await one.stop();
  });

  async function open(at: TestApi, sid = user.sid, query = ''): Promise<StreamClient> {
    const stream = await openStream({ url: at.url, sid }, query);
    opened.push(stream);
    return stream;
  }

  const reasonsOf = (stream: StreamClient) => stream.named('closed').map(({ data }) => data['reason']);

  it('comes with the session’s own, in two seconds, in every process, and leaves the user’s other sessions alone', async () => {
    const other = await insertSessionOf(one.db, user.user.id);
    const [here, there, stays] = await Promise.all([open(one), open(two), open(two, other)]);
    const endedMs = performance.now();
    assert.equal((await user.post('/v1/auth/logout')).status, 200);
    await Promise.all([here.awaitClose(), there.awaitClose()]);
    assert.ok(performance.now() - endedMs < streamLimits.commentEveryMs, 'before the next sign of life');
    assert.deepEqual([reasonsOf(here), reasonsOf(there)], [['session_ended'], ['session_ended']]);
    await happen(one.db, user.user.id, times(1));
    await stays.awaitSeq(1);
    assert.equal(stays.isClosed, false);
  });

  it('comes when another session ends it, in two seconds', async () => {
    const other = await insertSessionOf(one.db, user.user.id);
    const stream = await open(two, other);
    const { sessions } = (await user.get('/v1/auth/sessions')).body as unknown as {
      sessions: { id: string; isCurrent: boolean }[];
    };
    const endedMs = performance.now();
    await user.delete(`/v1/auth/sessions/${sessions.find(({ isCurrent }) => !isCurrent)!.id}`);
    await stream.awaitClose();
    assert.ok(performance.now() - endedMs < streamLimits.commentEveryMs, 'before the next sign of life');
    assert.deepEqual(reasonsOf(stream), ['session_ended']);
  });

  it('comes to the streams of a former cookie, which a thief may hold, once the session has another', async () => {
    const [here, there] = await Promise.all([open(one), open(two)]);
    await one.db.transaction(async (trx) => {
      const [row] = await trx('sessions').where({ user_id: user.user.id });
      user.sid = (await rotateSession(trx, row!.token_hash))!.token;
    });
    const stays = await open(one);
    await Promise.all([here.awaitClose(), there.awaitClose()]);
    assert.deepEqual([reasonsOf(here), reasonsOf(there)], [['session_renewed'], ['session_renewed']]);
    await happen(one.db, user.user.id, times(1));
    await stays.awaitSeq(1);
    assert.equal(stays.isClosed, false);
  });

  it('comes to a stream that is opened while the session gets another cookie', async () => {
    for (let round = 0; round < 5; round += 1) {
      const former = user.sid;
      const [row] = await one.db('sessions').where({ user_id: user.user.id });
      const rotating = one.db.transaction((trx) => rotateSession(trx, row!.token_hash));
      const raced = await Promise.allSettled([open(two, former), open(one, former)]);
      user.sid = (await rotating)!.token;
      for (const stream of raced) {
        if (stream.status === 'fulfilled') await stream.value.awaitClose();
      }
    }
  });

  it('comes to the streams of a key whose addresses or cap are changed: what they may be is looked at anew', async () => {
    const { row, token } = await insertApiKeyOf(one.db, user.user.id);
    const byKey = async (): Promise<StreamClient> => {
      const stream = await openStream({ url: two.url }, '', { Authorization: `Bearer ${token}` });
      opened.push(stream);
      return stream;
    };
    const stream = await byKey();
    const change = (body: object) => user.patch(`/v1/api-keys/${row.id}`, body);
    assert.equal((await change({ name: 'renamed' })).status, 200);
    assert.equal((await change({ spendCapCents: 500 })).status, 200);
    await stream.awaitClose();
    assert.deepEqual(reasonsOf(stream), ['key_changed']);
    const capped = await byKey();
    assert.equal((await change({ allowedCidrs: ['192.0.2.0/24'] })).status, 200);
    await capped.awaitClose();
    assert.deepEqual(reasonsOf(capped), ['key_changed']);
    await assert.rejects(byKey(), /403/);
  });

  it('comes when the session’s time is over', async () => {
    const stream = await open(one);
    await one
      .db('sessions')
      .where({ user_id: user.user.id })
      .update({
        created_at: one.db.raw(`clock_ms() - interval '2 s'`),
        expires_at: one.db.raw(`clock_ms() - interval '1 s'`),
      });
    await stream.awaitClose();
    assert.deepEqual(reasonsOf(stream), ['session_ended']);
  });

  it('comes to the oldest when an eleventh is opened, whichever process holds it, and comes back late', async () => {
    const streams: StreamClient[] = [];
    for (let index = 0; index < streamLimits.ofUser; index += 1) {
      streams.push(await open(index % 2 === 0 ? one : two));
    }
    streams.push(await open(two));
    await streams[0]!.awaitClose();
    assert.deepEqual(reasonsOf(streams[0]!), ['too_many_streams']);
    const { retryMs } = streams[0]!;
    assert.ok(retryMs! >= streamLimits.crowdedRetryMinMs && retryMs! <= streamLimits.crowdedRetryMaxMs);
    streams.push(await open(one));
    await streams[1]!.awaitClose();
    await happen(one.db, user.user.id, times(1));
    await Promise.all(streams.slice(2).map((stream) => stream.awaitSeq(1)));
    assert.deepEqual(
      streams.map(({ isClosed }) => isClosed),
      streams.map((_, index) => index < 2),
    );
  });

  it('leaves as many as are allowed when many are opened at once', async () => {
    // The first process cuts whoever waits for half a second, as many do here on a busy machine.
    const three = await startApi({ databaseUrl: one.databaseUrl });
    try {
      const streams = await Promise.all(
        Array.from({ length: streamLimits.ofUser + 4 }, (_, index) => open(index % 2 === 0 ? two : three)),
      );
      await until('four are closed', () => streams.filter(({ isClosed }) => isClosed).length === 4);
      const rows = await one.db('open_streams').where({ user_id: user.user.id, crowded_out: false });
      assert.equal(rows.length, streamLimits.ofUser);
    } finally {
      for (const stream of opened.splice(0)) stream.cut();
      await three.stop();
    }
  });

  it('takes those of a process that is gone first', async () => {
    const [host, session] = [randomUUID(), await one.db('sessions').where({ user_id: user.user.id }).first()];
    const stays = await open(one);
    await one.db.raw(`insert into stream_hosts (id, seen_at) values (?, clock_ms() - interval '1 minute')`, [
      host,
    ]);
    for (let index = 0; index < streamLimits.ofUser - 1; index += 1) {
      await one.db('open_streams').insert({
        ...{ id: randomUUID(), host_id: host, user_id: user.user.id, token_hash: session!.token_hash },
      });
    }
    await open(one);
    const crowdedOut = await one.db('open_streams').where({ user_id: user.user.id, crowded_out: true });
    assert.deepEqual(
      crowdedOut.map((row) => row.host_id),
      [host],
    );
    assert.equal(stays.isClosed, false);
  });

  it('does not come to streams of a process that had none for long, and was not told of as alive', async () => {
    const session = await one.db('sessions').where({ user_id: user.user.id }).first();
    const [killed, idle] = [randomUUID(), randomUUID()];
    await one.db('stream_hosts').insert({ id: killed });
    for (let index = 0; index < streamLimits.ofUser; index += 1) {
      await one.db('open_streams').insert({
        ...{ id: randomUUID(), host_id: killed, user_id: user.user.id, token_hash: session!.token_hash },
      });
    }
    const registry = new StreamRegistry({ db: one.db, watchDb: one.db, hostId: idle });
    const openHere = () =>
      registry.open({
        id: randomUUID(),
        userId: user.user.id,
        holder: { kind: 'session', tokenHash: session!.token_hash },
      } as Partial<EventStream> as EventStream);
    await openHere();
    await one.db.raw(`update stream_hosts set seen_at = clock_ms() - interval '1 minute' where id = ?`, [
      idle,
    ]);
    for (let index = 1; index < streamLimits.ofUser; index += 1) await openHere();
    const crowdedOut = await one.db('open_streams').where({ user_id: user.user.id, crowded_out: true });
    assert.deepEqual([...new Set(crowdedOut.map((row) => row.host_id))], [killed]);
    assert.equal(crowdedOut.length, streamLimits.ofUser);
  });

  it('does not come from a row that was lost: it is written again', async () => {
    const stream = await open(one);
    await one.db('stream_hosts').delete();
    await until('it is written down again', async () =>
      one.db('open_streams').where({ user_id: user.user.id }).first(),
    );
    await happen(one.db, user.user.id, times(1));
    await stream.awaitSeq(1);
    assert.equal(stream.isClosed, false);
  });

  it('does not come from the server’s limits on slow clients', async () => {
    const stream = await open(one);
    await until('twice the longest limit is over', () => performance.now() - stream.heard[0]!.atMs > 1_500);
    await happen(one.db, user.user.id, times(1));
    await stream.awaitSeq(1);
    assert.equal(stream.isClosed, false);
  });

  it('does not come, nor a leftover, when the client leaves while it is opened', async () => {
    const before = one.deps.streams.figures().open;
    await one.db.transaction(async (trx) => {
      // Whoever opens a stream of this user waits.
      await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 100))', [user.user.id]);
      const given = new AbortController();
      const asked = fetch(`${one.url}/v1/events/stream`, {
        headers: { Cookie: `sid=${user.sid!}` },
        signal: given.signal,
      });
      await until('it waits', async () => {
        const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
                           and database = (select oid from pg_database where datname = current_database())`;
        return (await one.db.raw<{ rows: unknown[] }>(waiting)).rows.length > 0;
      });
      given.abort();
      await assert.rejects(asked);
    });
    await until('nothing is left of it', async () => {
      const row = await one.db('open_streams').where({ user_id: user.user.id }).first();
      return row === undefined && one.deps.streams.figures().open === before;
    });
  });

  it('comes with the process’s, with a time to come back that differs', async () => {
    const three = await startApi({ databaseUrl: one.databaseUrl });
    const streams = await Promise.all(Array.from({ length: 8 }, () => open(three)));
    await three.stop();
    await Promise.all(streams.map((stream) => stream.awaitClose()));
    for (const stream of streams) {
      assert.deepEqual(reasonsOf(stream), ['server_stopping']);
      assert.ok(stream.retryMs! >= streamLimits.retryMinMs && stream.retryMs! <= streamLimits.retryMaxMs);
    }
    assert.ok(new Set(streams.map(({ retryMs }) => retryMs)).size > 1);
    assert.deepEqual(await one.db('open_streams').where({ user_id: user.user.id }), []);
    await assert.rejects(
      three.deps.streams.open({} as never, { once: () => undefined } as never, () => undefined),
      { code: 'temporarily_unavailable' },
    );
  });
});
