-- The schema that release 0.2 leaves, with the rows that its migrations seed and the rights of each role. An empty
-- database begins here; a database of 0.2 is compared with this file and taken over (takeover.ts). It never changes:
-- what changes the schema is a new file with the next number.

-- Functions name tables that come later.
SET LOCAL check_function_bodies = false;

-- ==== roles

-- Roles belong to the whole cluster: another database of it may have them already, or be making them right now.
DO $$
  DECLARE
    role text;
  BEGIN
    FOREACH role IN ARRAY ARRAY['gpu_rental_api', 'gpu_rental_worker', 'gpu_rental_ops'] LOOP
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = role) THEN
          EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
      EXCEPTION
        WHEN duplicate_object OR unique_violation THEN NULL;
        WHEN insufficient_privilege THEN
          RAISE EXCEPTION 'The role % is missing and this user may not make it. Run as a superuser: create role % nologin; or give this user createrole. Then migrate again.', role, role;
      END;
      -- The owner becomes a member, so that it can work as the role (DATABASE_ROLE). Another owner in this cluster may
      -- have made the role: then the processes log in as members of it, which needs nothing of us.
      FOR attempt IN 1..20 LOOP
        BEGIN
          EXECUTE format('GRANT %I TO current_user WITH INHERIT FALSE, SET TRUE', role);
          EXIT;
        EXCEPTION
          WHEN insufficient_privilege THEN EXIT;
          -- Two databases of one cluster are being migrated at once: the other one is through in a moment.
          WHEN unique_violation OR internal_error THEN PERFORM pg_sleep(0.05);
        END;
      END LOOP;
    END LOOP;
  END $$;

-- ==== types

CREATE TYPE ledger_entry_type AS ENUM (
  'processor_topup',
  'auto_topup',
  'rental_charge',
  'refund',
  'adjustment'
);

-- ==== functions

-- Whoever opens, changes or settles a rental of a key writes the key's sums in the same transaction: at its end, what
-- the key has reserved is what its open rentals may cost, and none of a capped key may cost anything.
CREATE FUNCTION api_keys_reserve()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      k api_keys;
      may_cost bigint;
      unlimited bigint;
    begin
      if tg_table_name = 'rentals' then
        select * into k from api_keys where id = new.api_key_id;
      else
        select * into k from api_keys where id = new.id;
      end if;
      select coalesce(sum(max_spend_cents), 0), count(*) filter (where max_spend_cents is null)
        into may_cost, unlimited
        from rentals where user_id = k.user_id and api_key_id = k.id and settled_at is null;
      if k.reserved_cents is distinct from may_cost then
        raise exception '% reserves % cents, and its rentals may cost %', k.id, k.reserved_cents, may_cost
          using errcode = 'check_violation', constraint = 'api_keys_reserve';
      end if;
      if k.spend_cap_cents is not null and unlimited > 0 then
        raise exception '% has a cap, and a rental without a limit', k.id
          using errcode = 'check_violation', constraint = 'api_keys_limits';
      end if;
      return null;
    end $function$;

CREATE FUNCTION append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception '% is append-only', tg_table_name
        using errcode = 'check_violation', constraint = 'append_only';
    end $function$;

-- The database's clock in the service's unit of time (decision 7, "Times and cursors"). It is read when it is called,
-- not at the transaction's start: an instant taken before a lock was waited for would be old.
CREATE FUNCTION clock_ms()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ select date_trunc('milliseconds', clock_timestamp()) $function$;

-- The start of the server, the database and the table: at least one differs after every way of restoring.
CREATE FUNCTION database_incarnation(watermark_table oid)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
      select extract(epoch from pg_postmaster_start_time())::text || '/' || d.oid::text || '/' || watermark_table::text
        from pg_database d where d.datname = current_database()
    $function$;

CREATE FUNCTION database_is_confirmed()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
      select coalesce(bool_or(w.confirmed_as in ('new', database_incarnation(w.tableoid))), false) from watermark w
    $function$;

-- Milliseconds since the epoch, for integer arithmetic: extract() on a timestamptz computes in numeric and is
-- not immutable, the difference of two instants is.
CREATE FUNCTION epoch_ms(at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$ select (extract(epoch from at - timestamptz '1970-01-01 00:00:00+00') * 1000)::bigint $function$;

CREATE FUNCTION from_epoch_ms(ms bigint)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$ select timestamptz '1970-01-01 00:00:00+00' + ms * interval '1 millisecond' $function$;

-- evt_ and a ULID: 48 bits of the time in milliseconds, 80 bits of chance, in base 32 by Crockford. Chance is taken
-- from the bytes of a UUID that are random throughout.
CREATE FUNCTION new_event_id()
 RETURNS text
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
      select 'evt_' || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(bits from no * 5 + 1 for 5)::int + 1, 1), '' order by no)
        from (
          select b'00' || epoch_ms(clock_ms())::bit(48)
                 || ('x' || encode(substring(random from 1 for 6) || substring(random from 10 for 4), 'hex'))::bit(80) as bits
            from uuid_send(gen_random_uuid()) random
        ) id, generate_series(0, 25) no
    $function$;

CREATE FUNCTION refuse_when_restored()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if not database_is_confirmed()
         and current_setting('gpu_rental.reconciling', true) is distinct from 'on' then
        raise exception 'this database was restored, or not yet compared with Temporal: % refuses', tg_table_name
          using errcode = 'RS001', hint = 'Look at: npm run ops -- restore status';
      end if;
      return null;
    end $function$;

-- Numbers that were given in the time that is lost went out: in keys at the processor, in ids of mails. They are
-- never given again.
CREATE FUNCTION step_over_lost_numbers()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
    declare
      counter record;
    begin
      for counter in select schemaname, sequencename, last_value from pg_sequences
                      where schemaname = current_schema() and sequencename not like 'knex%' and last_value is not null
      loop
        perform setval(format('%I.%I', counter.schemaname, counter.sequencename), counter.last_value + 1000000);
      end loop;
    end $function$;
REVOKE EXECUTE ON FUNCTION step_over_lost_numbers() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION step_over_lost_numbers() TO gpu_rental_worker;

-- ==== table knex_migrations

-- The table is knex's own. /readyz looks for the steps that its code needs.
GRANT SELECT ON knex_migrations TO gpu_rental_api;
GRANT SELECT (name, migration_time) ON knex_migrations TO gpu_rental_worker;

-- ==== table users

CREATE TABLE users (
  id text NOT NULL,
  email text NOT NULL,
  processor_customer_id text,
  blocked_at timestamp(3) with time zone,
  blocked_reason text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- What auto-topup may charge in a day, as the installation's setting was when the account was made; null: no cap.
  auto_topup_daily_cap_cents integer,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_processor_customer_id_key UNIQUE (processor_customer_id),
  CONSTRAINT users_auto_topup_daily_cap_cents_check CHECK (auto_topup_daily_cap_cents > 0),
  CONSTRAINT users_email_check CHECK (email = lower(email) AND length(email) <= 254),
  CONSTRAINT users_id_check CHECK (id ~ '^usr_[0-9A-HJKMNP-TV-Z]{26}$'::text)
);

GRANT SELECT, INSERT, UPDATE (processor_customer_id) ON users TO gpu_rental_api;
GRANT SELECT, UPDATE (blocked_at, blocked_reason) ON users TO gpu_rental_ops;
GRANT SELECT, UPDATE ON users TO gpu_rental_worker;

-- ==== table sessions

