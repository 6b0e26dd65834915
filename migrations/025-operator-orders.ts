import type { Knex } from 'knex';
import { databaseRoles, grant } from './grants.js';

/**
 * Gives Temporal's inputs no authority (decision 87, "Operator orders", and decision 88, "Rows before workflows"):
 * money moves by hand only from a row of `operator_orders`, whose names the database takes from the login. The request
 * of an opening stands in a row that the API has committed.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table operator_orders (
      -- Its workflow's id, and part of the cause of the ledger entry that it makes.
      id text primary key check (id ~ '^op_[0-9A-HJKMNP-TV-Z]{26}$'),
      kind text not null check (kind in ('refund', 'refund_rentals', 'adjust', 'issue_invoice', 'void_invoice',
        'write_off_invoice', 'terminate_rental', 'reconcile_restored')),
      -- What is asked for, as domain/operations/operation.ts says it.
      request jsonb not null,
      amount_cents bigint generated always as ((request ->> 'amountCents')::bigint) stored,
      reason text not null check (btrim(reason) <> '' and length(reason) <= 500),
      -- The name that whoever asks has given; nobody checks it. A login of their own says it better.
      said_by text check (length(said_by) <= 100),
      requested_by text not null,
      requested_at timestamptz(3) not null,
      status text not null check (status in ('requested', 'approved', 'rejected', 'done', 'refused')),
      approved_by text,
      approved_at timestamptz(3),
      rejected_by text,
      rejected_why text check (btrim(rejected_why) <> '' and length(rejected_why) <= 500),
      closed_at timestamptz(3),
      -- Why it was refused, or what came of it.
      code text,
      message text,
      -- As it was written: people read it in this order.
      result json,
      constraint operator_orders_request check (request ->> 'kind' = kind),
      constraint operator_orders_approved check ((approved_by is null) = (approved_at is null)),
      -- Each of the two by a login of their own: one that is shared could be either's.
      constraint operator_orders_two_people check (approved_by is null or
        (approved_by <> requested_by and approved_by like 'operator\\_%' and requested_by like 'operator\\_%')),
      constraint operator_orders_rejected check
        ((status = 'rejected') = (rejected_by is not null) and (rejected_by is null) = (rejected_why is null)),
      constraint operator_orders_closed check ((status in ('requested', 'approved')) = (closed_at is null)),
      constraint operator_orders_done check ((status = 'done') = (result is not null)),
      constraint operator_orders_refused check
        ((status = 'refused') = (code is not null) and (code is null) = (message is null))
    );
    create index operator_orders_age on operator_orders (requested_at);
    create index operator_orders_open on operator_orders (requested_at) where closed_at is null;

    create function operator_orders_requested() returns trigger language plpgsql as $$
    begin
      new.requested_by := session_user;
      new.requested_at := clock_ms();
      new.status := 'requested';
      new.approved_by := null;
      new.approved_at := null;
      return new;
    end $$;
    create trigger operator_orders_requested before insert on operator_orders
      for each row execute function operator_orders_requested();

    -- Who asks and who approves is the login's word; what was asked for stays; what has ended has ended.
    create function operator_orders_changed() returns trigger language plpgsql as $$
    declare
      by_operator boolean := pg_has_role(current_user, '${databaseRoles.ops}', 'member');
      by_worker boolean := pg_has_role(current_user, '${databaseRoles.worker}', 'member');
    begin
      if (new.id, new.kind, new.request, new.reason, new.said_by, new.requested_by, new.requested_at)
         is distinct from (old.id, old.kind, old.request, old.reason, old.said_by, old.requested_by, old.requested_at) then
        raise exception 'what an order asks for is never changed: reject it, and request another one'
          using errcode = 'restrict_violation', constraint = 'operator_orders_stay';
      end if;
      if old.closed_at is not null then
        raise exception 'the order % is % already', old.id, old.status
          using errcode = 'restrict_violation', constraint = 'operator_orders_once';
      end if;
      new.approved_by := old.approved_by;
      new.approved_at := old.approved_at;
      new.rejected_by := null;
      if new.status = old.status then
        return new;
      elsif new.status = 'approved' and old.status = 'requested' and by_operator then
        new.approved_by := session_user;
        new.approved_at := clock_ms();
      elsif new.status = 'rejected' and by_operator then
        new.rejected_by := session_user;
        new.closed_at := clock_ms();
      elsif new.status in ('done', 'refused') and by_worker then
        new.closed_at := clock_ms();
      else
        raise exception 'an order that is % can not become % by %', old.status, new.status, current_user
          using errcode = 'insufficient_privilege', constraint = 'operator_orders_way';
      end if;
      return new;
    end $$;
    create trigger operator_orders_changed before update on operator_orders
      for each row execute function operator_orders_changed();

    create function operator_orders_stay() returns trigger language plpgsql as $$
    begin
      raise exception 'what operators asked for is never removed'
        using errcode = 'restrict_violation', constraint = 'operator_orders_stay';
    end $$;
    create trigger operator_orders_stay before delete on operator_orders
      for each row execute function operator_orders_stay();
    create trigger operator_orders_not_truncated before truncate on operator_orders
      for each statement execute function operator_orders_stay();

    -- Whose login wrote what an operator did: beside the name that they gave, which nobody checks.
    alter table operator_actions add column login text;
    create function operator_actions_login() returns trigger language plpgsql as $$
    begin
      new.login := session_user;
      return new;
    end $$;
    create trigger operator_actions_login before insert on operator_actions
      for each row execute function operator_actions_login();

    -- What a user asked for, committed before the workflow starts that does it. Never changed.
    create table rental_requests (
      id text primary key check (id ~ '^rent_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      family_id text not null,
      gpu_count int not null check (gpu_count in (1, 2, 4, 8)),
      template_id text not null,
      region text,
      name text check (length(name) <= 64),
      ssh_key_ids text[] not null,
      auto_stop_after_ms bigint check (auto_stop_after_ms between 1 and 2592000000),
      max_spend_cents bigint check (max_spend_cents > 0),
      max_price_per_hour_cents bigint check (max_price_per_hour_cents > 0),
      -- Nothing is opened after it (decision 4).
      answer_before timestamptz(3) not null,
      requested_at timestamptz(3) not null default clock_ms()
    );
    create index rental_requests_age on rental_requests (requested_at);

    create table topup_requests (
      id text primary key check (id ~ '^top_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      amount_cents int not null check (amount_cents between 100 and 500000),
      answer_before timestamptz(3) not null,
      requested_at timestamptz(3) not null default clock_ms()
    );
    create index topup_requests_age on topup_requests (requested_at);

    -- Where a machine answered, from the moment that it did until its billing begins.
    create table answered_machines (
      rental_no bigint primary key references rentals on delete cascade,
      host text not null,
      port int not null check (port between 1 and 65535),
      username text not null,
      host_key_fingerprint text,
      answered_at timestamptz(3) not null default clock_ms()
    );
    create index answered_machines_age on answered_machines (answered_at);
  `);
  await grant(knex, {
    operator_orders: {
      api: null,
      worker: 'select, update (status, code, message, result)',
      ops: 'select, insert (id, kind, request, reason, said_by), update (status, rejected_why)',
    },
    rental_requests: { api: 'select, insert', worker: 'select, delete', ops: 'select' },
    topup_requests: { api: 'select, insert', worker: 'select, delete', ops: 'select' },
    answered_machines: { api: null, worker: 'select, insert, update, delete', ops: 'select' },
    // The time of this step identifies the openings that 0.1 began.
    knex_migrations: { api: null, worker: 'select (name, migration_time)', ops: null },
  });
}
