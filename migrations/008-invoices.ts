import type { Knex } from 'knex';

/** Adds auto-topup, the life of invoices, and operators' work by hand. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The settings of auto-topup, and when it may fire next. The metering statement reads it for each wallet it
    -- charges; no row, and it costs nothing.
    create table auto_topups (
      wallet_id bigint primary key references wallets on delete restrict,
      user_id text not null unique references users on delete restrict,
      enabled boolean not null,
      threshold_cents int check (threshold_cents between 100 and 100000),
      topup_amount_cents int not null check (topup_amount_cents between 1000 and 500000),
      daily_cap_cents int check (daily_cap_cents between 1000 and 5000000),
      -- Why it is off; null when its owner wished so, or it is on.
      disabled_why text check (disabled_why in ('charge_failed', 'card_removed', 'card_expired')),
      -- The cooldown of decision 34: set when an attempt begins, and whenever there is nothing to do but to wait.
      next_attempt_at timestamptz(3),
      updated_at timestamptz(3) not null default clock_ms(),
      constraint auto_topups_threshold check (not enabled or threshold_cents is not null),
      constraint auto_topups_disabled check (disabled_why is null or not enabled)
    );

    -- An attempt of auto-topup is a top-up that nobody asked for; it is apart from the user's own (decision 32).
    alter table topups drop constraint topups_source;
    alter table topups drop constraint topups_saved_card;
    alter table topups
      add constraint topups_source check (source in ('checkout', 'saved_card', 'auto_topup')),
      add constraint topups_saved_card check (source not in ('saved_card', 'auto_topup') or pm_id is not null);
    create unique index topups_one_auto on topups (user_id) where source = 'auto_topup' and closed_at is null;

    alter table invoices
      -- Somebody wants it void. It is void once the processor's invoice is, which may turn out to be paid.
      add void_requested_at timestamptz(3),
      add void_reason text,
      -- An operator gives it up before its time.
      add write_off_requested_at timestamptz(3),
      -- The payment that settled it; null when it was paid out of band, or is not paid.
      add payment_id text unique,
      -- Its workflow should look at it: at first, and whenever somebody changed what it goes by.
      add attention_at timestamptz(3) default clock_ms(),
      add told_at timestamptz(3),
      -- Nothing more is expected but a late payment.
      add closed_at timestamptz(3),
      add constraint invoices_void_reason check ((void_requested_at is null) = (void_reason is null)),
      add constraint invoices_due check (due_at is null or finalized_at is not null);
    create index invoices_attention on invoices (attention_at) where attention_at is not null;
    create index invoices_unclosed on invoices (id) where closed_at is null;
    -- Decision 35: at most one offer is open per user.
    create unique index invoices_one_offer on invoices (user_id)
      where reason = 'topup_failed' and status in ('draft', 'open') and void_requested_at is null;

    create table operator_actions (
      id text primary key check (id ~ '^op_[0-9A-HJKMNP-TV-Z]{26}$'),
      kind text not null,
      operator text not null check (operator <> ''),
      reason text not null check (reason <> ''),
      -- What was asked for, and what came of it.
      request jsonb not null,
      result jsonb not null,
      done_at timestamptz(3) not null default clock_ms()
    );
    create index operator_actions_age on operator_actions (done_at);
    create function operator_actions_stay() returns trigger language plpgsql as $$
    begin
      raise exception 'what operators did is never changed or removed'
        using errcode = 'restrict_violation', constraint = 'operator_actions_stay';
    end $$;
    create trigger operator_actions_stay before update or delete on operator_actions
      for each row execute function operator_actions_stay();
    create trigger operator_actions_not_truncated before truncate on operator_actions
      for each statement execute function operator_actions_stay();
  `);
}
