import type { Knex } from 'knex';

/** Adds the audit trail of users' accounts and money (decision 59, "The audit trail"). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table audit_events (
      no bigint generated always as identity primary key,
      id text not null unique check (id ~ '^aud_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      kind text not null check (kind in ('signed_in', 'signed_out', 'ssh_key_added', 'ssh_key_removed',
        'rental_created', 'rental_stopped', 'checkout_begun', 'card_saved', 'card_removed', 'auto_topup_changed',
        'changed_by_operator')),
      -- The key, rental, top-up, card or operation that it is about.
      entity_id text,
      -- What that entity's own row does not keep, such as settings that are overwritten.
      details jsonb check (jsonb_typeof(details) = 'object'),
      -- From where; null where no request of the user's is known.
      client_address text check (length(client_address) between 1 and 64),
      at timestamptz(3) not null default clock_ms()
    );
    -- A request that is sent again is the same event.
    create unique index audit_events_once on audit_events (kind, entity_id) where entity_id is not null;
    create index audit_events_newest on audit_events (user_id, no desc);
    create index audit_events_by_kind on audit_events (user_id, kind, no desc);

    create function audit_events_stay() returns trigger language plpgsql as $$
    begin
      -- A workflow writes what a request asked for; the request adds from where it came.
      if tg_op = 'UPDATE' and old.client_address is null
         and to_jsonb(new) - 'client_address' = to_jsonb(old) - 'client_address' then
        return new;
      end if;
      raise exception 'what was done is never changed or removed'
        using errcode = 'restrict_violation', constraint = 'audit_events_stay';
    end $$;
    create trigger audit_events_stay before update or delete on audit_events
      for each row execute function audit_events_stay();
    create trigger audit_events_not_truncated before truncate on audit_events
      for each statement execute function audit_events_stay();
  `);
}
