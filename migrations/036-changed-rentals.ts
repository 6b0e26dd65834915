import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Lets rentals be changed after their creation, and labelled (decision 105, "Changed rentals"). What was asked, when it
 * held and what it replaced stays: bills rest on it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- By which statements are grouped; fixed once the rental is settled.
    create table rental_labels (
      rental_no bigint not null references rentals on delete restrict,
      user_id text not null references users on delete restrict,
      -- No rental has more than ten.
      place int not null check (place between 1 and 10),
      key text not null check (key ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
      value text not null check (length(value) <= 255),
      primary key (rental_no, key),
      constraint rental_labels_place unique (rental_no, place)
    );
    create index rental_labels_value on rental_labels (user_id, key, value, rental_no desc);

    create function rental_labels_stay() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from rentals where no = coalesce(new.rental_no, old.rental_no) and settled_at is not null) then
        raise exception 'the labels of a settled rental stay as they are'
          using errcode = 'restrict_violation', constraint = 'rental_labels_stay';
      end if;
      return coalesce(new, old);
    end $$;
    create trigger rental_labels_stay before insert or update or delete on rental_labels
      for each row execute function rental_labels_stay();

    alter table rental_requests add labels jsonb check (jsonb_typeof(labels) = 'object');

    -- What a user asked to change, committed before the workflow is told, and what came of it.
    create table rental_changes (
      id text primary key check (id ~ '^chg_[0-9A-HJKMNP-TV-Z]{26}$'),
      rental_no bigint not null references rentals on delete restrict,
      user_id text not null references users on delete restrict,
      -- The fields that were sent, and no others: name, labels, maxSpendCents, autoStopAt, autoStopAfterMs.
      asked jsonb not null check (jsonb_typeof(asked) = 'object'),
      -- Nothing is changed after it (decision 4).
      answer_before timestamptz(3) not null,
      asked_at timestamptz(3) not null default clock_ms(),
      answered_at timestamptz(3),
      -- The code, message and details of a refusal; null when it was done.
      refused jsonb,
      -- From when on the new limits hold, and what they replaced; null when no limit was changed.
      limits_at timestamptz(3),
      was_max_spend_cents bigint,
      was_auto_stop_at timestamptz(3),
      new_max_spend_cents bigint,
      new_auto_stop_at timestamptz(3),
      constraint rental_changes_answered check (answered_at is not null or (refused is null and limits_at is null)),
      constraint rental_changes_refused check (refused is null or limits_at is null),
      -- Limits are done by whoever says from when on they hold.
      constraint rental_changes_limits check (
        answered_at is null or refused is not null or limits_at is not null
        or not jsonb_exists_any(asked, array['maxSpendCents', 'autoStopAt', 'autoStopAfterMs']))
    );
    create index rental_changes_of_rental on rental_changes (rental_no, asked_at);
    create index rental_changes_age on rental_changes (asked_at) where answered_at is null;

    create function rental_changes_stay() returns trigger language plpgsql as $$
    begin
      if tg_op = 'TRUNCATE' or old.answered_at is not null
         or (tg_op = 'UPDATE' and (new.id, new.rental_no, new.user_id, new.asked, new.answer_before, new.asked_at)
               is distinct from (old.id, old.rental_no, old.user_id, old.asked, old.answer_before, old.asked_at)) then
        raise exception 'what a change asked for, and what came of it, is never changed'
          using errcode = 'restrict_violation', constraint = 'rental_changes_stay';
      end if;
      return case tg_op when 'DELETE' then old else new end;
    end $$;
    create trigger rental_changes_stay before update or delete on rental_changes
      for each row execute function rental_changes_stay();
    create trigger rental_changes_not_truncated before truncate on rental_changes
      for each statement execute function rental_changes_stay();

    -- One more kind, whichever there are by now.
    do $$ begin
      execute (
        select 'alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check check ('
               || pg_get_expr(conbin, conrelid) || ' or kind = ''rental_changed'')'
          from pg_constraint where conname = 'audit_events_kind_check' and conrelid = 'audit_events'::regclass);
    end $$;
  `);
  // A name is a word of its user's: no money rests on it.
  await knex.raw('grant update (name) on rentals to gpu_rental_api');
  await grant(knex, {
    rental_labels: { api: 'select, insert, delete', worker: 'select, insert, delete', ops: 'select' },
    rental_changes: {
      api: 'select, insert (id, rental_no, user_id, asked, answer_before, answered_at)',
      worker:
        'select, delete, update (answered_at, refused, limits_at, was_max_spend_cents, was_auto_stop_at, new_max_spend_cents, new_auto_stop_at)',
      ops: 'select',
    },
  });
}
