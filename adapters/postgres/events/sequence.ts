import { eventLimits } from '../../../domain/events/limits.js';
import type { Database, Transaction } from '../database.js';
import { SEQUENCER_LOCK } from '../locks.js';

/**
 * Moves what waits. The lock is held until the commit, so that numbers ascend in the order of commits. The statement
 * must start after the lock is held: it must see the heads that the last holder left.
 */
const sequenceStatement = `
with taken as (
  delete from event_outbox where no in (select no from event_outbox order by no limit :batch)
  returning no, id, user_id, type, entity_id, data, at
),
numbered as (
  select t.*, coalesce(f.last_seq, 0) + row_number() over (partition by t.user_id order by t.no) as seq
    from taken t left join event_feeds f on f.user_id = t.user_id
),
heads as (
  insert into event_feeds (user_id, last_seq)
  select user_id, max(seq) from numbered group by user_id order by user_id
  on conflict (user_id) do update set last_seq = excluded.last_seq
),
moved as (
  insert into events (id, user_id, seq, type, entity_id, data, at)
  select id, user_id, seq, type, entity_id, data, at from numbered order by no
  returning 1
)
select count(*)::int as moved from moved`;

/** Tells whether events wait to be numbered. */
export async function areEventsWaiting(db: Database): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { waiting: boolean }[] }>(
    'select exists (select 1 from event_outbox) as waiting',
  );
  return rows[0]?.waiting === true;
}

/**
 * Numbers the events that wait, in one transaction: all of it happened, or nothing (decision 99, "One feed of events").
 * Two sequencers at once do no harm: the second one leaves the work to the first.
 * @returns how many were numbered, `eventLimits.sequenceBatch` at most; 0 while another sequencer works
 */
export async function sequenceEvents(db: Database): Promise<number> {
  return db.transaction(async (trx) => {
    if (!(await isOurTurn(trx))) return 0;
    const { rows } = await trx.raw<{ rows: { moved: number }[] }>(sequenceStatement, {
      batch: eventLimits.sequenceBatch,
    });
    return rows[0]?.moved ?? 0;
  });
}

async function isOurTurn(trx: Transaction): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { ours: boolean }[] }>(
    'select pg_try_advisory_xact_lock(?::bigint) as ours',
    [SEQUENCER_LOCK],
  );
  return rows[0]?.ours === true;
}

/**
 * Steps each user's feed over the numbers that may have been given in the time that a restored database has lost, and
 * tells them so. Clients that know a lost number find nothing under it any more, and nothing new under an old one. Each
 * batch is a transaction, as there may be more users than a statement has time for; nobody numbers events meanwhile,
 * since the database is not confirmed.
 * @param since when the order was given: who was told since then is not told again
 * @param tell told after each batch
 */
export async function stepOverLostEvents(
  db: Database,
  since: Date,
  tell: (detail: { readonly steppedFeeds: number }) => void,
  batch = 5_000,
): Promise<void> {
  let after = '';
  for (let steppedFeeds = 0; ;) {
    const { stepped, last } = await stepSome(db, since, { after, batch });
    steppedFeeds += stepped;
    tell({ steppedFeeds });
    if (last === null) return;
    after = last;
  }
}

interface SteppedSome {
  readonly stepped: number;
  /** The user from whom the next batch goes on; null: there is none. */
  readonly last: string | null;
}

async function stepSome(
  db: Database,
  since: Date,
  { after, batch }: { readonly after: string; readonly batch: number },
): Promise<SteppedSome> {
  return db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(?::bigint)', [SEQUENCER_LOCK]);
    const { rows } = await trx.raw<{ rows: [SteppedSome] }>(
      `with due as (
         select id from users where id > :after order by id limit :batch
       ),
       stepped as (
         insert into event_feeds (user_id, last_seq)
         select id, :step::bigint from due
          where not exists (
            select 1 from event_feeds f join events e on e.user_id = f.user_id and e.seq = f.last_seq
             where f.user_id = due.id and e.type = 'feed.resync' and e.at >= :since)
          order by id
         on conflict (user_id) do update set last_seq = event_feeds.last_seq + :step
         returning user_id, last_seq
       ),
       told as (
         insert into events (id, user_id, seq, type, entity_id, data, at)
         select new_event_id(), user_id, last_seq, 'feed.resync', user_id, '{}', clock_ms() from stepped
         returning 1
       )
       select (select count(*)::int from told) as stepped, max(id) as last from due`,
      { step: eventLimits.restoredStep, since, after, batch },
    );
    return rows[0];
  });
}
