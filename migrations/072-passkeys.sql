-- Passkeys (decision 178, "Sign-in by passkey"): the public half of what a user's device keeps, and may sign in with.
create table passkeys (
  id text not null primary key check (id ~ '^psk_[0-9A-HJKMNP-TV-Z]{26}$'),
  user_id text not null references users (id) on delete cascade,
  -- Made by the authenticator (WebAuthn 4: at most 1023 bytes), and one user's alone.
  credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
  -- COSE_Key (RFC 9052 7).
  public_key bytea not null check (length(public_key) between 1 and 4096),
  -- How often the authenticator has signed; some always say 0. One that goes back may be of a copy.
  counter bigint not null check (counter between 0 and 4294967295),
  transports text[] not null check (cardinality(transports) <= 10),
  name text not null check (length(name) between 1 and 64),
  -- Whether it may be in several devices, and whether it was at its last use.
  backup_eligible boolean not null,
  backed_up boolean not null,
  created_at timestamptz(3) not null default clock_ms(),
  last_used_at timestamptz(3),
  -- Since the database was restored: it may have forgotten that the passkey was removed. A sign-in by another way ends it.
  suspended_at timestamptz(3)
);
create index passkeys_of_user on passkeys (user_id, created_at);
grant select, insert, update (name, counter, backed_up, last_used_at, suspended_at), delete on passkeys
  to gpu_rental_api;
grant select, update (suspended_at) on passkeys to gpu_rental_worker;

-- What an authenticator is asked to sign, once. Each is good for the session, or the browser, that asked for it.
create table passkey_challenges (
  challenge_hash bytea not null primary key check (length(challenge_hash) = 32),
  purpose text not null check (purpose in ('registration', 'sign_in', 'proof')),
  session_id text,
  browser_hash bytea check (length(browser_hash) = 32),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  check ((purpose = 'sign_in') = (browser_hash is not null) and (purpose = 'sign_in') = (session_id is null))
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
grant select, insert, update (used_at) on passkey_challenges to gpu_rental_api;
grant select, delete on passkey_challenges to gpu_rental_worker;

alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check
  check (kind in (
    'signed_in', 'signed_out', 'proof_refreshed', 'ssh_key_added', 'ssh_key_removed', 'rental_created', 'rental_changed',
    'rental_stopped', 'rental_ended', 'checkout_begun', 'card_saved', 'card_removed', 'auto_topup_changed',
    'billing_details_changed', 'changed_by_operator', 'charges_held', 'notices_changed', 'webhook_created',
    'webhook_changed', 'webhook_removed', 'webhook_switched_off', 'budget_changed', 'api_key_created', 'api_key_changed',
    'api_key_revoked', 'passkey_added', 'passkey_removed', 'passkey_refused'
  )) not valid;
alter table user_notices drop constraint user_notices_kind_check, add constraint user_notices_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_balance_exhausted',
    'rental_operator_stop', 'rental_lost', 'rental_failed', 'auto_topup_off', 'ssh_key_added', 'card_saved',
    'api_key_created', 'budget_reached', 'setup_acted', 'passkey_added', 'passkey_refused'
  )) not valid;
