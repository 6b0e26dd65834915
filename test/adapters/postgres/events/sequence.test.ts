import assert from 'node:assert/strict';
import { readClock } from '../../../../adapters/postgres/clock.js';
import type { Database } from '../../../../adapters/postgres/database.js';
import { recordEvent } from '../../../../adapters/postgres/events/outbox.js';
import {
  areEventsWaiting,
  sequenceEvents,
  stepOverLostEvents,
} from '../../../../adapters/postgres/events/sequence.js';
import type { UserId } from '../../../../domain/ids.js';
import { isId } from '../../../../domain/ids.js';
import { newId } from '../../../../adapters/ids.js';
import { insertUser } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

describe('the sequencer', () => {
  let money: MoneyDatabase;
  let db: Database;
  before(async () => {
    money = await openMoneyDatabase();
    db = money.db;
  });
  after(() => money.close());
  beforeEach(async () => {
    for (const table of ['event_outbox', 'event_feeds', 'events']) await db(table).delete();
  });

  const tell = (userId: UserId, entityId: string, on = db) =>
    recordEvent(on, { type: 'topup.expired', userId, entityId, data: { amountCents: 500 } });

  async function feedOf(userId: UserId): Promise<{ seq: number; entity: string }[]> {
    const rows = await db('events').where({ user_id: userId }).orderBy('seq');
    return rows.map(({ seq, entity_id: entity }) => ({ seq, entity }));
  }

  it('numbers the events of each user from 1 on without a gap, in the order of their writing', async () => {
    const [one, two] = [newId('usr'), newId('usr')];
    for (const [user, entity] of [
      [one, 'a'],
      [two, 'b'],
      [one, 'c'],
    ] as const) {
      await tell(user, entity);
    }
    assert.equal(await areEventsWaiting(db), true);
    assert.equal(await sequenceEvents(db), 3);
    assert.equal(await areEventsWaiting(db), false);
    await tell(one, 'd');
    assert.equal(await sequenceEvents(db), 1);
    assert.deepEqual(await feedOf(one), [
      { seq: 1, entity: 'a' },
      { seq: 2, entity: 'c' },
      { seq: 3, entity: 'd' },
    ]);
    assert.deepEqual(await feedOf(two), [{ seq: 1, entity: 'b' }]);
    const heads = await db('event_feeds').orderBy('last_seq', 'desc').select('user_id', 'last_seq');
    assert.deepEqual(heads, [
      { user_id: one, last_seq: 3 },
      { user_id: two, last_seq: 1 },
    ]);
  });

  it('keeps what was told as it was: id, type, data and instant', async () => {
    const user = newId('usr');
    await tell(user, 'top_1');
    const waiting = await db('event_outbox').first();
    await sequenceEvents(db);
    const event = await db('events').first();
    assert.ok(waiting && event);
    const { id, user_id, type, entity_id, data, at } = event;
    const { no, ...told } = waiting;
    assert.ok(no > 0);
    assert.deepEqual({ id, user_id, type, entity_id, data, at }, told);
    assert.deepEqual([event.seq, type, data], [1, 'topup.expired', { amountCents: 500 }]);
    assert.ok(isId('evt', id));
    assert.ok(event.sequenced_at >= at);
  });

  it('gives ids that are unique, and that ascend with time', async () => {
    const { rows } = await db.raw<{ rows: { id: string }[] }>(
      'select new_event_id() as id from generate_series(1, 5000)',
    );
    assert.equal(new Set(rows.map(({ id }) => id)).size, 5_000);
    const readClockMs = async (): Promise<number> => {
      const { rows: clock } = await db.raw<{ rows: { ms: number }[] }>('select epoch_ms(clock_ms()) as ms');
      return clock[0]!.ms;
    };
    const before = await readClockMs();
    const { rows: later } = await db.raw<{ rows: { id: string }[] }>('select new_event_id() as id');
    const after = await readClockMs();
    assert.ok(later[0] && rows[0] && later[0].id > rows[0].id);
    const time = later[0].id
      .slice(4, 14)
      .split('')
      .reduce((ms, letter) => ms * 32 + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter), 0);
    assert.ok(before <= time && time <= after, 'a ULID begins with its time');
  });

  it('tells nothing of a transaction that was rolled back, and leaves one that is open to later', async () => {
    const user = newId('usr');
    const slow = await db.transaction();
    await recordEvent(slow, {
      type: 'ssh_key.added',
      userId: user,
      entityId: 'slow',
      data: { fingerprint: 'SHA256:0' },
    });
    const failing = await db.transaction();
    await recordEvent(failing, {
      type: 'ssh_key.added',
      userId: user,
      entityId: 'failing',
      data: { fingerprint: 'SHA256:0' },
    });
    await failing.rollback();
    await tell(user, 'quick');
    assert.equal(await sequenceEvents(db), 1, 'an open transaction holds no other up');
    await slow.commit();
    assert.equal(await sequenceEvents(db), 1);
    assert.deepEqual(await feedOf(user), [
      { seq: 1, entity: 'quick' },
      { seq: 2, entity: 'slow' },
    ]);
  });

  it('numbers nothing while another one works, and goes on after it', async () => {
    await tell(newId('usr'), 'a');
    const other = await db.transaction();
    await other.raw(`select pg_advisory_xact_lock(x'65766e74'::int::bigint)`);
    assert.equal(await sequenceEvents(db), 0);
    await other.rollback();
    assert.equal(await sequenceEvents(db), 1);
  });

  it('gives global numbers that ascend from one round to the next, and in order within a round', async () => {
    const users = Array.from({ length: 50 }, () => newId('usr'));
    const seen: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(users.map((user) => tell(user, `${round}`)));
      const outbox = await db('event_outbox').orderBy('no').pluck<string[]>('id');
      const last = Math.max(0, ...seen);
      await sequenceEvents(db);
      const now = await db('events').where('no', '>', last).orderBy('no').select('no', 'id');
      assert.deepEqual(
        now.map(({ id }) => id),
        outbox,
      );
      seen.push(...now.map(({ no }) => no));
    }
    assert.equal(seen.length, 200);
  });

  it('numbers each event once when many sequencers race', async () => {
    const user = newId('usr');
    for (let no = 0; no < 60; no += 1) await tell(user, `${no}`);
    let writing = 0;
    const racing = Array.from({ length: 4 }, async () => {
      while (await areEventsWaiting(db)) {
        if (writing < 20) await tell(user, `late-${(writing += 1)}`);
        await sequenceEvents(db);
      }
    });
    await Promise.all(racing);
    const feed = await feedOf(user);
    assert.deepEqual(
      feed.map(({ seq }) => seq),
      feed.map((_event, index) => index + 1),
    );
    assert.equal(new Set(feed.map(({ entity }) => entity)).size, feed.length);
    assert.ok(feed.length >= 60);
  });

  it('steps over the lost numbers of a restored database, and says so to each user', async () => {
    const [known, silent] = [await insertUser(db), await insertUser(db)];
    await tell(known.id, 'a');
    await sequenceEvents(db);
    await stepOverLostEvents(db, new Date(0), () => undefined);
    await tell(known.id, 'b');
    await sequenceEvents(db);
    const feed = await db('events').where({ user_id: known.id }).orderBy('seq').select('seq', 'type');
    assert.deepEqual(feed, [
      { seq: 1, type: 'topup.expired' },
      { seq: 1_000_001, type: 'feed.resync' },
      { seq: 1_000_002, type: 'topup.expired' },
    ]);
    const other = await db('events').where({ user_id: silent.id }).select('seq', 'type');
    assert.deepEqual(other, [{ seq: 1_000_000, type: 'feed.resync' }]);
  });

  it('steps over them batch by batch, and once for each user however often it begins anew', async () => {
    const users = Array.from({ length: 5 }, () => insertUser(db));
    const ids = (await Promise.all(users)).map(({ id }) => id);
    const { length: all } = await db('users').select('id');
    const since = await readClock(db);
    const dying = (): never => {
      throw new Error('the worker dies');
    };
    await assert.rejects(stepOverLostEvents(db, since, dying, 2), /dies/);
    const heard: number[] = [];
    await stepOverLostEvents(db, since, ({ steppedFeeds }) => heard.push(steppedFeeds), 2);
    const told = await db('events').select('user_id', 'seq', 'type').whereIn('user_id', ids);
    assert.deepEqual(
      told.map(({ user_id, seq, type }) => [user_id, seq, type]).toSorted(),
      ids.map((id) => [id, 1_000_000, 'feed.resync']).toSorted(),
    );
    assert.equal(heard.at(-1), all - 2);
    assert.ok(heard.length >= 3, heard.join());
    const later = new Date((await readClock(db)).getTime() + 1);
    await stepOverLostEvents(db, later, () => undefined);
    const [again] = await db('event_feeds').where({ user_id: ids[0]! }).select('last_seq');
    assert.equal(again?.last_seq, 2_000_000, 'a later restore steps again');
  });
});
