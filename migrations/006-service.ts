import type { Knex } from 'knex';

/** Makes the tables of the service itself: retried requests, mails to send, brakes and the watermark. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Decision 6. The row is committed before the work begins and names the entity that the work makes.
    create table idempotency_keys (
      user_id text not null references users on delete cascade,
      endpoint text not null,
      key text not null check (length(key) between 1 and 255),
      body_hash bytea not null check (length(body_hash) = 32),
      target_id text not null,
      response_status int check (response_status between 200 and 499),
      response_body jsonb,
      created_at timestamptz(3) not null default clock_ms(),
      primary key (user_id, endpoint, key),
      check ((response_status is null) = (response_body is null))
    );
    create index idempotency_keys_age on idempotency_keys (created_at);

    -- Decision 36. The cause is unique, so that a retry never mails twice.
    create table mail_outbox (
      id bigint generated always as identity primary key,
      cause text not null unique,
      recipient text not null,
      subject text not null,
      -- Wiped once sent when it carries a code.
      body text,
      wipe_after_sending boolean not null default false,
      tries int not null default 0,
      next_try_at timestamptz(3) not null default clock_ms(),
      last_error text,
      created_at timestamptz(3) not null default clock_ms(),
      sent_at timestamptz(3),
      check (body is not null or sent_at is not null)
    );
    create index mail_outbox_unsent on mail_outbox (next_try_at) where sent_at is null;

    -- Decision 37: the global brakes, and the watermark by which a restored database is noticed.
    create table brakes (
      kind text primary key check (kind in ('creates', 'charges', 'metering')),
      pulled_by text not null,
      reason text not null,
      pulled_at timestamptz(3) not null default clock_ms()
    );
    create table watermark (
      singleton boolean primary key default true check (singleton),
      value bigint not null check (value >= 0),
      raised_at timestamptz(3) not null
    );
    insert into watermark (value, raised_at) values (0, clock_ms());
  `);
}