CREATE TABLE sessions (
  token_hash bytea NOT NULL,
  user_id text NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  last_seen_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  -- What may be shown. The default serves an API of the release before, which knows of no id.
  id text DEFAULT 'ses_'::text || upper(substr(replace(gen_random_uuid()::text, '-'::text, ''::text), 1, 26)) NOT NULL,
  -- From what and from where it was last used; null where no request has told.
  user_agent text,
  client_address text,
  -- When its user last showed who they are; null where an account elsewhere has not told when.
  proved_at timestamp(3) with time zone DEFAULT clock_ms(),
  CONSTRAINT sessions_pkey PRIMARY KEY (token_hash),
  CONSTRAINT sessions_id_key UNIQUE (id),
  CONSTRAINT sessions_check CHECK (expires_at > created_at),
  CONSTRAINT sessions_client_address_check CHECK (length(client_address) >= 1 AND length(client_address) <= 64),
  CONSTRAINT sessions_id_check CHECK (id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT sessions_token_hash_check CHECK (length(token_hash) = 32),
  CONSTRAINT sessions_user_agent_check CHECK (length(user_agent) >= 1 AND length(user_agent) <= 512),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX sessions_expiry ON sessions USING btree (expires_at);

CREATE INDEX sessions_of_user ON sessions USING btree (user_id, created_at DESC, id DESC);

GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO gpu_rental_api;
GRANT SELECT, DELETE ON sessions TO gpu_rental_ops;
GRANT SELECT, DELETE ON sessions TO gpu_rental_worker;

-- ==== table login_codes

CREATE TABLE login_codes (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  email text NOT NULL,
  -- Null for a request that was answered and not mailed: the mailbox had its share.
  code_hash bytea,
  client_address text NOT NULL,
  tries integer DEFAULT 0 NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  used_at timestamp(3) with time zone,
  -- What counts as one mailbox, whatever its tags; only counted by. Null for codes of the release before.
  mailbox text,
  -- Of the cookie of the browser that asked; null where none is known.
  browser_hash bytea,
  -- Who asked: anybody, a browser in which this address has signed in before, or an identity provider that vouches
  -- for the address. Each has a budget of mails of its own.
  asked_by text DEFAULT 'anybody'::text NOT NULL,
  -- Wrong tries of other browsers than the one that asked, and of clients without cookies.
  other_tries integer DEFAULT 0 NOT NULL,
  -- The account elsewhere that is linked when the code is typed in the browser that asked.
  issuer text,
  subject text,
  CONSTRAINT login_codes_pkey PRIMARY KEY (id),
  CONSTRAINT login_codes_asked_by_check CHECK (asked_by = ANY (ARRAY['anybody'::text, 'known_browser'::text, 'identity'::text])),
  CONSTRAINT login_codes_browser_hash_check CHECK (length(browser_hash) = 32),
  CONSTRAINT login_codes_code_hash_check CHECK (length(code_hash) = 32),
  CONSTRAINT login_codes_email_check CHECK (email = lower(email)),
  CONSTRAINT login_codes_identity CHECK ((issuer IS NULL) = (subject IS NULL) AND (issuer IS NULL OR browser_hash IS NOT NULL)),
  CONSTRAINT login_codes_issuer_check CHECK (length(issuer) >= 1 AND length(issuer) <= 255),
  CONSTRAINT login_codes_other_tries_check CHECK (other_tries >= 0 AND other_tries <= 5),
  CONSTRAINT login_codes_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 255),
  CONSTRAINT login_codes_tries_check CHECK (tries >= 0 AND tries <= 5)
);

CREATE INDEX login_codes_age ON login_codes USING btree (created_at);

CREATE INDEX login_codes_browser ON login_codes USING btree (browser_hash, created_at DESC) WHERE browser_hash IS NOT NULL;

CREATE INDEX login_codes_client ON login_codes USING btree (client_address, created_at DESC);

CREATE INDEX login_codes_email ON login_codes USING btree (email, created_at DESC);

CREATE INDEX login_codes_mailbox ON login_codes USING btree (mailbox, created_at DESC);

GRANT SELECT, INSERT, UPDATE ON login_codes TO gpu_rental_api;
GRANT SELECT, DELETE ON login_codes TO gpu_rental_worker;

-- ==== table ssh_keys

CREATE TABLE ssh_keys (
  id text NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  public_key text NOT NULL,
  fingerprint text NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT ssh_keys_pkey PRIMARY KEY (id),
  CONSTRAINT ssh_keys_fingerprint UNIQUE (user_id, fingerprint),
  CONSTRAINT ssh_keys_fingerprint_check CHECK (fingerprint ~~ 'SHA256:%'::text),
  CONSTRAINT ssh_keys_id_check CHECK (id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT ssh_keys_name_check CHECK (length(name) >= 1 AND length(name) <= 64),
  CONSTRAINT ssh_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

GRANT SELECT, INSERT, DELETE ON ssh_keys TO gpu_rental_api;
GRANT SELECT ON ssh_keys TO gpu_rental_ops;
GRANT SELECT ON ssh_keys TO gpu_rental_worker;

-- ==== table wallets

CREATE TABLE wallets (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  user_id text NOT NULL,
  available_cents bigint DEFAULT 0 NOT NULL,
  reserved_cents bigint DEFAULT 0 NOT NULL,
  -- The sequence number of the newest ledger entry; 0 before the first.
  seq bigint DEFAULT 0 NOT NULL,
  -- Since when the money lasts for less than the warning time; null while it lasts longer.
  low_since timestamp(3) with time zone,
  metering_blocked_at timestamp(3) with time zone,
  metering_blocked_reason text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Up to which instant the wallet's running rentals have paid, in milliseconds since 1970.
  metered_ms bigint DEFAULT 0 NOT NULL,
  CONSTRAINT wallets_pkey PRIMARY KEY (id),
  CONSTRAINT wallets_user_id_key UNIQUE (user_id),
  CONSTRAINT wallets_available_cents_check CHECK (available_cents >= 0),
  CONSTRAINT wallets_check CHECK ((metering_blocked_at IS NULL) = (metering_blocked_reason IS NULL)),
  CONSTRAINT wallets_reserved_cents_check CHECK (reserved_cents >= 0),
  CONSTRAINT wallets_seq_check CHECK (seq >= 0),
  CONSTRAINT wallets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
) WITH (fillfactor=45);

CREATE INDEX wallets_blocked ON wallets USING btree (metering_blocked_at) WHERE metering_blocked_at IS NOT NULL;

-- Each wallet that moved is walked from the entry at which it stood (or its first) to the newest one. Nothing is
-- missing between them where as many rows are found as there are numbers: over all wallets, as none can have more. The
-- old rows are joined by hash to the new ones, which keeps the order in which the wallets lie in the ledger's index.
-- A wallet whose money and number stay is not looked at: what was wrong before is not made right by refusing the mark
-- that keeps it from moving on.
CREATE FUNCTION wallets_changed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_nestloop TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    declare
      chain_broken boolean;
      gaps boolean;
      differs boolean;
    begin
      select bool_or(case when seq = old_seq then false
                          when seq = 1 then balance <> amount
                          else balance - amount is distinct from earlier_balance end),
             coalesce(sum(case when seq = new_seq then new_seq - greatest(old_seq, 1) + 1 end), 0) <> count(seq),
             count(*) filter (where case when seq = new_seq then balance = total
                                         when seq is null then (old_seq is not null and from_seq is null)
                                                               or (old_seq = 0 and new_seq = 0 and total = 0) end)
               <> (select count(*) from changed)
        into chain_broken, gaps, differs
        from (
          select moved.*, e.seq, e.amount_cents as amount, e.balance_after_cents as balance,
                 lag(e.balance_after_cents) over chain as earlier_balance
            from (
              select changed.id, before.seq as old_seq, changed.seq as new_seq,
                     changed.available_cents + changed.reserved_cents as total,
                     -- null: nothing is walked.
                     case when before.seq <> changed.seq or before.available_cents <> changed.available_cents
                            or before.reserved_cents <> changed.reserved_cents then before.seq end as from_seq
                from changed left join before on before.id = changed.id
            ) moved
            left join lateral (
              select * from ledger_entries
               where wallet_id = moved.id and seq >= from_seq and seq <= new_seq
              offset 0
            ) e on true
          -- Without the frame each row's peers would be looked for.
          window chain as (partition by moved.id order by e.seq rows between unbounded preceding and current row)
        ) walked;
      if chain_broken then
        raise exception 'ledger chain broken: an entry does not continue its predecessor or its wallet'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      elsif differs then
        raise exception 'wallet differs from its newest ledger entry'
          using errcode = 'check_violation', constraint = 'wallet_is_newest_entry';
      elsif gaps then
        raise exception 'ledger chain broken: a number is missing before the newest entry'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      end if;
      return null;
    end $function$;

-- Its meters no longer follow it: those are due by what they charged, and not by a look. So a wallet at fault need
-- not stand among those that are behind.
CREATE FUNCTION wallets_metered_again()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update meters set charged_cents = charged_cents where wallet_id = new.id;
      return null;
    end $function$;

CREATE FUNCTION wallets_start_empty()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if new.seq <> 0 or new.available_cents <> 0 or new.reserved_cents <> 0 then
        raise exception 'a wallet starts empty'
          using errcode = 'check_violation', constraint = 'wallet_starts_empty';
      end if;
      return new;
    end $function$;

CREATE TRIGGER wallets_changed AFTER UPDATE ON wallets REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION wallets_changed();

CREATE TRIGGER wallets_metered_again AFTER UPDATE OF metering_blocked_at ON wallets FOR EACH ROW WHEN (old.metering_blocked_at IS NOT NULL AND new.metering_blocked_at IS NULL) EXECUTE FUNCTION wallets_metered_again();

CREATE TRIGGER wallets_start_empty BEFORE INSERT ON wallets FOR EACH ROW EXECUTE FUNCTION wallets_start_empty();

GRANT SELECT, INSERT (user_id), UPDATE (created_at) ON wallets TO gpu_rental_api;
GRANT SELECT ON wallets TO gpu_rental_ops;
GRANT SELECT, UPDATE ON wallets TO gpu_rental_worker;

-- ==== table ledger_entries

-- No foreign keys to wallets and rentals: they are checked row by row, and metering writes by the hundred
-- thousand. The chain trigger below checks the wallet for all rows at once.
CREATE TABLE ledger_entries (
  wallet_id bigint NOT NULL,
  seq bigint NOT NULL,
  type ledger_entry_type NOT NULL,
  amount_cents bigint NOT NULL,
  balance_after_cents bigint NOT NULL,
  rental_no bigint,
  processor_charge_id text,
  note text,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT ledger_entries_pkey PRIMARY KEY (wallet_id, seq),
  CONSTRAINT ledger_entries_balance_after_cents_check CHECK (balance_after_cents >= 0),
  CONSTRAINT ledger_entries_seq_check CHECK (seq > 0),
  CONSTRAINT ledger_rental CHECK (type <> 'rental_charge'::ledger_entry_type OR rental_no IS NOT NULL),
  CONSTRAINT ledger_sign CHECK (
CASE type
    WHEN 'rental_charge'::ledger_entry_type THEN amount_cents < 0
    WHEN 'adjustment'::ledger_entry_type THEN amount_cents <> 0
    ELSE amount_cents > 0
END)
);

CREATE INDEX ledger_entries_charge ON ledger_entries USING btree (processor_charge_id) WHERE processor_charge_id IS NOT NULL;

-- Ticks are in neither: they cost metering nothing.
CREATE INDEX ledger_entries_credits ON ledger_entries USING btree (created_at) WHERE type = ANY (ARRAY['processor_topup'::ledger_entry_type, 'auto_topup'::ledger_entry_type]);

-- Everything but metering is rare: filtering by such a type never walks the ticks.
CREATE INDEX ledger_entries_rare ON ledger_entries USING btree (wallet_id, type, seq) WHERE type <> 'rental_charge'::ledger_entry_type;

-- An entry that its wallet does not reach is refused here. One that it reaches stands either between the wallet's
-- entry of before and its newest one, which wallets_changed walks, or on a number that is taken.
CREATE FUNCTION ledger_entries_added()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_nestloop TO 'off'
 SET enable_hashjoin TO 'on'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    begin
      if exists (
        select 1 from added a
          left join wallets w on w.id = a.wallet_id and w.id = any (array(select wallet_id from added))
         where w.seq is null or a.seq > w.seq
      ) then
        raise exception 'ledger chain broken: an entry does not continue its predecessor or its wallet'
          using errcode = 'check_violation', constraint = 'ledger_chain';
      end if;
      return null;
    end $function$;

CREATE TRIGGER ledger_entries_added AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_entries_added();

CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- Per statement, whatever the number of rows: a tick of a hundred thousand entries asks once.
CREATE TRIGGER ledger_entries_when_restored BEFORE INSERT ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_when_restored();

GRANT SELECT ON ledger_entries TO gpu_rental_api;
GRANT SELECT ON ledger_entries TO gpu_rental_ops;
GRANT SELECT, INSERT ON ledger_entries TO gpu_rental_worker;

-- ==== table ledger_causes

-- What an entry that is not a tick was written for, once and for all: payment:pi_…, refund:rent_….
CREATE TABLE ledger_causes (
  cause text NOT NULL,
  wallet_id bigint NOT NULL,
  seq bigint NOT NULL,
  CONSTRAINT ledger_causes_pkey PRIMARY KEY (cause),
  CONSTRAINT ledger_causes_wallet_id_seq_key UNIQUE (wallet_id, seq)
);

CREATE TRIGGER ledger_causes_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_causes FOR EACH STATEMENT EXECUTE FUNCTION append_only();

GRANT SELECT ON ledger_causes TO gpu_rental_api;
GRANT SELECT ON ledger_causes TO gpu_rental_ops;
GRANT SELECT, INSERT ON ledger_causes TO gpu_rental_worker;

-- ==== table providers

CREATE TABLE providers (
  code text NOT NULL,
  -- The last catalog that was read whole, and the last list of our pods.
  catalog_synced_at timestamp(3) with time zone,
  pods_listed_at timestamp(3) with time zone,
  last_error text,
  last_error_at timestamp(3) with time zone,
  failures integer DEFAULT 0 NOT NULL,
  create_failures integer DEFAULT 0 NOT NULL,
  -- The circuit breaker: while an upstream is out, nothing of it is for sale.
  out_until timestamp(3) with time zone,
  out_reason text,
  last_success_at timestamp(3) with time zone,
  -- An operator's word that the pods which its lists do not show are gone indeed, until this time.
  missing_accepted_until timestamp(3) with time zone,
  -- While an upstream is paused nothing new is rented there; what runs there runs on. No answer of it ends a pause.
  paused_at timestamp(3) with time zone,
  paused_by text,
  paused_reason text,
  -- May be below zero.
  balance_cents bigint,
  burn_cents_per_hour bigint,
  balance_read_at timestamp(3) with time zone,
  -- The templates that an upstream can start at all; null until a worker has told: any.
  template_ids text[],
  CONSTRAINT providers_pkey PRIMARY KEY (code),
  CONSTRAINT providers_balance_is_whole CHECK (num_nonnulls(balance_cents, burn_cents_per_hour, balance_read_at) = ANY (ARRAY[0, 3])),
  CONSTRAINT providers_burn_cents_per_hour_check CHECK (burn_cents_per_hour >= 0),
  CONSTRAINT providers_code_check CHECK (code ~ '^[a-z0-9-]{1,32}$'::text),
  CONSTRAINT providers_create_failures_check CHECK (create_failures >= 0),
  CONSTRAINT providers_failures_check CHECK (failures >= 0),
  CONSTRAINT providers_out CHECK ((out_until IS NULL) = (out_reason IS NULL)),
  CONSTRAINT providers_out_reason_check CHECK (out_reason = ANY (ARRAY['failing'::text, 'failing_creates'::text, 'refused'::text, 'rate_limited'::text, 'no_funds'::text])),
  CONSTRAINT providers_paused CHECK ((paused_at IS NULL) = (paused_by IS NULL) AND (paused_at IS NULL) = (paused_reason IS NULL))
);

GRANT SELECT ON providers TO gpu_rental_api;
GRANT SELECT, UPDATE ON providers TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON providers TO gpu_rental_worker;

-- ==== table listings

CREATE TABLE listings (
  id text NOT NULL,
  provider_code text NOT NULL,
  offer_id text NOT NULL,
  model text NOT NULL,
  family text NOT NULL,
  vram_gb integer NOT NULL,
  gpu_count integer NOT NULL,
  price_per_hour_cents integer NOT NULL,
  region text NOT NULL,
  region_code text NOT NULL,
  interconnect text NOT NULL,
  -- In the provider's last catalog; whether that is fresh, the provider's row says (decision 13, "Live listings").
  offered boolean DEFAULT true NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- How long the upstream says that it may take to boot; null when it does not say.
  max_boot_ms integer,
  -- What it can be started from; null for all that its upstream can start.
  template_ids text[],
  CONSTRAINT listings_pkey PRIMARY KEY (id),
  CONSTRAINT listings_provider_code_offer_id_key UNIQUE (provider_code, offer_id),
  CONSTRAINT listings_gpu_count_check CHECK (gpu_count = ANY (ARRAY[1, 2, 4, 8])),
  CONSTRAINT listings_id_check CHECK (id ~ '^lst_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT listings_max_boot_ms_check CHECK (max_boot_ms > 0),
  CONSTRAINT listings_price_per_hour_cents_check CHECK (price_per_hour_cents >= 1 AND price_per_hour_cents <= 10000000),
  CONSTRAINT listings_vram_gb_check CHECK (vram_gb > 0),
  CONSTRAINT listings_provider_code_fkey FOREIGN KEY (provider_code) REFERENCES providers(code) ON DELETE RESTRICT
);

-- Two ways to a page. In the order of the catalog, with what the filters ask for in the index itself, so that a
-- listing that does not match is passed over without being read: for filters that many listings match, whose page
-- is soon full. By kind: for filters that few match or none, all of which are found and then sorted.
CREATE INDEX listings_cheapest ON listings USING btree (price_per_hour_cents, id, gpu_count, region_code, vram_gb) WHERE offered;

-- A region without the family is seen in the index.
CREATE INDEX listings_family ON listings USING btree (family, gpu_count, price_per_hour_cents, id, region_code) WHERE offered;

CREATE INDEX listings_kind ON listings USING btree (gpu_count, region_code, vram_gb) WHERE offered;

CREATE INDEX listings_model ON listings USING btree (model, price_per_hour_cents, id, gpu_count, region_code, vram_gb) WHERE offered;

CREATE FUNCTION count_families()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      codes text[] := array(select distinct provider_code from touched order by 1);
    begin
      -- One writer of a provider's listings after the other (adapters/postgres/catalog/catalog.ts): each counts what the
      -- ones before it have committed.
      perform pg_advisory_xact_lock(7103, hashtext(code)) from unnest(codes) as code;
      delete from provider_families where provider_code = any (codes);
      insert into provider_families (provider_code, family, from_price_per_hour_cents, listings)
      select provider_code, family, min(price_per_hour_cents), count(*)
        from listings
       where offered and provider_code = any (codes)
       group by provider_code, family;
      return null;
    end $function$;

CREATE TRIGGER count_families_added AFTER INSERT ON listings REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_families();

CREATE TRIGGER count_families_changed AFTER UPDATE ON listings REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_families();

CREATE TRIGGER count_families_removed AFTER DELETE ON listings REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_families();

GRANT SELECT ON listings TO gpu_rental_api;
GRANT SELECT ON listings TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON listings TO gpu_rental_worker;

-- ==== table rentals

CREATE TABLE rentals (
  no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  wallet_id bigint NOT NULL,
  user_id text NOT NULL,
  status text NOT NULL,
  name text,
  family text NOT NULL,
  model text NOT NULL,
  gpu_count integer NOT NULL,
  region text NOT NULL,
  region_code text NOT NULL,
  interconnect text NOT NULL,
  template_id text NOT NULL,
  ssh_key_ids text[] NOT NULL,
  listing_id text NOT NULL,
  provider_code text NOT NULL,
  tag text NOT NULL,
  pod_id text,
  host text,
  port integer,
  username text,
  host_key_fingerprint text,
  price_per_hour_cents integer NOT NULL,
  max_spend_cents bigint,
  auto_stop_after_ms bigint,
  -- What is still held for the first hour; what was charged, given back, and could not be had. While the rental
  -- runs, its meter holds the first two: read rentals_now.
  hold_cents bigint NOT NULL,
  charged_cents bigint DEFAULT 0 NOT NULL,
  refunded_cents bigint DEFAULT 0 NOT NULL,
  released_cents bigint DEFAULT 0 NOT NULL,
  overage_cents bigint DEFAULT 0 NOT NULL,
  written_off_cents bigint DEFAULT 0 NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  running_at timestamp(3) with time zone,
  auto_stop_at timestamp(3) with time zone,
  spend_limit_at timestamp(3) with time zone,
  -- The end of the billing; what the API calls stoppedAt.
  ended_at timestamp(3) with time zone,
  settled_at timestamp(3) with time zone,
  terminated_at timestamp(3) with time zone,
  -- Nothing more is owed to it: settled, and its pod is gone. Until then it has a workflow.
  closed_at timestamp(3) with time zone,
  stop_reason text,
  error text,
  -- The wallet's newest entry when it was opened and when it was settled. All its entries lie between them: they
  -- are read without an index of their own, which each tick would have to write.
  opened_seq bigint DEFAULT 0 NOT NULL,
  settled_seq bigint,
  -- Whole milliseconds for the metering statement.
  running_ms bigint GENERATED ALWAYS AS (epoch_ms(running_at)) STORED,
  limit_ms bigint GENERATED ALWAYS AS (epoch_ms(LEAST(auto_stop_at, spend_limit_at))) STORED,
  -- The key that opened it; null: a session did.
  api_key_id text,
  -- How many public keys of its own it was rented with.
  own_ssh_keys integer DEFAULT 0 NOT NULL,
  CONSTRAINT rentals_pkey PRIMARY KEY (no),
  CONSTRAINT rentals_id_key UNIQUE (id),
  CONSTRAINT rentals_auto_stop_after_ms_check CHECK (auto_stop_after_ms >= 1 AND auto_stop_after_ms <= '2592000000'::bigint),
  CONSTRAINT rentals_charged_cents_check CHECK (charged_cents >= 0),
  CONSTRAINT rentals_closed CHECK (closed_at IS NULL OR (status = ANY (ARRAY['stopped'::text, 'failed'::text]))),
  CONSTRAINT rentals_ended CHECK ((status <> ALL (ARRAY['stopping'::text, 'stopped'::text])) OR ended_at IS NOT NULL),
  CONSTRAINT rentals_failed CHECK (status <> 'failed'::text OR error IS NOT NULL AND charged_cents = refunded_cents),
  CONSTRAINT rentals_final CHECK ((status <> ALL (ARRAY['stopped'::text, 'failed'::text])) OR settled_at IS NOT NULL),
  CONSTRAINT rentals_gpu_count_check CHECK (gpu_count = ANY (ARRAY[1, 2, 4, 8])),
  CONSTRAINT rentals_hold_cents_check CHECK (hold_cents >= 0),
  CONSTRAINT rentals_id_check CHECK (id ~ '^rent_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT rentals_max_spend_cents_check CHECK (max_spend_cents > 0),
  CONSTRAINT rentals_name_check CHECK (length(name) <= 64),
  CONSTRAINT rentals_order CHECK (ended_at >= running_at),
  CONSTRAINT rentals_overage_cents_check CHECK (overage_cents >= 0),
  CONSTRAINT rentals_own_ssh_keys_check CHECK (own_ssh_keys >= 0 AND own_ssh_keys <= 10),
  CONSTRAINT rentals_port_check CHECK (port >= 1 AND port <= 65535),
  CONSTRAINT rentals_price_per_hour_cents_check CHECK (price_per_hour_cents >= 1 AND price_per_hour_cents <= 10000000),
  CONSTRAINT rentals_refund CHECK (refunded_cents >= 0 AND refunded_cents <= charged_cents),
  CONSTRAINT rentals_released_cents_check CHECK (released_cents >= 0),
  CONSTRAINT rentals_running CHECK (status <> 'running'::text OR running_at IS NOT NULL AND ended_at IS NULL),
  CONSTRAINT rentals_settled CHECK (settled_at IS NULL OR hold_cents = 0 AND (status = ANY (ARRAY['stopping'::text, 'stopped'::text, 'failed'::text]))),
  CONSTRAINT rentals_status_check CHECK (status = ANY (ARRAY['provisioning'::text, 'running'::text, 'stopping'::text, 'stopped'::text, 'failed'::text])),
  CONSTRAINT rentals_stop_reason_check CHECK (stop_reason = ANY (ARRAY['user'::text, 'auto_stop'::text, 'spend_limit'::text, 'balance_exhausted'::text, 'pod_lost'::text, 'operator'::text])),
  CONSTRAINT rentals_written_off_cents_check CHECK (written_off_cents >= 0),
  CONSTRAINT rentals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT,
  CONSTRAINT rentals_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE RESTRICT
);

-- Who was rented to in a window: what is over since before it is not read.
CREATE INDEX rentals_ended ON rentals USING btree (provider_code, ended_at);

CREATE INDEX rentals_failed ON rentals USING btree (settled_at) WHERE status = 'failed'::text;

CREATE INDEX rentals_of_key ON rentals USING btree (api_key_id, no) WHERE api_key_id IS NOT NULL;

CREATE INDEX rentals_of_user ON rentals USING btree (user_id, no DESC);

CREATE INDEX rentals_pod ON rentals USING btree (provider_code, pod_id) WHERE closed_at IS NULL;

CREATE INDEX rentals_provisioned ON rentals USING btree (running_at) WHERE running_at IS NOT NULL;

CREATE INDEX rentals_provisioning ON rentals USING btree (wallet_id) WHERE status = 'provisioning'::text;

CREATE INDEX rentals_refunded ON rentals USING btree (settled_at) WHERE refunded_cents > 0;

CREATE INDEX rentals_running ON rentals USING btree (wallet_id) WHERE status = 'running'::text;

CREATE INDEX rentals_settled_at ON rentals USING btree (settled_at) WHERE settled_at IS NOT NULL;

-- Neither column changes with a tick.
CREATE INDEX rentals_settled_of_user ON rentals USING btree (user_id, settled_at) WHERE settled_at IS NOT NULL;

CREATE INDEX rentals_unclosed ON rentals USING btree (no) WHERE closed_at IS NULL;

CREATE INDEX rentals_unsettled ON rentals USING btree (user_id) WHERE settled_at IS NULL;

-- Whether an upstream's lists are waited for is asked every 2 seconds.
CREATE INDEX rentals_waiting ON rentals USING btree (provider_code) WHERE closed_at IS NULL AND status <> 'running'::text;

CREATE INDEX rentals_young ON rentals USING btree (provider_code, running_at) WHERE closed_at IS NULL;

-- A rental stays with the key that opened it: what it costs was taken out of that key's cap.
CREATE FUNCTION rentals_key_stays()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'the rental % stays with the key that opened it', old.id
        using errcode = 'restrict_violation', constraint = 'rentals_key_stays';
    end $function$;

CREATE FUNCTION rentals_meter()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if new.status <> 'running' then
        -- Whoever ends a rental writes what its meter showed into its row.
        delete from meter_readings where rental_no = new.no;
        return null;
      end if;
      if tg_op = 'UPDATE' and (new.running_ms <> old.running_ms or new.price_per_hour_cents <> old.price_per_hour_cents) then
        -- What was charged until now no longer follows from start and price. The wallet must not move on meanwhile.
        perform 1 from wallets where id = new.wallet_id for no key update;
        update meters set running_ms = new.running_ms, price_per_hour_cents = new.price_per_hour_cents
         where rental_no = new.no;
      end if;
      insert into meter_readings (rental_no, wallet_id, price_per_hour_cents, hold_cents, charged_cents, running_ms, limit_ms)
      values (new.no, new.wallet_id, new.price_per_hour_cents, new.hold_cents, new.charged_cents, new.running_ms,
              new.limit_ms)
      on conflict (rental_no) do update set limit_ms = excluded.limit_ms;
      return null;
    end $function$;

CREATE TRIGGER rentals_key_stays BEFORE UPDATE OF api_key_id ON rentals FOR EACH ROW WHEN (old.api_key_id IS DISTINCT FROM new.api_key_id) EXECUTE FUNCTION rentals_key_stays();

CREATE TRIGGER rentals_meter_begins AFTER INSERT ON rentals FOR EACH ROW WHEN (new.status = 'running'::text) EXECUTE FUNCTION rentals_meter();

CREATE TRIGGER rentals_meter_follows AFTER UPDATE OF status, running_at, auto_stop_at, spend_limit_at, price_per_hour_cents ON rentals FOR EACH ROW WHEN (new.status = 'running'::text OR old.status = 'running'::text) EXECUTE FUNCTION rentals_meter();

-- Metering writes none of these columns.
CREATE CONSTRAINT TRIGGER rentals_reserve AFTER INSERT OR UPDATE OF max_spend_cents, settled_at ON rentals DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.api_key_id IS NOT NULL) EXECUTE FUNCTION api_keys_reserve();

CREATE TRIGGER rentals_when_restored BEFORE INSERT ON rentals FOR EACH STATEMENT EXECUTE FUNCTION refuse_when_restored();

GRANT SELECT, UPDATE (name) ON rentals TO gpu_rental_api;
GRANT SELECT ON rentals TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON rentals TO gpu_rental_worker;

-- ==== table meter_readings

-- What metering writes of a rental that runs, apart from the rental's long row: an update copies the whole row.
-- It exists exactly while the rental runs. A reading is written once or twice: little of each page need stay free.
CREATE TABLE meter_readings (
  rental_no bigint NOT NULL,
  wallet_id bigint NOT NULL,
  price_per_hour_cents integer NOT NULL,
  hold_cents bigint NOT NULL,
  charged_cents bigint NOT NULL,
  running_ms bigint NOT NULL,
  limit_ms bigint,
  -- Set while the rental waits for an auto-topup because the money ended.
  starved_ms bigint,
  -- Whether the meter has gone on with its wallet since it was read.
  follows_wallet boolean DEFAULT false NOT NULL,
  CONSTRAINT meter_readings_pkey PRIMARY KEY (rental_no),
  CONSTRAINT meter_readings_charged_cents_check CHECK (charged_cents >= 0),
  CONSTRAINT meter_readings_hold_cents_check CHECK (hold_cents >= 0)
) WITH (fillfactor=90);

CREATE INDEX meter_readings_wallet ON meter_readings USING btree (wallet_id, rental_no);

GRANT SELECT ON meter_readings TO gpu_rental_api;
GRANT SELECT ON meter_readings TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON meter_readings TO gpu_rental_worker;

-- ==== table stop_requests

-- Asked for by the API without waiting for any lock that metering holds (decision 15, "Stopping a rental"). The first
-- one wins.
CREATE TABLE stop_requests (
  rental_no bigint NOT NULL,
  requested_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  requested_by text NOT NULL,
  reason text,
  -- False once the rental is settled: the metering statement looks at open ones only.
  open boolean DEFAULT true NOT NULL,
  requested_ms bigint GENERATED ALWAYS AS (epoch_ms(requested_at)) STORED,
  CONSTRAINT stop_requests_pkey PRIMARY KEY (rental_no),
  CONSTRAINT stop_requests_requested_by_check CHECK (requested_by = ANY (ARRAY['user'::text, 'operator'::text])),
  CONSTRAINT stop_requests_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT
);

CREATE INDEX stop_requests_open ON stop_requests USING btree (rental_no) WHERE open;

GRANT SELECT, INSERT ON stop_requests TO gpu_rental_api;
GRANT SELECT, INSERT ON stop_requests TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON stop_requests TO gpu_rental_worker;

-- ==== table allocation_attempts

-- Written on a connection of its own before each upstream call (decision 21, "Lost upstream answers"): no foreign keys,
-- which would wait for the lock that the writer's own transaction holds.
CREATE TABLE allocation_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  rental_id text NOT NULL,
  attempt integer NOT NULL,
  provider_code text NOT NULL,
  listing_id text NOT NULL,
  offer_id text NOT NULL,
  tag text NOT NULL,
  price_per_hour_cents integer NOT NULL,
  -- open: may have bought a pod. adopted: its pod is the rental's. condemned: its pod, if any, must end.
  -- failed: bought nothing. gone: was condemned, and the upstream shows nothing of it.
  state text DEFAULT 'open'::text NOT NULL,
  pod_id text,
  error text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  changed_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- When the upstream itself ends the pod, unless that is renewed: the dead man's switch.
  end_by timestamp(3) with time zone,
  -- When it was decided that its pod must end, or that there is none.
  given_up_at timestamp(3) with time zone,
  -- Operators were told that its pod does not end.
  slow_end_told_at timestamp(3) with time zone,
  -- By when a machine of the attempt must answer, from its beginning (decision 76, "Boot deadlines and fit").
  deadline_ms integer,
  -- When the SSH daemon of its machine was first seen to answer.
  answered_at timestamp(3) with time zone,
  -- Why it was given up: the upstream did not deliver, or we gave it up. Null where nobody said so.
  failed_by text,
  CONSTRAINT allocation_attempts_pkey PRIMARY KEY (id),
  CONSTRAINT allocation_attempts_rental_id_attempt_key UNIQUE (rental_id, attempt),
  CONSTRAINT allocation_attempts_tag_key UNIQUE (tag),
  CONSTRAINT allocation_attempts_attempt_check CHECK (attempt > 0),
  CONSTRAINT allocation_attempts_deadline_ms_check CHECK (deadline_ms > 0),
  CONSTRAINT allocation_attempts_failed_by_check CHECK (failed_by = ANY (ARRAY['upstream'::text, 'us'::text])),
  CONSTRAINT allocation_attempts_price_per_hour_cents_check CHECK (price_per_hour_cents > 0),
  CONSTRAINT allocation_attempts_state_check CHECK (state = ANY (ARRAY['open'::text, 'adopted'::text, 'condemned'::text, 'failed'::text, 'gone'::text]))
);

CREATE UNIQUE INDEX allocation_attempts_adopted ON allocation_attempts USING btree (rental_id) WHERE state = 'adopted'::text;

CREATE INDEX allocation_attempts_age ON allocation_attempts USING btree (created_at);

CREATE INDEX allocation_attempts_undelivered ON allocation_attempts USING btree (given_up_at) WHERE failed_by = 'upstream'::text;

CREATE INDEX allocation_attempts_unresolved ON allocation_attempts USING btree (provider_code) WHERE state = ANY (ARRAY['open'::text, 'condemned'::text]);

-- Written before each purchase at an upstream.
CREATE TRIGGER allocation_attempts_when_restored BEFORE INSERT ON allocation_attempts FOR EACH STATEMENT EXECUTE FUNCTION refuse_when_restored();

GRANT SELECT ON allocation_attempts TO gpu_rental_api;
GRANT SELECT ON allocation_attempts TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON allocation_attempts TO gpu_rental_worker;

-- ==== table pods

-- The upstream's last word on each of our pods, written by the watcher of the provider; one that must end before any
-- list has shown it is noted by who ends it.
CREATE TABLE pods (
  provider_code text NOT NULL,
  pod_id text NOT NULL,
  tag text NOT NULL,
  status text NOT NULL,
  upstream_status text NOT NULL,
  host text,
  port integer,
  username text,
  price_per_hour_cents integer,
  first_seen_at timestamp(3) with time zone NOT NULL,
  -- The last list that showed it alive; kept up to date only when it stops being so.
  last_alive_at timestamp(3) with time zone,
  missing_lists integer DEFAULT 0 NOT NULL,
  gone_at timestamp(3) with time zone,
  -- How the last probes of its SSH daemon went. Only a matter for people: the upstream's own word decides.
  probed_at timestamp(3) with time zone,
  silent_probes integer DEFAULT 0 NOT NULL,
  -- Another daemon answers at its address: the upstream gave the address to somebody else, or the renter changed it.
  host_key_changed boolean DEFAULT false NOT NULL,
  -- Not in the lists any more, together with many others, while its daemon answers with its own key.
  held_since timestamp(3) with time zone,
  -- When a list first showed it active.
  active_at timestamp(3) with time zone,
  CONSTRAINT pods_pkey PRIMARY KEY (provider_code, pod_id),
  CONSTRAINT pods_silent_probes_check CHECK (silent_probes >= 0),
  CONSTRAINT pods_status_check CHECK (status = ANY (ARRAY['pending'::text, 'active'::text, 'lost'::text, 'ending'::text])),
  CONSTRAINT pods_provider_code_fkey FOREIGN KEY (provider_code) REFERENCES providers(code) ON DELETE RESTRICT
);

-- Two live machines at one address: nobody knows whose daemon answers there.
CREATE INDEX pods_address ON pods USING btree (host, port) WHERE gone_at IS NULL;

CREATE INDEX pods_gone ON pods USING btree (gone_at);

CREATE INDEX pods_live ON pods USING btree (provider_code) WHERE gone_at IS NULL;

CREATE INDEX pods_tag ON pods USING btree (tag);

-- The machines that were not asked for the longest time.
CREATE INDEX pods_to_probe ON pods USING btree (provider_code, probed_at NULLS FIRST) WHERE gone_at IS NULL AND status = 'active'::text;

GRANT SELECT ON pods TO gpu_rental_api;
GRANT SELECT ON pods TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON pods TO gpu_rental_worker;

-- ==== table intents

-- What a transaction leaves for whoever must act: delivered at least once, kept until acknowledged.
CREATE TABLE intents (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  kind text NOT NULL,
  wallet_id bigint NOT NULL,
  rental_no bigint,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  delivered_at timestamp(3) with time zone,
  acknowledged_at timestamp(3) with time zone,
  CONSTRAINT intents_pkey PRIMARY KEY (id),
  CONSTRAINT intents_kind_check CHECK (kind = ANY (ARRAY['end_rental'::text, 'pod_lost'::text, 'auto_topup'::text, 'low_balance'::text])),
  CONSTRAINT intents_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT,
  CONSTRAINT intents_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE RESTRICT
);

CREATE INDEX intents_done ON intents USING btree (acknowledged_at) WHERE acknowledged_at IS NOT NULL;

CREATE INDEX intents_due ON intents USING btree (delivered_at NULLS FIRST, id) WHERE acknowledged_at IS NULL;

CREATE UNIQUE INDEX intents_of_rental ON intents USING btree (kind, rental_no) WHERE acknowledged_at IS NULL AND rental_no IS NOT NULL;

CREATE UNIQUE INDEX intents_of_wallet ON intents USING btree (kind, wallet_id) WHERE acknowledged_at IS NULL AND rental_no IS NULL;

CREATE INDEX intents_open_of_wallet ON intents USING btree (wallet_id, kind) WHERE acknowledged_at IS NULL;

CREATE INDEX intents_rental ON intents USING btree (rental_no) WHERE rental_no IS NOT NULL;

CREATE INDEX intents_undelivered ON intents USING btree (created_at) WHERE acknowledged_at IS NULL AND delivered_at IS NULL;

GRANT INSERT (kind, wallet_id) ON intents TO gpu_rental_api;
GRANT SELECT ON intents TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON intents TO gpu_rental_worker;

-- ==== table meter_shards

CREATE TABLE meter_shards (
  shard integer NOT NULL,
  shards integer NOT NULL,
  ticks bigint DEFAULT 0 NOT NULL,
  last_tick_at timestamp(3) with time zone NOT NULL,
  -- The instant of the shard's last look, and the wallets that it saw and could not lock: the next look takes those, and
  -- what has come due since.
  looked_ms bigint DEFAULT 0 NOT NULL,
  behind bigint[] DEFAULT '{}'::bigint[] NOT NULL,
  CONSTRAINT meter_shards_pkey PRIMARY KEY (shard),
  CONSTRAINT meter_shards_check CHECK (shards > shard),
  CONSTRAINT meter_shards_shard_check CHECK (shard >= 0)
);

-- An engine of the release before writes the number of shards alone.
CREATE FUNCTION meter_shards_begin_anew()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if new.looked_ms = old.looked_ms then
        new.looked_ms := 0;
        new.behind := '{}';
      end if;
      return new;
    end $function$;

CREATE TRIGGER meter_shards_begin_anew BEFORE UPDATE ON meter_shards FOR EACH ROW WHEN (new.shards <> old.shards) EXECUTE FUNCTION meter_shards_begin_anew();

GRANT SELECT ON meter_shards TO gpu_rental_api;
GRANT SELECT ON meter_shards TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON meter_shards TO gpu_rental_worker;

-- ==== table topups

CREATE TABLE topups (
  id text NOT NULL,
  user_id text NOT NULL,
  wallet_id bigint NOT NULL,
  amount_cents integer NOT NULL,
  status text NOT NULL,
  session_id text,
  checkout_url text,
  session_expires_at timestamp(3) with time zone,
  payment_id text,
  charge_id text,
  receipt_url text,
  -- What was really received, which is what the wallet was credited with.
  credited_cents integer,
  credited_at timestamp(3) with time zone,
  error text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- The workflow is over: credited, or expired with nothing paid.
  closed_at timestamp(3) with time zone,
  source text DEFAULT 'checkout'::text NOT NULL,
  -- The saved card that is charged, or was.
  pm_id text,
  -- Set before the charge leaves: from then on its outcome is whatever the processor says.
  charge_sent_at timestamp(3) with time zone,
  decline_code text,
  page_asked_at timestamp(3) with time zone,
  CONSTRAINT topups_pkey PRIMARY KEY (id),
  CONSTRAINT topups_payment_id_key UNIQUE (payment_id),
  CONSTRAINT topups_session_id_key UNIQUE (session_id),
  CONSTRAINT topups_amount_cents_check CHECK (amount_cents >= 100 AND amount_cents <= 500000),
  CONSTRAINT topups_charge_sent CHECK (charge_sent_at IS NULL OR pm_id IS NOT NULL),
  CONSTRAINT topups_credited CHECK ((status = 'succeeded'::text) = (credited_cents IS NOT NULL AND credited_at IS NOT NULL AND payment_id IS NOT NULL)),
  CONSTRAINT topups_credited_cents_check CHECK (credited_cents > 0),
  CONSTRAINT topups_id_check CHECK (id ~ '^top_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT topups_saved_card CHECK ((source <> ALL (ARRAY['saved_card'::text, 'auto_topup'::text])) OR pm_id IS NOT NULL),
  CONSTRAINT topups_session CHECK (status <> 'requires_payment'::text OR session_id IS NOT NULL AND session_expires_at IS NOT NULL),
  CONSTRAINT topups_source CHECK (source = ANY (ARRAY['checkout'::text, 'saved_card'::text, 'auto_topup'::text])),
  CONSTRAINT topups_status_check CHECK (status = ANY (ARRAY['creating'::text, 'requires_payment'::text, 'processing'::text, 'succeeded'::text, 'expired'::text, 'failed'::text])),
  CONSTRAINT topups_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT,
  CONSTRAINT topups_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE RESTRICT
);

CREATE INDEX topups_of_user ON topups USING btree (user_id, id DESC);

CREATE UNIQUE INDEX topups_one_auto ON topups USING btree (user_id) WHERE source = 'auto_topup'::text AND closed_at IS NULL;

-- Decision 32, "Checkout and credit": one charge of a saved card in flight per user.
CREATE UNIQUE INDEX topups_one_charge ON topups USING btree (user_id) WHERE source = 'saved_card'::text AND closed_at IS NULL;

CREATE INDEX topups_unclosed ON topups USING btree (id) WHERE closed_at IS NULL;

GRANT SELECT ON topups TO gpu_rental_api;
GRANT SELECT ON topups TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON topups TO gpu_rental_worker;

-- ==== table processor_events

CREATE TABLE processor_events (
  id text NOT NULL,
  kind text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  received_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  livemode boolean NOT NULL,
  api_version text,
  object jsonb NOT NULL,
  -- The workflow that acts on it; null for a kind that nobody acts on.
  workflow_id text,
  handled_at timestamp(3) with time zone,
  note text,
  workflow_type text,
  CONSTRAINT processor_events_pkey PRIMARY KEY (id),
  CONSTRAINT processor_events_route CHECK ((workflow_type IS NULL) = (workflow_id IS NULL))
);

CREATE INDEX processor_events_age ON processor_events USING btree (received_at);

-- "A user says he paid": every event about one payment, session, refund or dispute.
CREATE INDEX processor_events_object ON processor_events USING btree ((object ->> 'id'::text));

CREATE INDEX processor_events_unhandled ON processor_events USING btree (received_at) WHERE handled_at IS NULL;

CREATE INDEX processor_events_workflow ON processor_events USING btree (workflow_id) WHERE workflow_id IS NOT NULL;

GRANT SELECT, INSERT ON processor_events TO gpu_rental_api;
GRANT SELECT, UPDATE (workflow_id, handled_at, note, workflow_type) ON processor_events TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON processor_events TO gpu_rental_worker;

-- ==== table invoices

CREATE TABLE invoices (
  id text NOT NULL,
  user_id text NOT NULL,
  wallet_id bigint NOT NULL,
  status text NOT NULL,
  reason text NOT NULL,
  amount_cents bigint NOT NULL,
  currency text DEFAULT 'USD'::text NOT NULL,
  rental_no bigint,
  -- What it was made for, so that a retry makes no second one.
  cause text NOT NULL,
  processor_invoice_id text,
  hosted_invoice_url text,
  invoice_pdf_url text,
  receipt_url text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  finalized_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone,
  paid_at timestamp(3) with time zone,
  voided_at timestamp(3) with time zone,
  -- Somebody wants it void. It is void once the processor's invoice is, which may turn out to be paid.
  void_requested_at timestamp(3) with time zone,
  void_reason text,
  -- An operator gives it up before its time.
  write_off_requested_at timestamp(3) with time zone,
  -- The payment that settled it; null when it was paid out of band, or is not paid.
  payment_id text,
  -- Its workflow should look at it: at first, and whenever somebody changed what it goes by.
  attention_at timestamp(3) with time zone DEFAULT clock_ms(),
  told_at timestamp(3) with time zone,
  -- Nothing more is expected but a late payment.
  closed_at timestamp(3) with time zone,
  CONSTRAINT invoices_pkey PRIMARY KEY (id),
  CONSTRAINT invoices_cause_key UNIQUE (cause),
  CONSTRAINT invoices_payment_id_key UNIQUE (payment_id),
  CONSTRAINT invoices_processor_invoice_id_key UNIQUE (processor_invoice_id),
  CONSTRAINT invoices_amount_cents_check CHECK (amount_cents >= 50),
  CONSTRAINT invoices_currency_check CHECK (currency = 'USD'::text),
  CONSTRAINT invoices_due CHECK (due_at IS NULL OR finalized_at IS NOT NULL),
  CONSTRAINT invoices_id_check CHECK (id ~ '^inv_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT invoices_overage CHECK (reason <> 'overage'::text OR rental_no IS NOT NULL),
  CONSTRAINT invoices_paid CHECK ((status = 'paid'::text) = (paid_at IS NOT NULL)),
  CONSTRAINT invoices_reason_check CHECK (reason = ANY (ARRAY['topup_failed'::text, 'overage'::text, 'manual'::text])),
  CONSTRAINT invoices_receipt CHECK (receipt_url IS NULL OR status = 'paid'::text),
  CONSTRAINT invoices_status_check CHECK (status = ANY (ARRAY['draft'::text, 'open'::text, 'paid'::text, 'void'::text, 'uncollectible'::text])),
  CONSTRAINT invoices_void CHECK ((status = 'void'::text) = (voided_at IS NOT NULL)),
  CONSTRAINT invoices_void_reason CHECK ((void_requested_at IS NULL) = (void_reason IS NULL)),
  CONSTRAINT invoices_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT,
  CONSTRAINT invoices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT,
  CONSTRAINT invoices_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE RESTRICT
);

CREATE INDEX invoices_attention ON invoices USING btree (attention_at) WHERE attention_at IS NOT NULL;

CREATE INDEX invoices_of_user ON invoices USING btree (user_id, id DESC);

-- Decision 35, "Invoices and reminders": at most one offer is open per user.
CREATE UNIQUE INDEX invoices_one_offer ON invoices USING btree (user_id) WHERE reason = 'topup_failed'::text AND (status = ANY (ARRAY['draft'::text, 'open'::text])) AND void_requested_at IS NULL;

CREATE INDEX invoices_unclosed ON invoices USING btree (id) WHERE closed_at IS NULL;

GRANT SELECT ON invoices TO gpu_rental_api;
GRANT SELECT ON invoices TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON invoices TO gpu_rental_worker;

-- ==== table invoice_line_items

CREATE TABLE invoice_line_items (
  id text NOT NULL,
  invoice_id text NOT NULL,
  description text NOT NULL,
  amount_cents bigint NOT NULL,
  rental_no bigint,
  period_start timestamp(3) with time zone,
  period_end timestamp(3) with time zone,
  CONSTRAINT invoice_line_items_pkey PRIMARY KEY (id),
  CONSTRAINT invoice_line_items_check CHECK (period_end >= period_start),
  CONSTRAINT invoice_line_items_id_check CHECK (id ~ '^li_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT invoice_line_items_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE RESTRICT,
  CONSTRAINT invoice_line_items_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT
);

CREATE INDEX invoice_line_items_invoice ON invoice_line_items USING btree (invoice_id);

GRANT SELECT ON invoice_line_items TO gpu_rental_api;
GRANT SELECT ON invoice_line_items TO gpu_rental_ops;
GRANT SELECT, INSERT ON invoice_line_items TO gpu_rental_worker;

-- ==== table idempotency_keys

-- Decision 6, "Idempotent retries". The row is committed before the work begins and names the entity that the work
-- makes.
CREATE TABLE idempotency_keys (
  user_id text NOT NULL,
  endpoint text NOT NULL,
  key text NOT NULL,
  body_hash bytea NOT NULL,
  target_id text NOT NULL,
  response_status integer,
  response_body jsonb,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, endpoint, key),
  CONSTRAINT idempotency_keys_body_hash_check CHECK (length(body_hash) = 32),
  CONSTRAINT idempotency_keys_check CHECK ((response_status IS NULL) = (response_body IS NULL)),
  CONSTRAINT idempotency_keys_key_check CHECK (length(key) >= 1 AND length(key) <= 255),
  CONSTRAINT idempotency_keys_response_status_check CHECK (response_status >= 200 AND response_status <= 499),
  CONSTRAINT idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX idempotency_keys_age ON idempotency_keys USING btree (created_at);

GRANT SELECT, INSERT, UPDATE ON idempotency_keys TO gpu_rental_api;
GRANT SELECT ON idempotency_keys TO gpu_rental_ops;
GRANT SELECT, DELETE ON idempotency_keys TO gpu_rental_worker;

-- ==== table mail_outbox

-- Decision 36, "The mail outbox". The cause is unique, so that a retry never mails twice.
CREATE TABLE mail_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  cause text NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  -- Wiped once sent when it carries a code.
  body text,
  wipe_after_sending boolean DEFAULT false NOT NULL,
  tries integer DEFAULT 0 NOT NULL,
  next_try_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  last_error text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  sent_at timestamp(3) with time zone,
  -- Null for mails of 0.1, which are text alone.
  html text,
  -- Switches mails of its kind off (RFC 8058); null for those that are always sent.
  unsubscribe_url text,
  CONSTRAINT mail_outbox_pkey PRIMARY KEY (id),
  CONSTRAINT mail_outbox_cause_key UNIQUE (cause),
  CONSTRAINT mail_outbox_check CHECK (body IS NOT NULL OR sent_at IS NOT NULL),
  CONSTRAINT mail_outbox_unsubscribe_url_check CHECK (length(unsubscribe_url) >= 1 AND length(unsubscribe_url) <= 2000)
);

CREATE INDEX mail_outbox_sent ON mail_outbox USING btree (sent_at) WHERE sent_at IS NOT NULL;

CREATE INDEX mail_outbox_unsent ON mail_outbox USING btree (next_try_at) WHERE sent_at IS NULL;

-- A text that carries a code is wiped once it is sent: its HTML part carries it too, and a worker of 0.1 does not
-- know of it.
CREATE FUNCTION mail_outbox_wiped()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      new.html := null;
      return new;
    end $function$;

CREATE TRIGGER mail_outbox_wiped BEFORE UPDATE OF body ON mail_outbox FOR EACH ROW WHEN (new.body IS NULL) EXECUTE FUNCTION mail_outbox_wiped();

GRANT SELECT (id, cause), INSERT ON mail_outbox TO gpu_rental_api;
GRANT SELECT (id, cause, recipient, subject, tries, next_try_at, last_error, created_at, sent_at) ON mail_outbox TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON mail_outbox TO gpu_rental_worker;

-- ==== table brakes

-- Decision 37, "Brakes and the watermark": the global brakes, and the watermark by which a restored database is
-- noticed.
CREATE TABLE brakes (
  kind text NOT NULL,
  pulled_by text NOT NULL,
  reason text NOT NULL,
  pulled_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT brakes_pkey PRIMARY KEY (kind),
  CONSTRAINT brakes_kind_check CHECK ((kind = ANY (ARRAY['creates'::text, 'charges'::text, 'metering'::text, 'restored'::text])) OR kind = 'webhooks'::text)
);

GRANT SELECT ON brakes TO gpu_rental_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON brakes TO gpu_rental_ops;
GRANT SELECT, INSERT, DELETE ON brakes TO gpu_rental_worker;

-- ==== table watermark

CREATE TABLE watermark (
  singleton boolean DEFAULT true NOT NULL,
  value bigint NOT NULL,
  raised_at timestamp(3) with time zone NOT NULL,
  -- 'new' until the watermark is first raised; null once the database was found to be behind.
  confirmed_as text,
  CONSTRAINT watermark_pkey PRIMARY KEY (singleton),
  CONSTRAINT watermark_singleton_check CHECK (singleton),
  CONSTRAINT watermark_value_check CHECK (value >= 0)
);

GRANT SELECT ON watermark TO gpu_rental_api;
GRANT SELECT ON watermark TO gpu_rental_ops;
GRANT SELECT, UPDATE ON watermark TO gpu_rental_worker;

-- ==== table saved_cards

-- A row stays when its card is removed: its detachment may still be owed to the processor, and an event that
-- comes late may not bring it back.
CREATE TABLE saved_cards (
  -- The payment method's id at the processor.
  pm_id text NOT NULL,
  user_id text NOT NULL,
  brand text NOT NULL,
  last4 text NOT NULL,
  exp_month integer NOT NULL,
  exp_year integer NOT NULL,
  -- When its owner agreed, by the processor's clock. A later card replaces an earlier one, in whatever order the
  -- events arrive.
  set_up_at timestamp(3) with time zone NOT NULL,
  saved_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  removed_at timestamp(3) with time zone,
  removed_why text,
  detached_at timestamp(3) with time zone,
  -- The user was told that it has expired.
  expiry_noticed_at timestamp(3) with time zone,
  -- What 0.1 saved has none: it is asked for before the card is charged next.
  fingerprint text,
  CONSTRAINT saved_cards_pkey PRIMARY KEY (pm_id),
  CONSTRAINT saved_cards_detached CHECK (detached_at IS NULL OR removed_at IS NOT NULL),
  CONSTRAINT saved_cards_exp_month_check CHECK (exp_month >= 1 AND exp_month <= 12),
  CONSTRAINT saved_cards_exp_year_check CHECK (exp_year >= 2000 AND exp_year <= 9999),
  CONSTRAINT saved_cards_last4_check CHECK (length(last4) >= 1 AND length(last4) <= 4),
  CONSTRAINT saved_cards_removed CHECK ((removed_at IS NULL) = (removed_why IS NULL)),
  CONSTRAINT saved_cards_removed_why_check CHECK (removed_why = ANY (ARRAY['user'::text, 'replaced'::text, 'detached'::text])),
  CONSTRAINT saved_cards_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX saved_cards_fingerprint ON saved_cards USING btree (fingerprint) WHERE removed_at IS NULL;

CREATE INDEX saved_cards_of_user ON saved_cards USING btree (user_id);

CREATE UNIQUE INDEX saved_cards_one_per_user ON saved_cards USING btree (user_id) WHERE removed_at IS NULL;

CREATE INDEX saved_cards_undetached ON saved_cards USING btree (pm_id) WHERE removed_at IS NOT NULL AND detached_at IS NULL;

CREATE INDEX saved_cards_unnoticed ON saved_cards USING btree (exp_year, exp_month) WHERE removed_at IS NULL AND expiry_noticed_at IS NULL;

GRANT SELECT, UPDATE (removed_at, removed_why) ON saved_cards TO gpu_rental_api;
GRANT SELECT ON saved_cards TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON saved_cards TO gpu_rental_worker;

-- ==== table card_setups

-- Each saving of a card that was begun: its number makes the key of the processor's call.
CREATE TABLE card_setups (
  no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  user_id text NOT NULL,
  setup_id text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT card_setups_pkey PRIMARY KEY (no),
  CONSTRAINT card_setups_setup_id_key UNIQUE (setup_id),
  CONSTRAINT card_setups_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX card_setups_age ON card_setups USING btree (created_at);

GRANT SELECT, INSERT, UPDATE ON card_setups TO gpu_rental_api;
GRANT SELECT ON card_setups TO gpu_rental_ops;
GRANT SELECT, DELETE ON card_setups TO gpu_rental_worker;

-- ==== table parked_payments

-- Money that came in and could not be credited: another currency, or nobody that it belongs to.
CREATE TABLE parked_payments (
  payment_id text NOT NULL,
  topup_id text,
  user_id text,
  amount_cents bigint NOT NULL,
  currency text NOT NULL,
  reason text NOT NULL,
  parked_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  resolved_at timestamp(3) with time zone,
  resolution text,
  credited_by text,
  CONSTRAINT parked_payments_pkey PRIMARY KEY (payment_id),
  CONSTRAINT parked_payments_credited_by_key UNIQUE (credited_by),
  CONSTRAINT parked_payments_check CHECK ((resolved_at IS NULL) = (resolution IS NULL)),
  CONSTRAINT parked_payments_credited CHECK (credited_by IS NULL OR resolved_at IS NOT NULL)
);

CREATE INDEX parked_payments_unresolved ON parked_payments USING btree (parked_at) WHERE resolved_at IS NULL;

GRANT SELECT ON parked_payments TO gpu_rental_api;
GRANT SELECT, UPDATE (resolved_at, resolution, credited_by) ON parked_payments TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON parked_payments TO gpu_rental_worker;

-- ==== table refunds_and_disputes

-- Decision 30, "Reversed payments": what the processor took back of a payment, and where it was taken from. What comes
-- back is what was debited.
CREATE TABLE refunds_and_disputes (
  id text NOT NULL,
  kind text NOT NULL,
  payment_id text NOT NULL,
  user_id text NOT NULL,
  wallet_id bigint NOT NULL,
  -- What the processor says it is about; what was taken may be less.
  amount_cents bigint NOT NULL,
  status text NOT NULL,
  debited_cents bigint DEFAULT 0 NOT NULL,
  invoiced_cents bigint DEFAULT 0 NOT NULL,
  written_off_cents bigint DEFAULT 0 NOT NULL,
  invoice_id text,
  taken_at timestamp(3) with time zone,
  given_back_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Nothing more is expected of it.
  closed_at timestamp(3) with time zone,
  CONSTRAINT refunds_and_disputes_pkey PRIMARY KEY (id),
  CONSTRAINT refunds_and_disputes_amount_cents_check CHECK (amount_cents >= 0),
  CONSTRAINT refunds_and_disputes_at_most CHECK ((debited_cents + invoiced_cents + written_off_cents) <= amount_cents),
  CONSTRAINT refunds_and_disputes_debited_cents_check CHECK (debited_cents >= 0),
  CONSTRAINT refunds_and_disputes_invoice CHECK ((invoice_id IS NULL) = (invoiced_cents = 0)),
  CONSTRAINT refunds_and_disputes_invoiced_cents_check CHECK (invoiced_cents >= 0),
  CONSTRAINT refunds_and_disputes_kind_check CHECK (kind = ANY (ARRAY['refund'::text, 'dispute'::text])),
  CONSTRAINT refunds_and_disputes_taken CHECK (taken_at IS NOT NULL OR (debited_cents + invoiced_cents + written_off_cents) = 0),
  CONSTRAINT refunds_and_disputes_written_off_cents_check CHECK (written_off_cents >= 0),
  CONSTRAINT refunds_and_disputes_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE RESTRICT,
  CONSTRAINT refunds_and_disputes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT,
  CONSTRAINT refunds_and_disputes_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE RESTRICT
);

CREATE INDEX refunds_and_disputes_payment ON refunds_and_disputes USING btree (payment_id);

CREATE INDEX refunds_and_disputes_unclosed ON refunds_and_disputes USING btree (id) WHERE closed_at IS NULL;

GRANT SELECT ON refunds_and_disputes TO gpu_rental_api;
GRANT SELECT ON refunds_and_disputes TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON refunds_and_disputes TO gpu_rental_worker;

-- ==== table event_cursor

-- Up to where the processor's own list of events was read. It starts now: what an account did before this
-- database existed is not this database's business.
CREATE TABLE event_cursor (
  singleton boolean DEFAULT true NOT NULL,
  seen_until timestamp(3) with time zone NOT NULL,
  CONSTRAINT event_cursor_pkey PRIMARY KEY (singleton),
  CONSTRAINT event_cursor_singleton_check CHECK (singleton)
);

GRANT SELECT ON event_cursor TO gpu_rental_ops;
GRANT SELECT, UPDATE ON event_cursor TO gpu_rental_worker;

-- ==== table auto_topups

-- The settings of auto-topup, and when it may fire next. The metering statement reads it for each wallet it
-- charges; no row, and it costs nothing.
CREATE TABLE auto_topups (
  wallet_id bigint NOT NULL,
  user_id text NOT NULL,
  enabled boolean NOT NULL,
  threshold_cents integer,
  topup_amount_cents integer NOT NULL,
  daily_cap_cents integer,
  -- Why it is off; null when its owner wished so, or it is on.
  disabled_why text,
  -- The cooldown of decision 34, "Trigger of auto-topup": set when an attempt begins, and whenever there is nothing to
  -- do but to wait.
  next_attempt_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT auto_topups_pkey PRIMARY KEY (wallet_id),
  CONSTRAINT auto_topups_user_id_key UNIQUE (user_id),
  CONSTRAINT auto_topups_daily_cap_cents_check CHECK (daily_cap_cents >= 1000 AND daily_cap_cents <= 5000000),
  CONSTRAINT auto_topups_disabled CHECK (disabled_why IS NULL OR NOT enabled),
  CONSTRAINT auto_topups_disabled_why_check CHECK (disabled_why = ANY (ARRAY['charge_failed'::text, 'card_removed'::text, 'card_expired'::text, 'charges_held'::text])),
  CONSTRAINT auto_topups_threshold CHECK (NOT enabled OR threshold_cents IS NOT NULL),
  CONSTRAINT auto_topups_threshold_cents_check CHECK (threshold_cents >= 100 AND threshold_cents <= 100000),
  CONSTRAINT auto_topups_topup_amount_cents_check CHECK (topup_amount_cents >= 1000 AND topup_amount_cents <= 500000),
  CONSTRAINT auto_topups_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT,
  CONSTRAINT auto_topups_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE RESTRICT
);

GRANT SELECT, INSERT, UPDATE ON auto_topups TO gpu_rental_api;
GRANT SELECT ON auto_topups TO gpu_rental_ops;
GRANT SELECT, UPDATE ON auto_topups TO gpu_rental_worker;

-- ==== table operator_actions

CREATE TABLE operator_actions (
  id text NOT NULL,
  kind text NOT NULL,
  operator text NOT NULL,
  reason text NOT NULL,
  -- What was asked for, and what came of it.
  request jsonb NOT NULL,
  result jsonb NOT NULL,
  done_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Whose login wrote what an operator did: beside the name that they gave, which nobody checks.
  login text,
  CONSTRAINT operator_actions_pkey PRIMARY KEY (id),
  CONSTRAINT operator_actions_id_check CHECK (id ~ '^op_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT operator_actions_operator_check CHECK (operator <> ''::text),
  CONSTRAINT operator_actions_reason_check CHECK (reason <> ''::text)
);

CREATE INDEX operator_actions_age ON operator_actions USING btree (done_at);

CREATE INDEX operator_actions_refunds ON operator_actions USING btree ((request ->> 'rentalId'::text)) WHERE kind = 'refund'::text;

ALTER TABLE parked_payments ADD CONSTRAINT parked_payments_credited_by_fkey FOREIGN KEY (credited_by) REFERENCES operator_actions(id) ON DELETE RESTRICT;

CREATE FUNCTION operator_actions_login()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      new.login := session_user;
      return new;
    end $function$;

CREATE FUNCTION operator_actions_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'what operators did is never changed or removed'
        using errcode = 'restrict_violation', constraint = 'operator_actions_stay';
    end $function$;

CREATE TRIGGER operator_actions_login BEFORE INSERT ON operator_actions FOR EACH ROW EXECUTE FUNCTION operator_actions_login();

CREATE TRIGGER operator_actions_not_truncated BEFORE TRUNCATE ON operator_actions FOR EACH STATEMENT EXECUTE FUNCTION operator_actions_stay();

CREATE TRIGGER operator_actions_stay BEFORE DELETE OR UPDATE ON operator_actions FOR EACH ROW EXECUTE FUNCTION operator_actions_stay();

GRANT SELECT ON operator_actions TO gpu_rental_api;
GRANT SELECT, INSERT ON operator_actions TO gpu_rental_ops;
GRANT SELECT, INSERT ON operator_actions TO gpu_rental_worker;

-- ==== table provider_oddities

-- What was skipped in the upstreams' answers, for operators: names that no table knows, words of no meaning to us.
CREATE TABLE provider_oddities (
  provider_code text NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  times bigint NOT NULL,
  first_seen_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  last_seen_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT provider_oddities_pkey PRIMARY KEY (provider_code, kind, subject),
  CONSTRAINT provider_oddities_subject_check CHECK (length(subject) <= 200),
  CONSTRAINT provider_oddities_times_check CHECK (times > 0),
  CONSTRAINT provider_oddities_provider_code_fkey FOREIGN KEY (provider_code) REFERENCES providers(code) ON DELETE RESTRICT
);

GRANT SELECT ON provider_oddities TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON provider_oddities TO gpu_rental_worker;

-- ==== table rate_limits

-- Counters of rate-limiter-flexible, which several processes share.
CREATE TABLE rate_limits (
  key character varying(255) NOT NULL,
  points integer DEFAULT 0 NOT NULL,
  expire bigint,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (key)
);

CREATE INDEX rate_limits_expiry ON rate_limits USING btree (expire);

GRANT SELECT, INSERT, UPDATE ON rate_limits TO gpu_rental_api;
GRANT SELECT ON rate_limits TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limits TO gpu_rental_worker;

-- ==== view pod_leaks

-- What pods cost us that nobody pays for: from the end of the rental, or the giving up of the attempt, until the
-- upstream showed them gone.
CREATE VIEW pod_leaks AS
 SELECT p.provider_code,
    p.pod_id,
    p.tag,
    a.rental_id,
        CASE
            WHEN a.id IS NULL THEN 'unknown tag'::text
            WHEN r.id IS NOT NULL THEN 'ending'::text
            ELSE 'given up'::text
        END AS kind,
    l.since,
    p.gone_at,
    a.slow_end_told_at,
    GREATEST(0::numeric, EXTRACT(epoch FROM COALESCE(p.gone_at, clock_ms()) - l.since))::bigint AS seconds,
    GREATEST(0::bigint, epoch_ms(COALESCE(p.gone_at, clock_ms())) - epoch_ms(l.since)) * COALESCE(p.price_per_hour_cents, a.price_per_hour_cents, 0) / 3600000 AS cents
   FROM pods p
     LEFT JOIN allocation_attempts a ON a.tag = p.tag
     LEFT JOIN rentals r ON r.id = a.rental_id AND r.provider_code = p.provider_code AND r.pod_id = p.pod_id
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN a.id IS NULL THEN p.first_seen_at
                    WHEN r.id IS NOT NULL THEN COALESCE(r.ended_at, r.settled_at)
                    WHEN a.given_up_at IS NOT NULL THEN GREATEST(p.first_seen_at, a.given_up_at)
                    ELSE NULL::timestamp with time zone
                END AS since) l
  WHERE l.since IS NOT NULL;

GRANT SELECT ON pod_leaks TO gpu_rental_ops;
GRANT SELECT ON pod_leaks TO gpu_rental_worker;

-- ==== table provider_families

-- What each provider offers of each family: counted when listings change, and not for everybody who looks.
CREATE TABLE provider_families (
  provider_code text NOT NULL,
  family text NOT NULL,
  from_price_per_hour_cents integer NOT NULL,
  listings integer NOT NULL,
  CONSTRAINT provider_families_pkey PRIMARY KEY (provider_code, family),
  CONSTRAINT provider_families_listings_check CHECK (listings > 0),
  CONSTRAINT provider_families_provider_code_fkey FOREIGN KEY (provider_code) REFERENCES providers(code) ON DELETE RESTRICT
);

GRANT SELECT ON provider_families TO gpu_rental_api;
GRANT SELECT ON provider_families TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON provider_families TO gpu_rental_worker;

-- ==== table oauth_states

CREATE TABLE oauth_states (
  -- The state goes through the provider and the browser's address; its hash alone is kept.
  state_hash bytea NOT NULL,
  -- Of the cookie of the browser that began: a callback in another browser is not answered (decision 57, "Failed
  -- sign-in elsewhere").
  browser_hash bytea NOT NULL,
  provider text NOT NULL,
  -- RFC 7636 4.1. It must be sent as it is, and is worth nothing without the code and the client's secret.
  code_verifier text NOT NULL,
  nonce text NOT NULL,
  return_path text NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  used_at timestamp(3) with time zone,
  CONSTRAINT oauth_states_pkey PRIMARY KEY (state_hash),
  CONSTRAINT oauth_states_browser_hash_check CHECK (length(browser_hash) = 32),
  CONSTRAINT oauth_states_check CHECK (expires_at > created_at),
  CONSTRAINT oauth_states_code_verifier_check CHECK (length(code_verifier) >= 43 AND length(code_verifier) <= 128),
  CONSTRAINT oauth_states_nonce_check CHECK (length(nonce) >= 22 AND length(nonce) <= 128),
  CONSTRAINT oauth_states_provider_check CHECK (provider = ANY (ARRAY['google'::text, 'github'::text, 'oidc'::text])),
  CONSTRAINT oauth_states_return_path_check CHECK (return_path ~ '^/'::text AND return_path !~ '^/[/\\]'::text),
  CONSTRAINT oauth_states_state_hash_check CHECK (length(state_hash) = 32)
);

CREATE INDEX oauth_states_expiry ON oauth_states USING btree (expires_at);

GRANT SELECT, INSERT, UPDATE (used_at) ON oauth_states TO gpu_rental_api;
GRANT SELECT, DELETE ON oauth_states TO gpu_rental_worker;

-- ==== table audit_events

CREATE TABLE audit_events (
  no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  user_id text NOT NULL,
  kind text NOT NULL,
  -- The key, rental, top-up, card or operation that it is about.
  entity_id text,
  -- What that entity's own row does not keep, such as settings that are overwritten.
  details jsonb,
  -- From where; null where no request of the user's is known.
  client_address text,
  at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Keys go by age; that they did something stays.
  api_key_id text,
  CONSTRAINT audit_events_pkey PRIMARY KEY (no),
  CONSTRAINT audit_events_id_key UNIQUE (id),
  CONSTRAINT audit_events_api_key_id_check CHECK (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT audit_events_client_address_check CHECK (length(client_address) >= 1 AND length(client_address) <= 64),
  CONSTRAINT audit_events_details_check CHECK (jsonb_typeof(details) = 'object'::text),
  CONSTRAINT audit_events_id_check CHECK (id ~ '^aud_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT audit_events_kind_check CHECK ((kind = ANY (ARRAY['signed_in'::text, 'signed_out'::text, 'ssh_key_added'::text, 'ssh_key_removed'::text, 'rental_created'::text, 'rental_stopped'::text, 'checkout_begun'::text, 'card_saved'::text, 'card_removed'::text, 'auto_topup_changed'::text, 'changed_by_operator'::text, 'charges_held'::text, 'notices_changed'::text])) OR kind = 'rental_ended'::text OR (kind = ANY (ARRAY['webhook_created'::text, 'webhook_changed'::text, 'webhook_removed'::text, 'webhook_switched_off'::text, 'notices_changed'::text])) OR kind = 'rental_changed'::text OR (kind = ANY (ARRAY['api_key_created'::text, 'api_key_changed'::text, 'api_key_revoked'::text])) OR kind = 'budget_changed'::text OR kind = 'proof_refreshed'::text),
  CONSTRAINT audit_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX audit_events_addresses ON audit_events USING btree (at) WHERE client_address IS NOT NULL;

CREATE INDEX audit_events_by_kind ON audit_events USING btree (user_id, kind, no DESC);

CREATE INDEX audit_events_newest ON audit_events USING btree (user_id, no DESC);

-- A request that is sent again is the same event.
CREATE UNIQUE INDEX audit_events_once ON audit_events USING btree (kind, entity_id) WHERE entity_id IS NOT NULL;

CREATE FUNCTION audit_events_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  declare
    is_old boolean := old.at < clock_ms() - interval '90 days';
  begin
    if tg_op = 'UPDATE' and to_jsonb(new) - 'client_address' = to_jsonb(old) - 'client_address' then
      if is_old and new.client_address is null then
        return new;
      end if;
      -- A workflow writes what a request asked for; the request adds from where it came.
      if old.client_address is null then
        if is_old then
          new.client_address := null;
        end if;
        return new;
      end if;
    end if;
    raise exception 'what was done is never changed or removed'
      using errcode = 'restrict_violation', constraint = 'audit_events_stay';
  end $function$;

CREATE TRIGGER audit_events_not_truncated BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION audit_events_stay();

CREATE TRIGGER audit_events_stay BEFORE DELETE OR UPDATE ON audit_events FOR EACH ROW EXECUTE FUNCTION audit_events_stay();

GRANT SELECT, INSERT, UPDATE (client_address) ON audit_events TO gpu_rental_api;
GRANT SELECT, INSERT, UPDATE (client_address) ON audit_events TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE (client_address) ON audit_events TO gpu_rental_worker;

-- ==== table reconcile_runs

CREATE TABLE reconcile_runs (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  scope text NOT NULL,
  started_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  finished_at timestamp(3) with time zone,
  CONSTRAINT reconcile_runs_pkey PRIMARY KEY (id),
  CONSTRAINT reconcile_runs_scope_check CHECK (scope = ANY (ARRAY['window'::text, 'full'::text]))
);

CREATE INDEX reconcile_runs_age ON reconcile_runs USING btree (started_at);

GRANT SELECT ON reconcile_runs TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON reconcile_runs TO gpu_rental_worker;

-- ==== table reconcile_sources

-- The error bar, one row per source ('charges', 'pods:lab'): what is not compared is never counted as fine.
CREATE TABLE reconcile_sources (
  source text NOT NULL,
  -- Everything that happened before it was compared: the next run begins here, however long the last one is ago.
  compared_until timestamp(3) with time zone,
  -- When it was last compared from its very beginning.
  full_at timestamp(3) with time zone,
  first_tried_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Since when, and why, it can't be compared, or not all of it.
  failing_since timestamp(3) with time zone,
  failing_why text,
  CONSTRAINT reconcile_sources_pkey PRIMARY KEY (source),
  CONSTRAINT reconcile_sources_check CHECK ((failing_since IS NULL) = (failing_why IS NULL))
);

GRANT SELECT ON reconcile_sources TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON reconcile_sources TO gpu_rental_worker;

-- ==== table reconcile_findings

CREATE TABLE reconcile_findings (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  kind text NOT NULL,
  -- Which comparison found it: it is resolved by the next run that could make that comparison and did not find it.
  source text NOT NULL,
  -- What it is about, once per kind while it stands: pi_…, re_…, in_…, rent_…, led_…, a pod.
  subject text NOT NULL,
  -- The ids by which an operator goes on.
  subject_ids jsonb NOT NULL,
  -- What each side said when it was last seen.
  evidence jsonb NOT NULL,
  state text DEFAULT 'open'::text NOT NULL,
  first_run_id bigint NOT NULL,
  last_run_id bigint NOT NULL,
  first_seen_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  last_seen_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Operators were told by mail.
  told_at timestamp(3) with time zone,
  acknowledged_at timestamp(3) with time zone,
  acknowledged_by text,
  acknowledged_why text,
  resolved_at timestamp(3) with time zone,
  CONSTRAINT reconcile_findings_pkey PRIMARY KEY (id),
  CONSTRAINT reconcile_findings_acknowledged CHECK (state <> 'acknowledged'::text OR acknowledged_at IS NOT NULL AND acknowledged_by <> ''::text AND acknowledged_why <> ''::text),
  CONSTRAINT reconcile_findings_check CHECK (last_seen_at >= first_seen_at),
  CONSTRAINT reconcile_findings_kind_check CHECK (kind ~ '^[a-z_]{1,40}$'::text),
  CONSTRAINT reconcile_findings_resolved CHECK ((state = 'resolved'::text) = (resolved_at IS NOT NULL)),
  CONSTRAINT reconcile_findings_state_check CHECK (state = ANY (ARRAY['open'::text, 'acknowledged'::text, 'resolved'::text])),
  CONSTRAINT reconcile_findings_first_run_id_fkey FOREIGN KEY (first_run_id) REFERENCES reconcile_runs(id) ON DELETE RESTRICT,
  CONSTRAINT reconcile_findings_last_run_id_fkey FOREIGN KEY (last_run_id) REFERENCES reconcile_runs(id) ON DELETE RESTRICT
);

CREATE INDEX reconcile_findings_first_run ON reconcile_findings USING btree (first_run_id);

CREATE INDEX reconcile_findings_last_run ON reconcile_findings USING btree (last_run_id);

CREATE INDEX reconcile_findings_resolved ON reconcile_findings USING btree (resolved_at) WHERE state = 'resolved'::text;

-- One that comes back after it was resolved is a new one.
CREATE UNIQUE INDEX reconcile_findings_standing ON reconcile_findings USING btree (kind, subject) WHERE state <> 'resolved'::text;

CREATE INDEX reconcile_findings_untold ON reconcile_findings USING btree (id) WHERE state = 'open'::text AND told_at IS NULL;

GRANT SELECT, UPDATE (state, acknowledged_at, acknowledged_by, acknowledged_why) ON reconcile_findings TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON reconcile_findings TO gpu_rental_worker;

-- ==== table reconcile_documents

-- What the processor's lists said during one run; both sides are then compared by one statement. Gone with the run.
CREATE TABLE reconcile_documents (
  run_id bigint NOT NULL,
  kind text NOT NULL,
  -- A charge goes by its payment, where it has one: the ledger's causes name payments.
  id text NOT NULL,
  -- The processor's word; 'missing' for what we know of and it does not.
  status text NOT NULL,
  payment_id text,
  charge_id text,
  our_id text,
  customer_id text,
  amount_cents bigint DEFAULT 0 NOT NULL,
  refunded_cents bigint DEFAULT 0 NOT NULL,
  currency text,
  taken boolean DEFAULT false NOT NULL,
  returned boolean DEFAULT false NOT NULL,
  -- When it last changed; null for one that was asked for by its id because it is no news.
  at timestamp(3) with time zone,
  CONSTRAINT reconcile_documents_pkey PRIMARY KEY (run_id, kind, id),
  CONSTRAINT reconcile_documents_kind_check CHECK (kind = ANY (ARRAY['charge'::text, 'refund'::text, 'dispute'::text, 'invoice'::text])),
  CONSTRAINT reconcile_documents_run_id_fkey FOREIGN KEY (run_id) REFERENCES reconcile_runs(id) ON DELETE CASCADE
);

GRANT SELECT, INSERT, UPDATE, DELETE ON reconcile_documents TO gpu_rental_worker;

-- ==== table unknown_pods

-- Machines that a restored database does not know. They are not ended before a human has decided.
CREATE TABLE unknown_pods (
  provider_code text NOT NULL,
  pod_id text NOT NULL,
  tag text NOT NULL,
  listed_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  released_at timestamp(3) with time zone,
  released_by text,
  released_why text,
  CONSTRAINT unknown_pods_pkey PRIMARY KEY (provider_code, pod_id),
  CONSTRAINT unknown_pods_released CHECK ((released_at IS NULL) = (released_by IS NULL) AND (released_at IS NULL) = (released_why IS NULL))
);

GRANT SELECT, UPDATE (released_at, released_by, released_why) ON unknown_pods TO gpu_rental_ops;
GRANT SELECT, INSERT ON unknown_pods TO gpu_rental_worker;

-- ==== table stuck_items

-- Items of the loops whose last try failed; one that succeeds has no row. Whichever loop it is, the next try waits
-- until its time, and one that used up its tries is set aside: operators are told, and it is tried once an hour.
CREATE TABLE stuck_items (
  -- What is done with it (domain/operations/stuck.ts), and which item it is: a workflow's id, a row's, a machine's.
  duty text NOT NULL,
  item text NOT NULL,
  attempts integer NOT NULL,
  last_error text NOT NULL,
  first_failed_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  last_failed_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  next_attempt_at timestamp(3) with time zone NOT NULL,
  set_aside_at timestamp(3) with time zone,
  CONSTRAINT stuck_items_pkey PRIMARY KEY (duty, item),
  CONSTRAINT stuck_items_attempts_check CHECK (attempts >= 0),
  CONSTRAINT stuck_items_duty_check CHECK (duty ~ '^[a-z_]{1,40}$'::text),
  CONSTRAINT stuck_items_item_check CHECK (length(item) >= 1 AND length(item) <= 300)
);

CREATE INDEX stuck_items_next ON stuck_items USING btree (next_attempt_at);

CREATE INDEX stuck_items_set_aside ON stuck_items USING btree (set_aside_at) WHERE set_aside_at IS NOT NULL;

GRANT SELECT, UPDATE (attempts, next_attempt_at, set_aside_at) ON stuck_items TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON stuck_items TO gpu_rental_worker;

-- ==== table look_signals

-- Which workflows were told to look and have not looked since, and how often each was told today: the server takes
-- a limited number of signals per run, and refuses all others from then on.
CREATE TABLE look_signals (
  workflow_id text NOT NULL,
  workflow_type text NOT NULL,
  -- When it was last wanted, told or not.
  wanted_at timestamp(3) with time zone NOT NULL,
  -- Since when a signal is unhandled; null: none is.
  told_at timestamp(3) with time zone,
  -- How many it was sent on this day (UTC).
  counted_on date NOT NULL,
  signals integer NOT NULL,
  CONSTRAINT look_signals_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT look_signals_signals_check CHECK (signals >= 0),
  CONSTRAINT look_signals_workflow_id_check CHECK (length(workflow_id) >= 1 AND length(workflow_id) <= 300)
);

CREATE INDEX look_signals_many ON look_signals USING btree (counted_on) WHERE signals >= 900;

CREATE INDEX look_signals_wanted ON look_signals USING btree (wanted_at);

GRANT SELECT, INSERT, UPDATE ON look_signals TO gpu_rental_api;
GRANT SELECT ON look_signals TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON look_signals TO gpu_rental_worker;

-- ==== table lost_machines

CREATE TABLE lost_machines (
  rental_no bigint NOT NULL,
  last_alive_at timestamp(3) with time zone NOT NULL,
  settled_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT lost_machines_pkey PRIMARY KEY (rental_no),
  CONSTRAINT lost_machines_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT
);

-- Losses by the time at which they became known.
CREATE INDEX lost_machines_settled ON lost_machines USING btree (settled_at);

GRANT SELECT ON lost_machines TO gpu_rental_ops;
GRANT SELECT, INSERT ON lost_machines TO gpu_rental_worker;

-- ==== table operator_notices

-- Written by whoever meets it, in its own transaction; logged and mailed by the next housekeeping.
CREATE TABLE operator_notices (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  cause text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  noted_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  told_at timestamp(3) with time zone,
  html text,
  CONSTRAINT operator_notices_pkey PRIMARY KEY (id),
  CONSTRAINT operator_notices_cause_key UNIQUE (cause),
  CONSTRAINT operator_notices_body_check CHECK (length(body) <= 4000),
  CONSTRAINT operator_notices_cause_check CHECK (length(cause) <= 200),
  CONSTRAINT operator_notices_subject_check CHECK (length(subject) <= 200)
);

CREATE INDEX operator_notices_told ON operator_notices USING btree (told_at) WHERE told_at IS NOT NULL;

CREATE INDEX operator_notices_untold ON operator_notices USING btree (id) WHERE told_at IS NULL;

GRANT SELECT ON operator_notices TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON operator_notices TO gpu_rental_worker;

-- ==== table charge_marks

CREATE TABLE charge_marks (
  -- The dispute's, or the early fraud warning's, at the processor.
  id text NOT NULL,
  kind text NOT NULL,
  charge_id text NOT NULL,
  -- Whose payment it was, and which card paid it; a card is known by its fingerprint, whoever saves it.
  user_id text,
  fingerprint text,
  marked_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- By an operator; who and why stands in operator_actions.
  lifted_at timestamp(3) with time zone,
  CONSTRAINT charge_marks_pkey PRIMARY KEY (id),
  CONSTRAINT charge_marks_kind_check CHECK (kind = ANY (ARRAY['dispute'::text, 'early_fraud_warning'::text])),
  CONSTRAINT charge_marks_of_somebody CHECK (user_id IS NOT NULL OR fingerprint IS NOT NULL),
  CONSTRAINT charge_marks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX charge_marks_of_card ON charge_marks USING btree (fingerprint) WHERE lifted_at IS NULL;

CREATE INDEX charge_marks_of_user ON charge_marks USING btree (user_id) WHERE lifted_at IS NULL;

GRANT SELECT ON charge_marks TO gpu_rental_api;
GRANT SELECT, UPDATE (lifted_at) ON charge_marks TO gpu_rental_ops;
GRANT SELECT, INSERT ON charge_marks TO gpu_rental_worker;

-- ==== view free_machines

-- What a machine cost until its rental ended, at the upstream's price; pod_leaks goes on from there.
CREATE VIEW free_machines AS
 SELECT r.provider_code,
    r.id AS rental_id,
    r.user_id,
    r.settled_at,
    u.kind,
    u.seconds,
    u.seconds * COALESCE(p.price_per_hour_cents, r.price_per_hour_cents) / 3600 AS cents
   FROM rentals r
     LEFT JOIN pods p ON p.provider_code = r.provider_code AND p.pod_id = r.pod_id
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN r.running_at IS NOT NULL AND r.status = 'failed'::text THEN 'lost at once'::text
                    WHEN r.running_at IS NOT NULL THEN 'below a cent'::text
                    WHEN r.status = 'failed'::text THEN 'never ready'::text
                    ELSE 'stopped while provisioning'::text
                END AS kind,
                CASE
                    WHEN r.pod_id IS NULL THEN 0::bigint
                    ELSE GREATEST(0::numeric, EXTRACT(epoch FROM COALESCE(r.ended_at, r.settled_at) - r.started_at))::bigint
                END AS seconds) u
  WHERE r.settled_at IS NOT NULL AND r.charged_cents = r.refunded_cents;

GRANT SELECT ON free_machines TO gpu_rental_ops;

-- ==== table identities

-- Whose an account at an identity provider is: by issuer and subject (OpenID Connect Core 5.7), which stay, and
-- not by an address, which may be given to somebody else.
CREATE TABLE identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id text NOT NULL,
  linked_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject),
  -- Another one that the owner of the mailbox has confirmed takes its place.
  CONSTRAINT identities_one_per_issuer UNIQUE (user_id, issuer),
  CONSTRAINT identities_issuer_check CHECK (length(issuer) >= 1 AND length(issuer) <= 255),
  CONSTRAINT identities_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 255),
  CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

GRANT SELECT, INSERT, UPDATE (subject, linked_at) ON identities TO gpu_rental_api;
GRANT SELECT ON identities TO gpu_rental_ops;

-- ==== table failed_sign_ins

-- Tries of codes that did not sign in, by the user whose address they named. Counters and no audit rows: strangers
-- make as many as they like.
CREATE TABLE failed_sign_ins (
  user_id text NOT NULL,
  hour timestamp(3) with time zone NOT NULL,
  failed integer NOT NULL,
  CONSTRAINT failed_sign_ins_pkey PRIMARY KEY (user_id, hour),
  CONSTRAINT failed_sign_ins_failed_check CHECK (failed > 0),
  CONSTRAINT failed_sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX failed_sign_ins_age ON failed_sign_ins USING btree (hour);

GRANT SELECT, INSERT, UPDATE (failed) ON failed_sign_ins TO gpu_rental_api;
GRANT SELECT ON failed_sign_ins TO gpu_rental_ops;
GRANT SELECT, DELETE ON failed_sign_ins TO gpu_rental_worker;

-- ==== table odd_events

-- Signed by the processor, and not to be read as an event: kept for operators, answered 200. The same body that is
-- delivered again is the same row.
CREATE TABLE odd_events (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  body_hash bytea NOT NULL,
  -- Its beginning.
  body text NOT NULL,
  reason text NOT NULL,
  deliveries integer DEFAULT 1 NOT NULL,
  first_received_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  last_received_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT odd_events_pkey PRIMARY KEY (id),
  CONSTRAINT odd_events_body_hash_key UNIQUE (body_hash),
  CONSTRAINT odd_events_body_check CHECK (length(body) <= 65536),
  CONSTRAINT odd_events_body_hash_check CHECK (length(body_hash) = 32),
  CONSTRAINT odd_events_deliveries_check CHECK (deliveries > 0)
);

CREATE INDEX odd_events_age ON odd_events USING btree (last_received_at);

GRANT SELECT (id, body_hash, deliveries), INSERT, UPDATE (deliveries, last_received_at) ON odd_events TO gpu_rental_api;
GRANT SELECT ON odd_events TO gpu_rental_ops;
GRANT SELECT, DELETE ON odd_events TO gpu_rental_worker;

-- ==== table installation_keys

-- Made once for each installation. They guard no money: with them one could count wallets, or ask for mails.
CREATE TABLE installation_keys (
  name text NOT NULL,
  key bytea NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT installation_keys_pkey PRIMARY KEY (name),
  CONSTRAINT installation_keys_key_check CHECK (length(key) = ANY (ARRAY[16, 32])),
  CONSTRAINT installation_keys_name_check CHECK (name = ANY (ARRAY['ledger_ids'::text, 'known_browsers'::text, 'unsubscribe_links'::text]))
);

GRANT SELECT ON installation_keys TO gpu_rental_api;
GRANT SELECT ON installation_keys TO gpu_rental_ops;
GRANT SELECT ON installation_keys TO gpu_rental_worker;

-- ==== table operator_orders

CREATE TABLE operator_orders (
  -- Its workflow's id, and part of the cause of the ledger entry that it makes.
  id text NOT NULL,
  kind text NOT NULL,
  -- What is asked for, as domain/operations/operation.ts says it.
  request jsonb NOT NULL,
  amount_cents bigint GENERATED ALWAYS AS ((request ->> 'amountCents'::text)::bigint) STORED,
  reason text NOT NULL,
  -- The name that whoever asks has given; nobody checks it. A login of their own says it better.
  said_by text,
  requested_by text NOT NULL,
  requested_at timestamp(3) with time zone NOT NULL,
  -- approved, rejected: by an operator who did not request it. done, refused: by the worker, for good.
  status text NOT NULL,
  approved_by text,
  approved_at timestamp(3) with time zone,
  rejected_by text,
  rejected_why text,
  closed_at timestamp(3) with time zone,
  -- Why it was refused, or what came of it.
  code text,
  message text,
  -- As it was written: people read it in this order.
  result json,
  CONSTRAINT operator_orders_pkey PRIMARY KEY (id),
  CONSTRAINT operator_orders_approved CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
  CONSTRAINT operator_orders_closed CHECK ((status = ANY (ARRAY['requested'::text, 'approved'::text])) = (closed_at IS NULL)),
  CONSTRAINT operator_orders_done CHECK ((status = 'done'::text) = (result IS NOT NULL)),
  CONSTRAINT operator_orders_id_check CHECK (id ~ '^op_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT operator_orders_kind_check CHECK (kind = ANY (ARRAY['refund'::text, 'refund_rentals'::text, 'adjust'::text, 'issue_invoice'::text, 'void_invoice'::text, 'write_off_invoice'::text, 'terminate_rental'::text, 'reconcile_restored'::text])),
  CONSTRAINT operator_orders_reason_check CHECK (btrim(reason) <> ''::text AND length(reason) <= 500),
  CONSTRAINT operator_orders_refused CHECK ((status = 'refused'::text) = (code IS NOT NULL) AND (code IS NULL) = (message IS NULL)),
  CONSTRAINT operator_orders_rejected CHECK ((status = 'rejected'::text) = (rejected_by IS NOT NULL) AND (rejected_by IS NULL) = (rejected_why IS NULL)),
  CONSTRAINT operator_orders_rejected_why_check CHECK (btrim(rejected_why) <> ''::text AND length(rejected_why) <= 500),
  CONSTRAINT operator_orders_request CHECK ((request ->> 'kind'::text) = kind),
  CONSTRAINT operator_orders_said_by_check CHECK (length(said_by) <= 100),
  CONSTRAINT operator_orders_status_check CHECK (status = ANY (ARRAY['requested'::text, 'approved'::text, 'rejected'::text, 'done'::text, 'refused'::text])),
  -- Each of the two by a login of their own: one that is shared could be either's.
  CONSTRAINT operator_orders_two_people CHECK (approved_by IS NULL OR approved_by <> requested_by AND approved_by ~~ 'operator\_%'::text AND requested_by ~~ 'operator\_%'::text)
);

CREATE INDEX operator_orders_age ON operator_orders USING btree (requested_at);

CREATE INDEX operator_orders_open ON operator_orders USING btree (requested_at) WHERE closed_at IS NULL;

-- An order of many is done when all of it is.
CREATE FUNCTION operator_orders_all_done()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if exists (select 1 from operator_order_items where order_id = new.id and done_at is null) then
        raise exception 'items of the order % are not done', new.id
          using errcode = 'check_violation', constraint = 'operator_orders_all_done';
      end if;
      return new;
    end $function$;

-- Who asks and who approves is the login's word; what was asked for stays; what has ended has ended.
CREATE FUNCTION operator_orders_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      by_operator boolean := pg_has_role(current_user, 'gpu_rental_ops', 'member');
      by_worker boolean := pg_has_role(current_user, 'gpu_rental_worker', 'member');
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
    end $function$;

-- Asked at the commit of the order.
CREATE FUNCTION operator_orders_itemized()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      items bigint;
      cents bigint;
    begin
      select count(*), sum(amount_cents) into items, cents from operator_order_items where order_id = new.id;
      if (items, cents) is distinct from ((new.request ->> 'rentals')::bigint, new.amount_cents) then
        raise exception 'the order % asks for % cents of % rentals, and its items are % cents of %',
          new.id, new.amount_cents, new.request ->> 'rentals', coalesce(cents, 0), items
          using errcode = 'check_violation', constraint = 'operator_order_items_sum';
      end if;
      return null;
    end $function$;

CREATE FUNCTION operator_orders_requested()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      new.requested_by := session_user;
      new.requested_at := clock_ms();
      new.status := 'requested';
      new.approved_by := null;
      new.approved_at := null;
      return new;
    end $function$;

CREATE FUNCTION operator_orders_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'what operators asked for is never removed'
        using errcode = 'restrict_violation', constraint = 'operator_orders_stay';
    end $function$;

CREATE TRIGGER operator_orders_all_done BEFORE UPDATE ON operator_orders FOR EACH ROW WHEN (new.kind = 'refund_rentals'::text AND new.status = 'done'::text) EXECUTE FUNCTION operator_orders_all_done();

CREATE TRIGGER operator_orders_changed BEFORE UPDATE ON operator_orders FOR EACH ROW EXECUTE FUNCTION operator_orders_changed();

CREATE CONSTRAINT TRIGGER operator_orders_itemized AFTER INSERT ON operator_orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.kind = 'refund_rentals'::text) EXECUTE FUNCTION operator_orders_itemized();

CREATE TRIGGER operator_orders_not_truncated BEFORE TRUNCATE ON operator_orders FOR EACH STATEMENT EXECUTE FUNCTION operator_orders_stay();

CREATE TRIGGER operator_orders_requested BEFORE INSERT ON operator_orders FOR EACH ROW EXECUTE FUNCTION operator_orders_requested();

CREATE TRIGGER operator_orders_stay BEFORE DELETE ON operator_orders FOR EACH ROW EXECUTE FUNCTION operator_orders_stay();

GRANT SELECT, INSERT (id, kind, request, reason, said_by), UPDATE (status, rejected_why) ON operator_orders TO gpu_rental_ops;
GRANT SELECT, UPDATE (status, code, message, result) ON operator_orders TO gpu_rental_worker;

-- ==== table rental_requests

-- What a user asked for, committed before the workflow starts that does it. Never changed.
CREATE TABLE rental_requests (
  id text NOT NULL,
  user_id text NOT NULL,
  family_id text NOT NULL,
  gpu_count integer NOT NULL,
  template_id text NOT NULL,
  region text,
  name text,
  ssh_key_ids text[] NOT NULL,
  auto_stop_after_ms bigint,
  max_spend_cents bigint,
  max_price_per_hour_cents bigint,
  -- Nothing is opened after it (decision 4, "Promise of a 503").
  answer_before timestamp(3) with time zone NOT NULL,
  requested_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- The quote by which the rental is opened: one machine for all requests that name it. Quotes go before requests do.
  quote_id text,
  labels jsonb,
  api_key_id text,
  -- Public keys of this rental alone.
  ssh_public_keys text[],
  CONSTRAINT rental_requests_pkey PRIMARY KEY (id),
  CONSTRAINT rental_requests_api_key_id_check CHECK (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT rental_requests_auto_stop_after_ms_check CHECK (auto_stop_after_ms >= 1 AND auto_stop_after_ms <= '2592000000'::bigint),
  CONSTRAINT rental_requests_gpu_count_check CHECK (gpu_count = ANY (ARRAY[1, 2, 4, 8])),
  CONSTRAINT rental_requests_id_check CHECK (id ~ '^rent_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT rental_requests_labels_check CHECK (jsonb_typeof(labels) = 'object'::text),
  CONSTRAINT rental_requests_max_price_per_hour_cents_check CHECK (max_price_per_hour_cents > 0),
  CONSTRAINT rental_requests_max_spend_cents_check CHECK (max_spend_cents > 0),
  CONSTRAINT rental_requests_name_check CHECK (length(name) <= 64),
  CONSTRAINT rental_requests_quote_id_check CHECK (quote_id ~ '^quo_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT rental_requests_ssh_public_keys_check CHECK (cardinality(ssh_public_keys) >= 1 AND cardinality(ssh_public_keys) <= 10),
  CONSTRAINT rental_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX rental_requests_age ON rental_requests USING btree (requested_at);

CREATE INDEX rental_requests_quote ON rental_requests USING btree (quote_id) WHERE quote_id IS NOT NULL;

GRANT SELECT, INSERT ON rental_requests TO gpu_rental_api;
GRANT SELECT ON rental_requests TO gpu_rental_ops;
GRANT SELECT, DELETE ON rental_requests TO gpu_rental_worker;

-- ==== table topup_requests

CREATE TABLE topup_requests (
  id text NOT NULL,
  user_id text NOT NULL,
  amount_cents integer NOT NULL,
  answer_before timestamp(3) with time zone NOT NULL,
  requested_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  api_key_id text,
  CONSTRAINT topup_requests_pkey PRIMARY KEY (id),
  CONSTRAINT topup_requests_amount_cents_check CHECK (amount_cents >= 100 AND amount_cents <= 500000),
  CONSTRAINT topup_requests_api_key_id_check CHECK (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT topup_requests_id_check CHECK (id ~ '^top_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT topup_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX topup_requests_age ON topup_requests USING btree (requested_at);

GRANT SELECT, INSERT ON topup_requests TO gpu_rental_api;
GRANT SELECT ON topup_requests TO gpu_rental_ops;
GRANT SELECT, DELETE ON topup_requests TO gpu_rental_worker;

-- ==== table answered_machines

-- Where a machine answered, from the moment that it did until its billing begins.
CREATE TABLE answered_machines (
  rental_no bigint NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  username text NOT NULL,
  host_key_fingerprint text,
  answered_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT answered_machines_pkey PRIMARY KEY (rental_no),
  CONSTRAINT answered_machines_port_check CHECK (port >= 1 AND port <= 65535),
  CONSTRAINT answered_machines_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE CASCADE
);

CREATE INDEX answered_machines_age ON answered_machines USING btree (answered_at);

GRANT SELECT ON answered_machines TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON answered_machines TO gpu_rental_worker;

-- ==== table provider_quotas

-- One row for each upstream that tells its quotas; it says how they stood in its last answer (decision 93, "Quotas and
-- upstream money").
CREATE TABLE provider_quotas (
  provider_code text NOT NULL,
  -- Elements as QuotaWindow in adapters/providers/upstream/quotas.ts says; ends are counted from told_at.
  windows jsonb NOT NULL,
  told_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- The reads that were let through so far are paid for until then.
  next_read_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT provider_quotas_pkey PRIMARY KEY (provider_code),
  CONSTRAINT provider_quotas_provider_code_check CHECK (provider_code ~ '^[a-z0-9-]{1,32}$'::text),
  CONSTRAINT provider_quotas_windows_check CHECK (jsonb_typeof(windows) = 'array'::text AND jsonb_array_length(windows) >= 1 AND jsonb_array_length(windows) <= 10)
);

GRANT SELECT ON provider_quotas TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON provider_quotas TO gpu_rental_worker;

-- ==== table operator_order_items

CREATE TABLE operator_order_items (
  order_id text NOT NULL,
  rental_no bigint NOT NULL,
  -- At most so much is given back.
  amount_cents bigint NOT NULL,
  -- What was given back: less where others gave it back first. Null until it is done.
  refunded_cents bigint,
  done_at timestamp(3) with time zone,
  CONSTRAINT operator_order_items_pkey PRIMARY KEY (order_id, rental_no),
  CONSTRAINT operator_order_items_amount_cents_check CHECK (amount_cents > 0),
  CONSTRAINT operator_order_items_check CHECK (refunded_cents >= 0 AND refunded_cents <= amount_cents),
  CONSTRAINT operator_order_items_done CHECK ((refunded_cents IS NULL) = (done_at IS NULL)),
  CONSTRAINT operator_order_items_order_id_fkey FOREIGN KEY (order_id) REFERENCES operator_orders(id) ON DELETE RESTRICT,
  CONSTRAINT operator_order_items_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT
);

-- What a rental was given back before.
CREATE INDEX operator_order_items_rental ON operator_order_items USING btree (rental_no);

CREATE INDEX operator_order_items_undone ON operator_order_items USING btree (order_id, rental_no) WHERE done_at IS NULL;

-- Items are the order's from its first moment. None is added later: the sum would not be the order's any more.
CREATE FUNCTION operator_order_items_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if exists (
        select 1 from (select distinct order_id from added) a
          join operator_orders o on o.id = a.order_id
         where o.kind <> 'refund_rentals'
            or (select sum(i.amount_cents) from operator_order_items i where i.order_id = o.id) > o.amount_cents
      ) then
        raise exception 'the items of an order are what it asks for, and no more'
          using errcode = 'check_violation', constraint = 'operator_order_items_sum';
      end if;
      return null;
    end $function$;

-- What an item asks for stays; it is done once, and only while its order is open.
CREATE FUNCTION operator_order_items_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if (new.order_id, new.rental_no, new.amount_cents) is distinct from (old.order_id, old.rental_no, old.amount_cents)
         or old.done_at is not null then
        raise exception 'what an item of an order asks for, and what came of it, is never changed'
          using errcode = 'restrict_violation', constraint = 'operator_order_items_stay';
      end if;
      if exists (select 1 from operator_orders where id = new.order_id and closed_at is not null) then
        raise exception 'the order % has ended', new.order_id
          using errcode = 'restrict_violation', constraint = 'operator_orders_once';
      end if;
      if new.refunded_cents is not null then
        new.done_at := clock_ms();
      end if;
      return new;
    end $function$;

CREATE FUNCTION operator_order_items_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'what an order asks for is never removed'
        using errcode = 'restrict_violation', constraint = 'operator_order_items_stay';
    end $function$;

CREATE TRIGGER operator_order_items_added AFTER INSERT ON operator_order_items REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION operator_order_items_added();

CREATE TRIGGER operator_order_items_changed BEFORE UPDATE ON operator_order_items FOR EACH ROW EXECUTE FUNCTION operator_order_items_changed();

CREATE TRIGGER operator_order_items_not_truncated BEFORE TRUNCATE ON operator_order_items FOR EACH STATEMENT EXECUTE FUNCTION operator_order_items_stay();

CREATE TRIGGER operator_order_items_stay BEFORE DELETE ON operator_order_items FOR EACH ROW EXECUTE FUNCTION operator_order_items_stay();

GRANT SELECT, INSERT (order_id, rental_no, amount_cents) ON operator_order_items TO gpu_rental_ops;
GRANT SELECT, UPDATE (refunded_cents, done_at) ON operator_order_items TO gpu_rental_worker;

-- ==== table event_outbox

-- What transactions tell. Rows stay for a fraction of a second.
CREATE TABLE event_outbox (
  no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text DEFAULT new_event_id() NOT NULL,
  user_id text NOT NULL,
  type text NOT NULL,
  entity_id text NOT NULL,
  data jsonb NOT NULL,
  at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT event_outbox_pkey PRIMARY KEY (no),
  CONSTRAINT event_outbox_data_check CHECK (jsonb_typeof(data) = 'object'::text)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_insert_threshold=-1);

GRANT INSERT (user_id, type, entity_id, data) ON event_outbox TO gpu_rental_api;
GRANT SELECT, INSERT (user_id, type, entity_id, data) ON event_outbox TO gpu_rental_ops;
GRANT SELECT, INSERT (user_id, type, entity_id, data), DELETE ON event_outbox TO gpu_rental_worker;

-- ==== table event_feeds

-- The last number of each user. Only the sequencer writes it.
CREATE TABLE event_feeds (
  user_id text NOT NULL,
  last_seq bigint NOT NULL,
  CONSTRAINT event_feeds_pkey PRIMARY KEY (user_id),
  CONSTRAINT event_feeds_last_seq_check CHECK (last_seq > 0)
) WITH (fillfactor=80);

GRANT SELECT ON event_feeds TO gpu_rental_api;
GRANT SELECT ON event_feeds TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE ON event_feeds TO gpu_rental_worker;

-- ==== table events

-- "no" ascends in the order of commits, because only one sequencer works at a time: who has read up to a number
-- finds all that is new above it. "seq" is the number within the user's feed, from 1 on and without a gap.
CREATE TABLE events (
  no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  user_id text NOT NULL,
  seq bigint NOT NULL,
  type text NOT NULL,
  entity_id text NOT NULL,
  data jsonb NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  sequenced_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (no),
  CONSTRAINT events_id_key UNIQUE (id),
  CONSTRAINT events_user_id_seq_key UNIQUE (user_id, seq),
  CONSTRAINT events_seq_check CHECK (seq > 0)
);

CREATE INDEX events_sequenced ON events USING btree (sequenced_at);

GRANT SELECT ON events TO gpu_rental_api;
GRANT SELECT ON events TO gpu_rental_ops;
GRANT SELECT, INSERT, DELETE ON events TO gpu_rental_worker;

-- ==== table stream_hosts

-- An API process that holds streams, and when it last said that it lives.
CREATE TABLE stream_hosts (
  id text NOT NULL,
  seen_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT stream_hosts_pkey PRIMARY KEY (id)
);

CREATE INDEX stream_hosts_seen ON stream_hosts USING btree (seen_at);

GRANT SELECT, INSERT (id), UPDATE (seen_at), DELETE ON stream_hosts TO gpu_rental_api;
GRANT SELECT ON stream_hosts TO gpu_rental_ops;
GRANT SELECT, DELETE ON stream_hosts TO gpu_rental_worker;

-- ==== table open_streams

-- "no" tells which is older.
CREATE TABLE open_streams (
  no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  host_id text NOT NULL,
  user_id text NOT NULL,
  token_hash bytea,
  opened_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Newer ones of its user have taken its place. The process that holds it ends it and removes the row.
  crowded_out boolean DEFAULT false NOT NULL,
  -- A stream is of a session or of a key.
  api_key_id text,
  -- The token of a session changes when its user shows anew who they are. Its streams were opened by the former one:
  -- the process that holds them ends them.
  outdated boolean DEFAULT false NOT NULL,
  CONSTRAINT open_streams_pkey PRIMARY KEY (no),
  CONSTRAINT open_streams_id_key UNIQUE (id),
  CONSTRAINT open_streams_holder CHECK (num_nonnulls(token_hash, api_key_id) = 1),
  CONSTRAINT open_streams_host_id_fkey FOREIGN KEY (host_id) REFERENCES stream_hosts(id) ON DELETE CASCADE,
  CONSTRAINT open_streams_token_hash_fkey FOREIGN KEY (token_hash) REFERENCES sessions(token_hash) ON UPDATE CASCADE ON DELETE CASCADE
);

CREATE INDEX open_streams_host ON open_streams USING btree (host_id);

CREATE INDEX open_streams_key ON open_streams USING btree (api_key_id) WHERE api_key_id IS NOT NULL;

CREATE INDEX open_streams_session ON open_streams USING btree (token_hash);

CREATE INDEX open_streams_user ON open_streams USING btree (user_id, no) WHERE NOT crowded_out;

GRANT SELECT, INSERT (id, host_id, user_id, token_hash, api_key_id), UPDATE (crowded_out, outdated), DELETE ON open_streams TO gpu_rental_api;
GRANT SELECT ON open_streams TO gpu_rental_ops;
GRANT SELECT ON open_streams TO gpu_rental_worker;

-- ==== table rental_warnings

-- The instants at which machines end that their users were warned of: each once, and anew when it is moved.
CREATE TABLE rental_warnings (
  rental_no bigint NOT NULL,
  warning text NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  warned_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT rental_warnings_pkey PRIMARY KEY (rental_no, warning, at),
  CONSTRAINT rental_warnings_warning_check CHECK (warning = ANY (ARRAY['auto_stop_near'::text, 'spend_limit_near'::text, 'upstream_end_near'::text])),
  CONSTRAINT rental_warnings_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT
);

CREATE INDEX rental_warnings_age ON rental_warnings USING btree (at);

GRANT SELECT ON rental_warnings TO gpu_rental_ops;
GRANT SELECT, INSERT, DELETE ON rental_warnings TO gpu_rental_worker;

-- ==== table webhooks

CREATE TABLE webhooks (
  id text NOT NULL,
  user_id text NOT NULL,
  url text NOT NULL,
  -- The types of events that it gets; none: all but those that must be named.
  types text[] DEFAULT '{}'::text[] NOT NULL,
  description text DEFAULT ''::text NOT NULL,
  -- pending: it has not answered its challenge yet.
  state text DEFAULT 'pending'::text NOT NULL,
  switched_off_why text,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  enabled_at timestamp(3) with time zone,
  switched_off_at timestamp(3) with time zone,
  removed_at timestamp(3) with time zone,
  -- Raised by each change that what is under way must not overwrite.
  round integer DEFAULT 0 NOT NULL,
  -- The last event of the user's feed that is done with: delivered, not wanted, or in the retry line.
  cursor_seq bigint NOT NULL,
  -- Tries of the next event, or of the challenge.
  tries integer DEFAULT 0 NOT NULL,
  tried_since timestamp(3) with time zone,
  -- Tries in a row that failed, of whatever event.
  failures integer DEFAULT 0 NOT NULL,
  failing_since timestamp(3) with time zone,
  last_success_at timestamp(3) with time zone,
  -- Before these, neither the next event is tried, nor one of the retry line.
  line_at timestamp(3) with time zone,
  retry_at timestamp(3) with time zone,
  -- When its workflow has something to do; null: nothing. When it was told so, or looks by its own timer.
  due_at timestamp(3) with time zone,
  told_at timestamp(3) with time zone,
  CONSTRAINT webhooks_pkey PRIMARY KEY (id),
  CONSTRAINT webhooks_cursor_seq_check CHECK (cursor_seq >= 0),
  CONSTRAINT webhooks_description_check CHECK (length(description) <= 200),
  CONSTRAINT webhooks_enabled CHECK (state <> 'enabled'::text OR enabled_at IS NOT NULL),
  CONSTRAINT webhooks_failing CHECK ((failures = 0) = (failing_since IS NULL)),
  CONSTRAINT webhooks_failures_check CHECK (failures >= 0),
  CONSTRAINT webhooks_id_check CHECK (id ~ '^wh_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT webhooks_idle CHECK (due_at IS NULL OR (state = ANY (ARRAY['pending'::text, 'enabled'::text]))),
  CONSTRAINT webhooks_removed CHECK ((state = 'removed'::text) = (removed_at IS NOT NULL)),
  CONSTRAINT webhooks_state_check CHECK (state = ANY (ARRAY['pending'::text, 'enabled'::text, 'switched_off'::text, 'removed'::text])),
  CONSTRAINT webhooks_switched_off CHECK ((state = 'switched_off'::text) = (switched_off_at IS NOT NULL) AND (switched_off_at IS NULL) = (switched_off_why IS NULL)),
  CONSTRAINT webhooks_switched_off_why_check CHECK (switched_off_why = ANY (ARRAY['gone'::text, 'no_success'::text, 'challenge_unanswered'::text])),
  CONSTRAINT webhooks_tried CHECK ((tries = 0) = (tried_since IS NULL)),
  CONSTRAINT webhooks_tries_check CHECK (tries >= 0),
  CONSTRAINT webhooks_url_check CHECK (length(url) >= 1 AND length(url) <= 2048),
  CONSTRAINT webhooks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
) WITH (fillfactor=80);

CREATE INDEX webhooks_due ON webhooks USING btree (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX webhooks_of_user ON webhooks USING btree (user_id, created_at) WHERE state <> 'removed'::text;

CREATE INDEX webhooks_removed_at ON webhooks USING btree (removed_at);

GRANT SELECT, INSERT (id, user_id, url, types, description, cursor_seq), UPDATE ON webhooks TO gpu_rental_api;
GRANT SELECT ON webhooks TO gpu_rental_ops;
GRANT SELECT, UPDATE, DELETE ON webhooks TO gpu_rental_worker;

-- ==== table webhook_secrets

-- Sealed by the API, which can't open them; the newest has no end yet.
CREATE TABLE webhook_secrets (
  webhook_id text NOT NULL,
  no integer NOT NULL,
  sealed bytea NOT NULL,
  made_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  expires_at timestamp(3) with time zone,
  CONSTRAINT webhook_secrets_pkey PRIMARY KEY (webhook_id, no),
  CONSTRAINT webhook_secrets_no_check CHECK (no > 0),
  CONSTRAINT webhook_secrets_sealed_check CHECK (length(sealed) >= 60 AND length(sealed) <= 400),
  CONSTRAINT webhook_secrets_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

CREATE INDEX webhook_secrets_expired ON webhook_secrets USING btree (expires_at);

CREATE UNIQUE INDEX webhook_secrets_newest ON webhook_secrets USING btree (webhook_id) WHERE expires_at IS NULL;

GRANT SELECT (webhook_id, no, made_at, expires_at), INSERT (webhook_id, no, sealed), UPDATE (expires_at), DELETE ON webhook_secrets TO gpu_rental_api;
GRANT SELECT (webhook_id, no, made_at, expires_at) ON webhook_secrets TO gpu_rental_ops;
GRANT SELECT, DELETE ON webhook_secrets TO gpu_rental_worker;

-- ==== table webhook_retries

-- Events that hold up no later ones any more.
CREATE TABLE webhook_retries (
  webhook_id text NOT NULL,
  seq bigint NOT NULL,
  tries integer NOT NULL,
  first_tried_at timestamp(3) with time zone NOT NULL,
  next_try_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT webhook_retries_pkey PRIMARY KEY (webhook_id, seq),
  CONSTRAINT webhook_retries_tries_check CHECK (tries > 0),
  CONSTRAINT webhook_retries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

CREATE INDEX webhook_retries_due ON webhook_retries USING btree (webhook_id, next_try_at);

GRANT SELECT, DELETE ON webhook_retries TO gpu_rental_api;
GRANT SELECT ON webhook_retries TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_retries TO gpu_rental_worker;

-- ==== table webhook_deliveries

-- Each try. The answer's body is not kept.
CREATE TABLE webhook_deliveries (
  no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  webhook_id text NOT NULL,
  -- Null for a challenge, which is no event.
  event_id text,
  seq bigint,
  type text NOT NULL,
  attempt integer NOT NULL,
  outcome text NOT NULL,
  http_status integer,
  fault text,
  duration_ms integer NOT NULL,
  at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (no),
  CONSTRAINT webhook_deliveries_id_key UNIQUE (id),
  CONSTRAINT webhook_deliveries_attempt_check CHECK (attempt > 0),
  CONSTRAINT webhook_deliveries_duration_ms_check CHECK (duration_ms >= 0),
  CONSTRAINT webhook_deliveries_event CHECK ((event_id IS NULL) = (seq IS NULL)),
  CONSTRAINT webhook_deliveries_fault_check CHECK (length(fault) >= 1 AND length(fault) <= 40),
  CONSTRAINT webhook_deliveries_http_status_check CHECK (http_status >= 100 AND http_status <= 999),
  CONSTRAINT webhook_deliveries_id_check CHECK (id ~ '^dlv_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT webhook_deliveries_outcome_check CHECK (outcome = ANY (ARRAY['delivered'::text, 'failed'::text, 'given_up'::text])),
  CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

CREATE INDEX webhook_deliveries_at ON webhook_deliveries USING btree (at);

CREATE INDEX webhook_deliveries_newest ON webhook_deliveries USING btree (webhook_id, no DESC);

GRANT SELECT ON webhook_deliveries TO gpu_rental_api;
GRANT SELECT ON webhook_deliveries TO gpu_rental_ops;
GRANT SELECT, INSERT, DELETE ON webhook_deliveries TO gpu_rental_worker;

-- ==== table webhook_feed

-- The last event for which endpoints were looked up.
CREATE TABLE webhook_feed (
  singleton boolean DEFAULT true NOT NULL,
  last_no bigint NOT NULL,
  CONSTRAINT webhook_feed_pkey PRIMARY KEY (singleton),
  CONSTRAINT webhook_feed_singleton_check CHECK (singleton)
);

GRANT SELECT ON webhook_feed TO gpu_rental_ops;
GRANT SELECT, UPDATE ON webhook_feed TO gpu_rental_worker;

-- ==== table user_notices

CREATE TABLE user_notices (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  user_id text NOT NULL,
  kind text NOT NULL,
  -- domain/causes.ts
  cause text NOT NULL,
  -- As domain/notices/notices.ts says it.
  facts jsonb NOT NULL,
  noted_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Null until the mail that tells it is in the outbox, or its user did not want one.
  told_at timestamp(3) with time zone,
  is_mailed boolean,
  CONSTRAINT user_notices_pkey PRIMARY KEY (id),
  CONSTRAINT user_notices_cause_key UNIQUE (cause),
  CONSTRAINT user_notices_facts_check CHECK (jsonb_typeof(facts) = 'object'::text),
  CONSTRAINT user_notices_kind_check CHECK ((kind = ANY (ARRAY['rental_auto_stop'::text, 'rental_spend_limit'::text, 'rental_balance_exhausted'::text, 'rental_operator_stop'::text, 'rental_lost'::text, 'rental_failed'::text, 'auto_topup_off'::text, 'ssh_key_added'::text, 'card_saved'::text])) OR kind = 'api_key_created'::text OR kind = 'budget_reached'::text),
  CONSTRAINT user_notices_told CHECK ((told_at IS NULL) = (is_mailed IS NULL)),
  CONSTRAINT user_notices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX user_notices_age ON user_notices USING btree (told_at) WHERE told_at IS NOT NULL;

CREATE INDEX user_notices_untold ON user_notices USING btree (user_id, kind, noted_at) WHERE told_at IS NULL;

GRANT SELECT (id, cause), INSERT (user_id, kind, cause, facts) ON user_notices TO gpu_rental_api;
GRANT SELECT (id, user_id, kind, cause, noted_at, told_at, is_mailed) ON user_notices TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE (told_at, is_mailed), DELETE ON user_notices TO gpu_rental_worker;

-- ==== table notice_settings

-- What a user has switched off; what is about money or the account itself can't be.
CREATE TABLE notice_settings (
  user_id text NOT NULL,
  kind text NOT NULL,
  switched_off_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT notice_settings_pkey PRIMARY KEY (user_id, kind),
  CONSTRAINT notice_settings_kind_check CHECK (kind = ANY (ARRAY['rental_auto_stop'::text, 'rental_spend_limit'::text, 'rental_operator_stop'::text, 'rental_lost'::text, 'rental_failed'::text])),
  CONSTRAINT notice_settings_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

GRANT SELECT, INSERT, DELETE ON notice_settings TO gpu_rental_api;
GRANT SELECT ON notice_settings TO gpu_rental_ops;
GRANT SELECT ON notice_settings TO gpu_rental_worker;

-- ==== table quotes

CREATE TABLE quotes (
  id text NOT NULL,
  user_id text NOT NULL,
  -- What was asked for: RentalRequest in domain/rentals/request.ts, without its user.
  request jsonb NOT NULL,
  -- What was the cheapest then. Nothing dearer is bought by this quote.
  listing_id text NOT NULL,
  price_per_hour_cents integer NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  -- The one rental that was opened by it.
  rental_id text,
  -- A key with a cap sees the quotes that it asked for.
  api_key_id text,
  CONSTRAINT quotes_pkey PRIMARY KEY (id),
  CONSTRAINT quotes_rental_id_key UNIQUE (rental_id),
  CONSTRAINT quotes_api_key_id_check CHECK (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT quotes_expire CHECK (expires_at > created_at),
  CONSTRAINT quotes_id_check CHECK (id ~ '^quo_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT quotes_price_per_hour_cents_check CHECK (price_per_hour_cents >= 1 AND price_per_hour_cents <= 10000000),
  CONSTRAINT quotes_request_check CHECK (jsonb_typeof(request) = 'object'::text),
  CONSTRAINT quotes_listing_id_fkey FOREIGN KEY (listing_id) REFERENCES listings(id) ON DELETE RESTRICT,
  CONSTRAINT quotes_rental_id_fkey FOREIGN KEY (rental_id) REFERENCES rentals(id) ON DELETE RESTRICT,
  CONSTRAINT quotes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX quotes_age ON quotes USING btree (expires_at);

CREATE FUNCTION quotes_taken()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'the quote % was taken already', old.id
        using errcode = 'restrict_violation', constraint = 'quotes_once';
    end $function$;

CREATE TRIGGER quotes_taken BEFORE UPDATE ON quotes FOR EACH ROW WHEN (old.rental_id IS NOT NULL AND new.rental_id IS DISTINCT FROM old.rental_id) EXECUTE FUNCTION quotes_taken();

GRANT SELECT, INSERT ON quotes TO gpu_rental_api;
GRANT SELECT ON quotes TO gpu_rental_ops;
GRANT SELECT, UPDATE (rental_id), DELETE ON quotes TO gpu_rental_worker;

-- ==== table rental_labels

-- By which statements are grouped; fixed once the rental is settled.
CREATE TABLE rental_labels (
  rental_no bigint NOT NULL,
  user_id text NOT NULL,
  -- No rental has more than ten.
  place integer NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  CONSTRAINT rental_labels_pkey PRIMARY KEY (rental_no, key),
  CONSTRAINT rental_labels_place UNIQUE (rental_no, place),
  CONSTRAINT rental_labels_key_check CHECK (key ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'::text),
  CONSTRAINT rental_labels_place_check CHECK (place >= 1 AND place <= 10),
  CONSTRAINT rental_labels_value_check CHECK (length(value) <= 255),
  CONSTRAINT rental_labels_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT,
  CONSTRAINT rental_labels_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX rental_labels_value ON rental_labels USING btree (user_id, key, value, rental_no DESC);

CREATE FUNCTION rental_labels_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if exists (select 1 from rentals where no = coalesce(new.rental_no, old.rental_no) and settled_at is not null) then
        raise exception 'the labels of a settled rental stay as they are'
          using errcode = 'restrict_violation', constraint = 'rental_labels_stay';
      end if;
      return coalesce(new, old);
    end $function$;

CREATE TRIGGER rental_labels_stay BEFORE INSERT OR DELETE OR UPDATE ON rental_labels FOR EACH ROW EXECUTE FUNCTION rental_labels_stay();

GRANT SELECT, INSERT, DELETE ON rental_labels TO gpu_rental_api;
GRANT SELECT ON rental_labels TO gpu_rental_ops;
GRANT SELECT, INSERT, DELETE ON rental_labels TO gpu_rental_worker;

-- ==== table rental_changes

-- What a user asked to change, committed before the workflow is told, and what came of it.
CREATE TABLE rental_changes (
  id text NOT NULL,
  rental_no bigint NOT NULL,
  user_id text NOT NULL,
  -- The fields that were sent, and no others: name, labels, maxSpendCents, autoStopAt, autoStopAfterMs.
  asked jsonb NOT NULL,
  -- Nothing is changed after it (decision 4, "Promise of a 503").
  answer_before timestamp(3) with time zone NOT NULL,
  asked_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  answered_at timestamp(3) with time zone,
  -- The code, message and details of a refusal; null when it was done.
  refused jsonb,
  -- From when on the new limits hold, and what they replaced; null when no limit was changed.
  limits_at timestamp(3) with time zone,
  was_max_spend_cents bigint,
  was_auto_stop_at timestamp(3) with time zone,
  new_max_spend_cents bigint,
  new_auto_stop_at timestamp(3) with time zone,
  api_key_id text,
  CONSTRAINT rental_changes_pkey PRIMARY KEY (id),
  CONSTRAINT rental_changes_answered CHECK (answered_at IS NOT NULL OR refused IS NULL AND limits_at IS NULL),
  CONSTRAINT rental_changes_api_key_id_check CHECK (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT rental_changes_asked_check CHECK (jsonb_typeof(asked) = 'object'::text),
  CONSTRAINT rental_changes_id_check CHECK (id ~ '^chg_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  -- Limits are done by whoever says from when on they hold.
  CONSTRAINT rental_changes_limits CHECK (answered_at IS NULL OR refused IS NOT NULL OR limits_at IS NOT NULL OR NOT jsonb_exists_any(asked, ARRAY['maxSpendCents'::text, 'autoStopAt'::text, 'autoStopAfterMs'::text])),
  CONSTRAINT rental_changes_refused CHECK (refused IS NULL OR limits_at IS NULL),
  CONSTRAINT rental_changes_rental_no_fkey FOREIGN KEY (rental_no) REFERENCES rentals(no) ON DELETE RESTRICT,
  CONSTRAINT rental_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX rental_changes_age ON rental_changes USING btree (asked_at) WHERE answered_at IS NULL;

CREATE INDEX rental_changes_of_rental ON rental_changes USING btree (rental_no, asked_at);

CREATE FUNCTION rental_changes_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'TRUNCATE' or old.answered_at is not null
         or (tg_op = 'UPDATE' and (new.id, new.rental_no, new.user_id, new.asked, new.answer_before, new.asked_at)
               is distinct from (old.id, old.rental_no, old.user_id, old.asked, old.answer_before, old.asked_at)) then
        raise exception 'what a change asked for, and what came of it, is never changed'
          using errcode = 'restrict_violation', constraint = 'rental_changes_stay';
      end if;
      return case tg_op when 'DELETE' then old else new end;
    end $function$;

CREATE TRIGGER rental_changes_not_truncated BEFORE TRUNCATE ON rental_changes FOR EACH STATEMENT EXECUTE FUNCTION rental_changes_stay();

CREATE TRIGGER rental_changes_stay BEFORE DELETE OR UPDATE ON rental_changes FOR EACH ROW EXECUTE FUNCTION rental_changes_stay();

GRANT SELECT, INSERT (id, rental_no, user_id, asked, answer_before, answered_at, api_key_id) ON rental_changes TO gpu_rental_api;
GRANT SELECT ON rental_changes TO gpu_rental_ops;
GRANT SELECT, UPDATE (answered_at, refused, limits_at, was_max_spend_cents, was_auto_stop_at, new_max_spend_cents, new_auto_stop_at), DELETE ON rental_changes TO gpu_rental_worker;

-- ==== table reliability_hours

-- What happened at an upstream with the machines of a family in one hour (UTC), counted from the rows above and
-- counted again for some hours after it, because ends are dated back. An hour in which nothing happened has no row.
CREATE TABLE reliability_hours (
  provider_code text NOT NULL,
  family text NOT NULL,
  hour timestamp(3) with time zone NOT NULL,
  -- Machines that were asked for: those that came up, and those that the upstream did not deliver.
  created integer NOT NULL,
  not_created integer NOT NULL,
  -- Of those that came up, in whole seconds, rounded up: until they ran, and until SSH answered.
  ready_seconds integer[] NOT NULL,
  ssh_seconds integer[] NOT NULL,
  losses integer NOT NULL,
  -- How long machines ran within the hour, all together.
  machine_ms bigint NOT NULL,
  CONSTRAINT reliability_hours_pkey PRIMARY KEY (provider_code, family, hour),
  CONSTRAINT reliability_hours_check CHECK (cardinality(ready_seconds) = created),
  CONSTRAINT reliability_hours_check1 CHECK (cardinality(ssh_seconds) = created),
  CONSTRAINT reliability_hours_created_check CHECK (created >= 0),
  CONSTRAINT reliability_hours_hour_check CHECK (date_trunc('hour'::text, hour, 'UTC'::text) = hour),
  CONSTRAINT reliability_hours_losses_check CHECK (losses >= 0),
  CONSTRAINT reliability_hours_machine_ms_check CHECK (machine_ms >= 0),
  CONSTRAINT reliability_hours_not_created_check CHECK (not_created >= 0)
);

CREATE INDEX reliability_hours_age ON reliability_hours USING btree (hour);

GRANT SELECT ON reliability_hours TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON reliability_hours TO gpu_rental_worker;

-- ==== table reliability

-- The sums of 30 days, which the catalog tells. A family without any row of an hour has none.
CREATE TABLE reliability (
  provider_code text NOT NULL,
  family text NOT NULL,
  created integer NOT NULL,
  not_created integer NOT NULL,
  -- Null when none came up.
  ready_p50_seconds integer,
  ready_p90_seconds integer,
  ssh_p50_seconds integer,
  ssh_p90_seconds integer,
  losses integer NOT NULL,
  machine_ms bigint NOT NULL,
  counted_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT reliability_pkey PRIMARY KEY (provider_code, family),
  CONSTRAINT reliability_created_check CHECK (created >= 0),
  CONSTRAINT reliability_losses_check CHECK (losses >= 0),
  CONSTRAINT reliability_machine_ms_check CHECK (machine_ms >= 0),
  CONSTRAINT reliability_not_created_check CHECK (not_created >= 0),
  CONSTRAINT reliability_times CHECK (num_nonnulls(ready_p50_seconds, ready_p90_seconds, ssh_p50_seconds, ssh_p90_seconds) =
CASE
    WHEN created > 0 THEN 4
    ELSE 0
END AND ready_p50_seconds <= ready_p90_seconds AND ssh_p50_seconds <= ssh_p90_seconds)
);

GRANT SELECT ON reliability TO gpu_rental_api;
GRANT SELECT ON reliability TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON reliability TO gpu_rental_worker;

-- ==== table catalog_hours

-- The hours (UTC) in which an upstream's offers were read.
CREATE TABLE catalog_hours (
  hour timestamp(3) with time zone NOT NULL,
  provider_code text NOT NULL,
  CONSTRAINT catalog_hours_pkey PRIMARY KEY (hour, provider_code),
  CONSTRAINT catalog_hours_hour_check CHECK (date_trunc('hour'::text, hour, 'UTC'::text) = hour)
);

GRANT SELECT ON catalog_hours TO gpu_rental_api;
GRANT SELECT ON catalog_hours TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON catalog_hours TO gpu_rental_worker;

-- ==== table offer_hours

-- What an upstream had on sale in an hour, by family and country, and for all countries together ('*'). What was
-- not on sale at all in the hour has no row.
CREATE TABLE offer_hours (
  family text NOT NULL,
  region_code text NOT NULL,
  hour timestamp(3) with time zone NOT NULL,
  provider_code text NOT NULL,
  lowest_price_per_hour_cents integer NOT NULL,
  -- How many offers there were when it was last read in this hour.
  offers integer NOT NULL,
  CONSTRAINT offer_hours_pkey PRIMARY KEY (family, region_code, hour, provider_code),
  CONSTRAINT offer_hours_hour_check CHECK (date_trunc('hour'::text, hour, 'UTC'::text) = hour),
  CONSTRAINT offer_hours_lowest_price_per_hour_cents_check CHECK (lowest_price_per_hour_cents > 0),
  CONSTRAINT offer_hours_offers_check CHECK (offers >= 0)
);

CREATE INDEX offer_hours_age ON offer_hours USING btree (hour, provider_code);

GRANT SELECT ON offer_hours TO gpu_rental_api;
GRANT SELECT ON offer_hours TO gpu_rental_ops;
GRANT SELECT, INSERT, UPDATE, DELETE ON offer_hours TO gpu_rental_worker;

-- ==== table api_keys

CREATE TABLE api_keys (
  id text NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  -- The key itself is shown once and never kept.
  token_hash bytea NOT NULL,
  -- Its last characters, by which its owner knows it in a list.
  hint text NOT NULL,
  scopes text[] NOT NULL,
  -- From where it may be used; null: from anywhere.
  allowed_cidrs cidr[],
  expires_at timestamp(3) with time zone NOT NULL,
  -- What its rentals may cost in all; null: no cap. Spent and reserved are written under its wallet's lock alone.
  spend_cap_cents bigint,
  spent_cents bigint DEFAULT 0 NOT NULL,
  reserved_cents bigint DEFAULT 0 NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  last_used_at timestamp(3) with time zone,
  last_used_address text,
  revoked_at timestamp(3) with time zone,
  -- Its database was restored, and may have forgotten that it was revoked: its owner signs in first.
  suspended_at timestamp(3) with time zone,
  -- From when on it is of no use.
  ended_at timestamp(3) with time zone GENERATED ALWAYS AS (LEAST(expires_at, revoked_at)) STORED NOT NULL,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_token_hash_key UNIQUE (token_hash),
  CONSTRAINT api_keys_allowed_cidrs_check CHECK (cardinality(allowed_cidrs) >= 1 AND cardinality(allowed_cidrs) <= 20),
  CONSTRAINT api_keys_cap CHECK (spend_cap_cents IS NULL OR (spent_cents + reserved_cents) <= spend_cap_cents),
  CONSTRAINT api_keys_expire CHECK (expires_at > created_at AND expires_at <= (created_at + '366 days'::interval)),
  CONSTRAINT api_keys_hint_check CHECK (hint ~ '^[0-9A-Za-z]{4}$'::text),
  CONSTRAINT api_keys_id_check CHECK (id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text),
  CONSTRAINT api_keys_name_check CHECK (length(name) >= 1 AND length(name) <= 64),
  CONSTRAINT api_keys_reserved_cents_check CHECK (reserved_cents >= 0),
  CONSTRAINT api_keys_scopes_check CHECK (cardinality(scopes) >= 1 AND cardinality(scopes) <= 3 AND scopes <@ ARRAY['read'::text, 'rentals'::text, 'billing'::text]),
  CONSTRAINT api_keys_spent_cents_check CHECK (spent_cents >= 0),
  CONSTRAINT api_keys_token_hash_check CHECK (length(token_hash) = 32),
  CONSTRAINT api_keys_used CHECK (last_used_address IS NULL OR last_used_at IS NOT NULL),
  CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
) WITH (fillfactor=80);

-- From where they were used is cut; some keys stay for good.
CREATE INDEX api_keys_addresses ON api_keys USING btree (ended_at) WHERE last_used_address IS NOT NULL;

CREATE INDEX api_keys_ended ON api_keys USING btree (ended_at);

CREATE INDEX api_keys_of_user ON api_keys USING btree (user_id, id DESC);

ALTER TABLE open_streams ADD CONSTRAINT open_streams_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE CASCADE;

ALTER TABLE rentals ADD CONSTRAINT rentals_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE RESTRICT;

-- What was spent is never given back.
CREATE FUNCTION api_keys_spent()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception '% has spent % cents already', old.id, old.spent_cents
        using errcode = 'restrict_violation', constraint = 'api_keys_spent';
    end $function$;

CREATE CONSTRAINT TRIGGER api_keys_reserve AFTER UPDATE OF reserved_cents, spend_cap_cents ON api_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION api_keys_reserve();

CREATE TRIGGER api_keys_spent BEFORE UPDATE OF spent_cents ON api_keys FOR EACH ROW WHEN (new.spent_cents < old.spent_cents) EXECUTE FUNCTION api_keys_spent();

GRANT SELECT, INSERT (id, user_id, name, token_hash, hint, scopes, allowed_cidrs, expires_at, spend_cap_cents), UPDATE (name, allowed_cidrs, spend_cap_cents, last_used_at, last_used_address, revoked_at, suspended_at) ON api_keys TO gpu_rental_api;
GRANT SELECT, UPDATE (revoked_at) ON api_keys TO gpu_rental_ops;
GRANT SELECT, UPDATE, DELETE ON api_keys TO gpu_rental_worker;

-- ==== table budgets

CREATE TABLE budgets (
  user_id text NOT NULL,
  -- What the rentals of one month in UTC may cost in all; null: no budget.
  monthly_cents bigint,
  -- Whether nothing is opened that does not fit; else its user is told only.
  hard boolean DEFAULT false NOT NULL,
  changed_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  -- Up to when the worker knows what was spent; null: it has not looked yet.
  looked_at timestamp(3) with time zone,
  CONSTRAINT budgets_pkey PRIMARY KEY (user_id),
  CONSTRAINT budgets_hard CHECK (monthly_cents IS NOT NULL OR NOT hard),
  CONSTRAINT budgets_monthly_cents_check CHECK (monthly_cents >= 1 AND monthly_cents <= 1000000000),
  CONSTRAINT budgets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX budgets_set ON budgets USING btree (user_id) WHERE monthly_cents IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON budgets TO gpu_rental_api;
GRANT SELECT ON budgets TO gpu_rental_ops;
GRANT SELECT, UPDATE (looked_at) ON budgets TO gpu_rental_worker;

-- ==== table budget_alerts

-- What users were told about their budgets: once a month for each share.
CREATE TABLE budget_alerts (
  user_id text NOT NULL,
  -- In UTC, such as 2026-11.
  month text NOT NULL,
  percent integer NOT NULL,
  monthly_cents bigint NOT NULL,
  spent_cents bigint NOT NULL,
  told_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  CONSTRAINT budget_alerts_pkey PRIMARY KEY (user_id, month, percent),
  CONSTRAINT budget_alerts_month_check CHECK (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'::text),
  CONSTRAINT budget_alerts_percent_check CHECK (percent >= 1 AND percent <= 100),
  CONSTRAINT budget_alerts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE RESTRICT
);

CREATE INDEX budget_alerts_age ON budget_alerts USING btree (told_at);

GRANT SELECT ON budget_alerts TO gpu_rental_api;
GRANT SELECT ON budget_alerts TO gpu_rental_ops;
GRANT SELECT, INSERT, DELETE ON budget_alerts TO gpu_rental_worker;

-- ==== table proof_codes

-- Codes that a session asks for, to show anew whose it is. Each is good for its own session alone. A code outlives
-- its session here, because its mail counts.
CREATE TABLE proof_codes (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  user_id text NOT NULL,
  session_id text NOT NULL,
  code_hash bytea NOT NULL,
  tries integer DEFAULT 0 NOT NULL,
  created_at timestamp(3) with time zone DEFAULT clock_ms() NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  used_at timestamp(3) with time zone,
  CONSTRAINT proof_codes_pkey PRIMARY KEY (id),
  CONSTRAINT proof_codes_code_hash_check CHECK (length(code_hash) = 32),
  CONSTRAINT proof_codes_tries_check CHECK (tries >= 0 AND tries <= 5),
  CONSTRAINT proof_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX proof_codes_age ON proof_codes USING btree (created_at);

CREATE INDEX proof_codes_session ON proof_codes USING btree (session_id, created_at DESC);

CREATE INDEX proof_codes_user ON proof_codes USING btree (user_id, created_at DESC);

GRANT SELECT, INSERT, UPDATE (tries, used_at) ON proof_codes TO gpu_rental_api;
GRANT SELECT, DELETE ON proof_codes TO gpu_rental_worker;

-- ==== view meters

-- A meter as it stands. What was charged since the reading came from the hold first (decision 24, "Order of funds").
CREATE VIEW meters AS
 SELECT r.rental_no,
    r.wallet_id,
    r.price_per_hour_cents,
    GREATEST(0::bigint, r.hold_cents - (c.charged_cents - r.charged_cents)) AS hold_cents,
    c.charged_cents,
    r.running_ms,
    r.limit_ms,
    r.starved_ms,
    LEAST(r.limit_ms, r.running_ms + ((c.charged_cents + 1) * 3600000 + r.price_per_hour_cents - 1) / r.price_per_hour_cents) AS due_ms
   FROM meter_readings r
     LEFT JOIN wallets w ON w.id = r.wallet_id
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN r.follows_wallet THEN r.price_per_hour_cents * (w.metered_ms - r.running_ms) / 3600000
                    ELSE r.charged_cents
                END AS charged_cents) c;

-- A tick writes the wallet and not the meter, so the wallet is what a writer waits for. What it has read may be of
-- before, and would then be written over what was charged since.
-- A tick of release 0.1 writes each meter with nested loops off: each write would read all wallets.
CREATE FUNCTION meters_read()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_nestloop TO 'on'
AS $function$
    declare
      stands meters;
    begin
      perform 1 from wallets where id = old.wallet_id for no key update;
      select * into stands from meters where rental_no = old.rental_no;
      if stands is distinct from old then
        raise exception 'the meter of rental % has moved on meanwhile: write again', old.rental_no
          using errcode = 'serialization_failure';
      end if;
      update meter_readings set
        price_per_hour_cents = new.price_per_hour_cents, hold_cents = new.hold_cents, charged_cents = new.charged_cents,
        running_ms = new.running_ms, limit_ms = new.limit_ms, starved_ms = new.starved_ms, follows_wallet = false
       where rental_no = old.rental_no;
      return new;
    end $function$;

CREATE TRIGGER meters_read INSTEAD OF UPDATE ON meters FOR EACH ROW EXECUTE FUNCTION meters_read();

GRANT SELECT ON meters TO gpu_rental_api;
GRANT SELECT ON meters TO gpu_rental_ops;
GRANT SELECT, UPDATE ON meters TO gpu_rental_worker;

-- ==== view rentals_now

-- Its columns stay the same: it asks the view of that name from now on.
-- The rentals with what their meters show now.
CREATE VIEW rentals_now AS
 SELECT r.no,
    r.id,
    r.wallet_id,
    r.user_id,
    r.status,
    r.name,
    r.family,
    r.model,
    r.gpu_count,
    r.region,
    r.region_code,
    r.interconnect,
    r.template_id,
    r.ssh_key_ids,
    r.listing_id,
    r.provider_code,
    r.tag,
    r.pod_id,
    r.host,
    r.port,
    r.username,
    r.host_key_fingerprint,
    r.price_per_hour_cents,
    r.max_spend_cents,
    r.auto_stop_after_ms,
    r.refunded_cents,
    r.released_cents,
    r.overage_cents,
    r.written_off_cents,
    r.started_at,
    r.running_at,
    r.auto_stop_at,
    r.spend_limit_at,
    r.ended_at,
    r.settled_at,
    r.terminated_at,
    r.closed_at,
    r.stop_reason,
    r.error,
    r.opened_seq,
    r.settled_seq,
    r.running_ms,
    r.limit_ms,
    COALESCE(m.hold_cents, r.hold_cents) AS hold_cents,
    COALESCE(m.charged_cents, r.charged_cents) AS charged_cents,
    r.api_key_id,
    r.own_ssh_keys
   FROM rentals r
     LEFT JOIN meters m ON m.rental_no = r.no;

GRANT SELECT ON rentals_now TO gpu_rental_api;
GRANT SELECT ON rentals_now TO gpu_rental_ops;
GRANT SELECT ON rentals_now TO gpu_rental_worker;

-- ==== rows

INSERT INTO watermark (value, raised_at, confirmed_as) VALUES (0, clock_ms(), 'new');
INSERT INTO event_cursor (seen_until) VALUES (clock_ms());
INSERT INTO webhook_feed (last_no) VALUES (0);
-- The bytes of a UUID are not all random: a hash over several of them is.
INSERT INTO installation_keys (name, key)
  SELECT name, substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) from 1 for bytes)
    FROM (VALUES ('ledger_ids', 16), ('known_browsers', 32), ('unsubscribe_links', 32)) AS k (name, bytes);
