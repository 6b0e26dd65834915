import type { Knex } from 'knex';

/** Makes the tables of users, their sign-ins, and the keys with which they enter their machines. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The database's clock in the service's unit of time (decision 7). It is read when it is called, not at the
    -- transaction's start: an instant taken before a lock was waited for would be old.
    create function clock_ms() returns timestamptz(3) language sql volatile
      as $$ select date_trunc('milliseconds', clock_timestamp()) $$;

    -- Milliseconds since the epoch, for integer arithmetic: extract() on a timestamptz computes in numeric and is
    -- not immutable, the difference of two instants is.
    create function epoch_ms(at timestamptz) returns bigint language sql immutable strict
      as $$ select (extract(epoch from at - timestamptz '1970-01-01 00:00:00+00') * 1000)::bigint $$;

    create function from_epoch_ms(ms bigint) returns timestamptz(3) language sql immutable strict
      as $$ select timestamptz '1970-01-01 00:00:00+00' + ms * interval '1 millisecond' $$;

    create table users (
      id text primary key check (id ~ '^usr_[0-9A-HJKMNP-TV-Z]{26}$'),
      email text not null unique check (email = lower(email) and length(email) <= 254),
      processor_customer_id text unique,
      blocked_at timestamptz(3),
      blocked_reason text,
      created_at timestamptz(3) not null default clock_ms()
    );

    create table sessions (
      token_hash bytea primary key check (length(token_hash) = 32),
      user_id text not null references users on delete cascade,
      created_at timestamptz(3) not null default clock_ms(),
      last_seen_at timestamptz(3) not null default clock_ms(),
      expires_at timestamptz(3) not null,
      check (expires_at > created_at)
    );
    create index sessions_user on sessions (user_id);
    create index sessions_expiry on sessions (expires_at);

    create table login_codes (
      id bigint generated always as identity primary key,
      email text not null check (email = lower(email)),
      code_hash bytea not null check (length(code_hash) = 32),
      client_address text not null,
      tries int not null default 0 check (tries between 0 and 5),
      created_at timestamptz(3) not null default clock_ms(),
      expires_at timestamptz(3) not null,
      used_at timestamptz(3)
    );
    create index login_codes_email on login_codes (email, created_at desc);
    create index login_codes_client on login_codes (client_address, created_at desc);

    create table ssh_keys (
      id text primary key check (id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete cascade,
      name text not null check (length(name) between 1 and 64),
      public_key text not null,
      fingerprint text not null check (fingerprint like 'SHA256:%'),
      created_at timestamptz(3) not null default clock_ms(),
      constraint ssh_keys_fingerprint unique (user_id, fingerprint)
    );
  `);
}
