-- Statements by mail (decision 171, "Statements by mail"): how far each month's were noted. A walk that ends half-way goes on
-- there.
create table statement_months (
  -- In UTC, such as 2026-10.
  month text primary key check (month ~ '^20\d{2}-(0[1-9]|1[0-2])$'),
  -- Wallets up to this one were looked at.
  walked_wallet bigint not null default 0,
  -- Those of them that failed, and are tried again.
  failed_wallets bigint[] not null default '{}',
  done_at timestamptz(3)
);
grant select, insert, update on statement_months to gpu_rental_worker;
grant select on statement_months to gpu_rental_ops;

-- A service that is upgraded in the middle of a month mails nobody the one before.
insert into statement_months (month, done_at)
select to_char(date_trunc('month', clock_ms() at time zone 'UTC') - interval '1 month', 'YYYY-MM'), clock_ms();

alter table user_notices drop constraint user_notices_kind_check, add constraint user_notices_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_balance_exhausted',
    'rental_operator_stop', 'rental_lost', 'rental_failed', 'auto_topup_off', 'ssh_key_added', 'card_saved',
    'api_key_created', 'budget_reached', 'setup_acted', 'passkey_added', 'passkey_refused', 'statement'
  )) not valid;
alter table notice_settings drop constraint notice_settings_kind_check, add constraint notice_settings_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_operator_stop', 'rental_lost',
    'rental_failed', 'statement'
  )) not valid;
