import type { Knex } from 'knex';

/** Adds the sign-ins that are under way at an identity provider (decision 11, "Sign-in elsewhere"). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table oauth_states (
      -- The state goes through the provider and the browser's address; its hash alone is kept.
      state_hash bytea primary key check (length(state_hash) = 32),
      -- Of the cookie of the browser that began: a callback in another browser is not answered (decision 57).
      browser_hash bytea not null check (length(browser_hash) = 32),
      provider text not null check (provider in ('google', 'github', 'oidc')),
      -- RFC 7636 4.1. It must be sent as it is, and is worth nothing without the code and the client's secret.
      code_verifier text not null check (length(code_verifier) between 43 and 128),
      nonce text not null check (length(nonce) between 22 and 128),
      return_path text not null check (return_path ~ '^/' and return_path !~ '^/[/\\\\]'),
      created_at timestamptz(3) not null default clock_ms(),
      expires_at timestamptz(3) not null,
      used_at timestamptz(3),
      check (expires_at > created_at)
    );
    create index oauth_states_expiry on oauth_states (expires_at);
  `);
}
