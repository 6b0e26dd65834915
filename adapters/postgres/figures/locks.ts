import type { FigureGroup } from '../../metrics/figures.js';

/** PostgreSQL's own view of this database's sessions. An opening may hold its wallet for 20 s, all else for less. */
export const lockFigures: FigureGroup = {
  name: 'locks',
  metrics: {
    oldest_wallet_lock_seconds: {
      help: 'Age of the oldest transaction that holds a lock on a wallet; 0: none.',
    },
    oldest_transaction_seconds: { help: 'Age of the oldest open transaction; 0: none.' },
    sessions_waiting_for_lock: { help: 'Sessions that wait for a lock of another one.' },
    sessions_unseen: {
      help: 'Sessions of other users whose age this one may not see: grant it pg_read_all_stats.',
    },
  },
  async read(trx) {
    const { rows } = await trx.raw<{
      rows: { lock: number; age: number; waiting: number; unseen: number }[];
    }>(
      `with sessions as materialized (
         select pid, xact_start, wait_event_type, query = '<insufficient privilege>' as unseen
           from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()
            and (backend_type = 'client backend' or backend_type is null)
       )
       select coalesce(extract(epoch from clock_timestamp() - min(xact_start) filter (where pid in (
                select l.pid from pg_locks l
                 where l.locktype = 'relation' and l.granted and l.mode in ('RowShareLock', 'RowExclusiveLock')
                   and l.relation = 'wallets'::regclass))), 0)::float8 as lock,
              coalesce(extract(epoch from clock_timestamp() - min(xact_start)), 0)::float8 as age,
              count(*) filter (where wait_event_type = 'Lock') as waiting,
              count(*) filter (where unseen) as unseen
         from sessions`,
    );
    const now = rows[0];
    return [
      { metric: 'oldest_wallet_lock_seconds', value: Math.max(0, now?.lock ?? 0) },
      { metric: 'oldest_transaction_seconds', value: Math.max(0, now?.age ?? 0) },
      { metric: 'sessions_waiting_for_lock', value: now?.waiting ?? 0 },
      { metric: 'sessions_unseen', value: now?.unseen ?? 0 },
    ];
  },
};
