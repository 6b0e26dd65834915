import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';
import { toldEvents } from '../story/told-events.js';

/** What was told: the type, and the data that a test cares for. */
export type Telling = readonly [type: string, data?: Readonly<Record<string, unknown>>];

/** Something that is done to a user's account, and what their feed tells of it. */
export interface Deed {
  readonly userId: string;
  readonly act: () => Promise<unknown>;
  readonly tells: readonly Telling[];
  /** Set where doing it again is another deed. */
  readonly once?: true;
}

/**
 * Asserts that a deed and its events are one: while no event can be written, the deed changes nothing at all. Done by
 * two at once and then a third time, it is told once, exactly as it should.
 */
export async function assertToldOnce(db: Database, { userId, act, tells, once }: Deed): Promise<void> {
  const before = await pictureOf(db);
  const toldBefore = (await toldEvents(db, userId)).length;
  await withoutOutbox(db, async () => {
    await assert.rejects(act(), /the outbox is closed/);
  });
  assert.deepEqual(await pictureOf(db), before, 'without its events, nothing is done');
  if (once === true) await act();
  else {
    await Promise.allSettled([act(), act()]);
    // A third try may be refused: what counts is what is told.
    await act().catch(() => undefined);
  }
  const told = (await toldEvents(db, userId)).slice(toldBefore);
  assert.deepEqual(
    told.map(({ type }) => type),
    tells.map(([type]) => type),
    JSON.stringify(told),
  );
  for (const [index, [, data]] of tells.entries()) {
    if (data !== undefined) assert.deepEqual(told[index]?.data, data);
  }
}

/** Runs something while every event is refused. */
async function withoutOutbox(db: Database, work: () => Promise<void>): Promise<void> {
  await db.raw(`
    create or replace function refuse_events() returns trigger language plpgsql as $$
    begin raise exception 'the outbox is closed' using errcode = 'object_not_in_prerequisite_state'; end $$;
    create trigger refuse_events before insert on event_outbox for each statement execute function refuse_events()`);
  try {
    await work();
  } finally {
    await db.raw('drop trigger refuse_events on event_outbox');
  }
}

/** A sum over the rows of each table. Attempts are committed by themselves, and upstreams are asked in between. */
async function pictureOf(db: Database): Promise<Record<string, string>> {
  const { rows: tables } = await db.raw<{ rows: { name: string }[] }>(
    `select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'
        and table_name not in ('allocation_attempts', 'event_outbox', 'knex_migrations', 'knex_migrations_lock')
      order by 1`,
  );
  const picture: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await db.raw<{ rows: { sum: string }[] }>(
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as sum from ?? t`,
      [name],
    );
    picture[name] = rows[0]?.sum ?? '';
  }
  return picture;
}
