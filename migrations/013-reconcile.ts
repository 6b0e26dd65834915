import type { Knex } from 'knex';

/**
 * Adds the findings of the comparison of our books with the processor's and the upstreams', and what it could not
 * compare.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table reconcile_runs (
      id bigint generated always as identity primary key,
      scope text not null check (scope in ('window', 'full')),
      started_at timestamptz(3) not null default clock_ms(),
      finished_at timestamptz(3)
    );

    -- The error bar, one row per source ('charges', 'pods:lab'): what is not compared is never counted as fine.
    create table reconcile_sources (
      source text primary key,
      -- Everything that happened before it was compared: the next run begins here, however long the last one is ago.
      compared_until timestamptz(3),
      -- When it was last compared from its very beginning.
      full_at timestamptz(3),
      first_tried_at timestamptz(3) not null default clock_ms(),
      -- Since when, and why, it can't be compared, or not all of it.
      failing_since timestamptz(3),
      failing_why text,
      check ((failing_since is null) = (failing_why is null))
    );

    create table reconcile_findings (
      id bigint generated always as identity primary key,
      kind text not null check (kind ~ '^[a-z_]{1,40}$'),
      -- Which comparison found it: it is resolved by the next run that could make that comparison and did not find it.
      source text not null,
      -- What it is about, once per kind while it stands: pi_…, re_…, in_…, rent_…, led_…, a pod.
      subject text not null,
      -- The ids by which an operator goes on.
      subject_ids jsonb not null,
      -- What each side said when it was last seen.
      evidence jsonb not null,
      state text not null default 'open' check (state in ('open', 'acknowledged', 'resolved')),
      first_run_id bigint not null references reconcile_runs on delete restrict,
      last_run_id bigint not null references reconcile_runs on delete restrict,
      first_seen_at timestamptz(3) not null default clock_ms(),
      last_seen_at timestamptz(3) not null default clock_ms(),
      -- Operators were told by mail.
      told_at timestamptz(3),
      acknowledged_at timestamptz(3),
      acknowledged_by text,
      acknowledged_why text,
      resolved_at timestamptz(3),
      check (last_seen_at >= first_seen_at),
      constraint reconcile_findings_resolved check ((state = 'resolved') = (resolved_at is not null)),
      constraint reconcile_findings_acknowledged check
        (state <> 'acknowledged' or (acknowledged_at is not null and acknowledged_by <> '' and acknowledged_why <> ''))
    );
    -- One that comes back after it was resolved is a new one.
    create unique index reconcile_findings_standing on reconcile_findings (kind, subject) where state <> 'resolved';
    create index reconcile_findings_untold on reconcile_findings (id) where state = 'open' and told_at is null;

    -- What the processor's lists said during one run; both sides are then compared by one statement. Gone with the run.
    create table reconcile_documents (
      run_id bigint not null references reconcile_runs on delete cascade,
      kind text not null check (kind in ('charge', 'refund', 'dispute', 'invoice')),
      -- A charge goes by its payment, where it has one: the ledger's causes name payments.
      id text not null,
      -- The processor's word; 'missing' for what we know of and it does not.
      status text not null,
      payment_id text,
      charge_id text,
      our_id text,
      customer_id text,
      amount_cents bigint not null default 0,
      refunded_cents bigint not null default 0,
      currency text,
      taken boolean not null default false,
      returned boolean not null default false,
      -- When it last changed; null for one that was asked for by its id because it is no news.
      at timestamptz(3),
      primary key (run_id, kind, id)
    );

    -- Ticks are in neither: they cost metering nothing.
    create index ledger_entries_credits on ledger_entries (created_at) where type in ('processor_topup', 'auto_topup');
    create index ledger_entries_charge on ledger_entries (processor_charge_id) where processor_charge_id is not null;
    create index rentals_settled_at on rentals (settled_at) where settled_at is not null;
  `);
}
