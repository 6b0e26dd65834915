-- The closing of an account (decision 179, "Closing an account"): one row, from the wish on and for good.
create table account_closings (
  user_id text primary key references users (id) on delete restrict,
  requested_at timestamptz(3) not null default clock_ms(),
  -- restored: a restored database brought back what was erased.
  requested_by text not null default 'user' check (requested_by in ('user', 'operator', 'restored')),
  -- stopping: what runs ends. settling: debts and disputes are waited for. returning: money goes back to its cards.
  -- erasing: the person goes. kept: the person is gone, and something is still open under the number.
  state text not null default 'stopping'
    check (state in ('stopping', 'settling', 'returning', 'erasing', 'kept', 'closed')),
  -- What it waits for, in words of domain/accounts/closing.ts.
  waits_for text[] not null default '{}',
  -- How often given money lapsed: money may come back after the first time.
  lapses integer not null default 0 check (lapses >= 0),
  lapsed_cents bigint not null default 0 check (lapsed_cents >= 0),
  erased_at timestamptz(3),
  closed_at timestamptz(3),
  constraint account_closings_erased check (state not in ('kept', 'closed') or erased_at is not null),
  constraint account_closings_closed check ((state = 'closed') = (closed_at is not null))
);
create index account_closings_open on account_closings (requested_at) where closed_at is null;
grant select, insert (user_id) on account_closings to gpu_rental_api;
grant select, insert, update on account_closings to gpu_rental_worker;
grant select, insert (user_id, requested_by) on account_closings to gpu_rental_ops;

-- What goes back of a payment to the card that paid it. The row is committed before the processor is asked: it makes the
-- key of the call, so that a refund whose answer was lost is found and not made twice.
create table closing_refunds (
  id bigint generated always as identity primary key,
  user_id text not null references account_closings (user_id) on delete restrict,
  payment_id text not null,
  amount_cents integer not null check (amount_cents > 0),
  asked_at timestamptz(3) not null default clock_ms(),
  -- The processor's; null until it has answered.
  refund_id text unique,
  -- Why it refused: another payment is tried for the rest.
  refused_code text,
  constraint closing_refunds_answered check (refund_id is null or refused_code is null)
);
create unique index closing_refunds_asked on closing_refunds (payment_id) where refund_id is null and refused_code is null;
create index closing_refunds_user on closing_refunds (user_id);
grant select on closing_refunds to gpu_rental_api, gpu_rental_ops;
grant select, insert, update (refund_id, refused_code) on closing_refunds to gpu_rental_worker;

-- The mailboxes of closed accounts that were blocked, or whose payments were denied: nobody can read them, and a new
-- account of the same mailbox is recognized.
create table closed_mailboxes (
  hmac bytea not null check (length(hmac) = 32),
  user_id text not null references account_closings (user_id) on delete restrict,
  blocked boolean not null,
  charges_held boolean not null,
  primary key (hmac, user_id)
);
grant select, insert on closed_mailboxes to gpu_rental_worker;
grant select on closed_mailboxes to gpu_rental_ops;

-- Lets a block, and a mark against automatic charges, go on in a new account of the same mailbox.
create function carry_marks(new_user text, of_mailbox bytea)
 returns void
 language sql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  update users set blocked_at = clock_ms(), blocked_reason = 'an earlier account was closed while it was blocked'
   where id = new_user and blocked_at is null
     and exists (select 1 from closed_mailboxes where hmac = of_mailbox and blocked);
  insert into charge_marks (id, kind, charge_id, user_id, fingerprint, marked_at)
  select m.id || ':' || new_user, m.kind, m.charge_id, new_user, null, m.marked_at
    from charge_marks m join closed_mailboxes b on b.user_id = m.user_id
   where b.hmac = of_mailbox and b.charges_held and m.lifted_at is null
  on conflict do nothing;
$function$;
revoke execute on function carry_marks from public;
grant execute on function carry_marks to gpu_rental_api, gpu_rental_worker;

-- Whether this transaction takes a person's words out of a row, and changes nothing else of it.
create function only_erases(was jsonb, now jsonb, words text[])
 returns boolean
 language sql stable
as $function$
  select coalesce(current_setting('gpu_rental.erasing', true), '') = 'on' and was - words = now - words
$function$;

create or replace function audit_events_stay()
 returns trigger
 language plpgsql
as $function$
  declare
    is_old boolean := old.at < clock_ms() - interval '90 days';
  begin
    if tg_op = 'UPDATE' and only_erases(to_jsonb(old), to_jsonb(new), array['details', 'client_address']) then
      return new;
    end if;
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

create or replace function rental_changes_stay()
 returns trigger
 language plpgsql
as $function$
    begin
      if tg_op = 'UPDATE' and only_erases(to_jsonb(old), to_jsonb(new), array['asked', 'refused']) then
        return new;
      end if;
      if tg_op = 'TRUNCATE' or old.answered_at is not null
         or (tg_op = 'UPDATE' and (new.id, new.rental_no, new.user_id, new.asked, new.answer_before, new.asked_at)
               is distinct from (old.id, old.rental_no, old.user_id, old.asked, old.answer_before, old.asked_at)) then
        raise exception 'what a change asked for, and what came of it, is never changed'
          using errcode = 'restrict_violation', constraint = 'rental_changes_stay';
      end if;
      return case tg_op when 'DELETE' then old else new end;
    end $function$;

create or replace function rental_labels_stay()
 returns trigger
 language plpgsql
as $function$
    begin
      if tg_op = 'DELETE' and coalesce(current_setting('gpu_rental.erasing', true), '') = 'on' then
        return old;
      end if;
      if exists (select 1 from rentals where no = coalesce(new.rental_no, old.rental_no) and settled_at is not null) then
        raise exception 'the labels of a settled rental stay as they are'
          using errcode = 'restrict_violation', constraint = 'rental_labels_stay';
      end if;
      return coalesce(new, old);
    end $function$;

create or replace function operator_actions_stay()
 returns trigger
 language plpgsql
as $function$
    begin
      if tg_op = 'UPDATE' and only_erases(to_jsonb(old), to_jsonb(new), array['reason', 'request', 'result']) then
        return new;
      end if;
      raise exception 'what operators did is never changed or removed'
        using errcode = 'restrict_violation', constraint = 'operator_actions_stay';
    end $function$;

create or replace function operator_orders_changed()
 returns trigger
 language plpgsql
as $function$
    declare
      by_operator boolean := pg_has_role(current_user, 'gpu_rental_ops', 'member');
      by_worker boolean := pg_has_role(current_user, 'gpu_rental_worker', 'member');
    begin
      -- A generated column is not made yet.
      if only_erases(to_jsonb(old), to_jsonb(new), array['reason', 'request', 'rejected_why', 'amount_cents'])
         and new.request - 'description' = old.request - 'description' then
        return new;
      end if;
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

grant update (value) on account_ties to gpu_rental_worker;
grant update (fingerprint) on charge_marks to gpu_rental_worker;
grant update (details, client_address) on audit_events to gpu_rental_worker;
grant update (asked) on rental_changes to gpu_rental_worker;
grant update (reason, request, result) on operator_actions to gpu_rental_worker;
grant update (reason, request, rejected_why) on operator_orders to gpu_rental_worker;
grant update (acknowledged_why) on reconcile_findings to gpu_rental_worker;
grant select on identities to gpu_rental_worker;
grant delete on billing_details, budgets, identities, notice_settings, passkeys, saved_cards, ssh_keys to gpu_rental_worker;
