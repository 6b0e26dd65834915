import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Lets no stuck item stop the others (decision 69, "Items that fail"), and lets no row that is kept for operating stay
 * for ever (decision 70, "Pruned rows"). An index answers what the loops ask each few seconds.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables);
  await knex.raw(indexes);
  await knex.raw(auditTrigger);
  await grant(knex, {
    stuck_items: {
      api: null,
      worker: 'select, insert, update, delete',
      ops: 'select, update (attempts, next_attempt_at, set_aside_at)',
    },
    // A process that stores something for a workflow tells the workflow at once: the API too.
    look_signals: {
      api: 'select, insert, update',
      worker: 'select, insert, update, delete',
      ops: 'select',
    },
    // The rows that the pruning removes (domain/operations/retention.ts).
    intents: { api: null, worker: 'delete', ops: null },
    processor_events: { api: null, worker: 'delete', ops: null },
    mail_outbox: { api: null, worker: 'delete', ops: null },
    allocation_attempts: { api: null, worker: 'delete', ops: null },
    pods: { api: null, worker: 'delete', ops: null },
    meter_shards: { api: null, worker: 'delete', ops: null },
    provider_oddities: { api: null, worker: 'delete', ops: null },
  });
}

const tables = `
  -- Items of the loops whose last try failed; one that succeeds has no row. Whichever loop it is, the next try waits
  -- until its time, and one that used up its tries is set aside: operators are told, and it is tried once an hour.
  create table stuck_items (
    -- What is done with it (domain/operations/stuck.ts), and which item it is: a workflow's id, a row's, a machine's.
    duty text not null check (duty ~ '^[a-z_]{1,40}$'),
    item text not null check (length(item) between 1 and 300),
    attempts int not null check (attempts >= 0),
    last_error text not null,
    first_failed_at timestamptz(3) not null default clock_ms(),
    last_failed_at timestamptz(3) not null default clock_ms(),
    next_attempt_at timestamptz(3) not null,
    set_aside_at timestamptz(3),
    primary key (duty, item)
  );
  create index stuck_items_next on stuck_items (next_attempt_at);
  create index stuck_items_set_aside on stuck_items (set_aside_at) where set_aside_at is not null;

  -- Which workflows were told to look and have not looked since, and how often each was told today: the server takes
  -- a limited number of signals per run, and refuses all others from then on.
  create table look_signals (
    workflow_id text primary key check (length(workflow_id) between 1 and 300),
    workflow_type text not null,
    -- When it was last wanted, told or not.
    wanted_at timestamptz(3) not null,
    -- Since when a signal is unhandled; null: none is.
    told_at timestamptz(3),
    -- How many it was sent on this day (UTC).
    counted_on date not null,
    signals int not null check (signals >= 0)
  );
  create index look_signals_wanted on look_signals (wanted_at);
  create index look_signals_many on look_signals (counted_on) where signals >= 900;
`;

const indexes = `
  create index intents_due on intents (delivered_at nulls first, id) where acknowledged_at is null;
  create index intents_open_of_wallet on intents (wallet_id, kind) where acknowledged_at is null;
  create index intents_rental on intents (rental_no) where rental_no is not null;
  create index intents_done on intents (acknowledged_at) where acknowledged_at is not null;
  create index mail_outbox_sent on mail_outbox (sent_at) where sent_at is not null;
  create index pods_live on pods (provider_code) where gone_at is null;
  create index saved_cards_unnoticed on saved_cards (exp_year, exp_month)
    where removed_at is null and expiry_noticed_at is null;
  create index login_codes_age on login_codes (created_at);
  create index rate_limits_expiry on rate_limits (expire);
  create index audit_events_addresses on audit_events (at) where client_address is not null;
  create index reconcile_findings_resolved on reconcile_findings (resolved_at) where state = 'resolved';
  create index reconcile_findings_first_run on reconcile_findings (first_run_id);
  create index reconcile_findings_last_run on reconcile_findings (last_run_id);
  create index reconcile_runs_age on reconcile_runs (started_at);
`;

/**
 * The event stays for good. The address from which it was requested is cut after 90 days, and never added again
 * (decision 70, "Pruned rows").
 */
const auditTrigger = `
  create or replace function audit_events_stay() returns trigger language plpgsql as $$
  declare
    is_old boolean := old.at < clock_ms() - interval '90 days';
  begin
    if tg_op = 'UPDATE' and to_jsonb(new) - 'client_address' = to_jsonb(old) - 'client_address' then
      if is_old and new.client_address is null then
        return new;
      end if;
      -- A workflow writes what a request asked for; the request adds from where it came.
      if old.client_address is null then
        if is_old then
          new.client_address := null;
        end if;
        return new;
      end if;
    end if;
    raise exception 'what was done is never changed or removed'
      using errcode = 'restrict_violation', constraint = 'audit_events_stay';
  end $$;
`;
