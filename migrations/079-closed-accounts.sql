-- The closing of an account (decision 182, "Closing an account"): one row, from the wish on and for good.
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
  -- How far each large table was searched for the person's words, by table: the key of a row.
  swept jsonb not null default '{}',
  erased_at timestamptz(3),
  -- Until then, what comes late about the person is looked for.
  late_until timestamptz(3),
  closed_at timestamptz(3),
  constraint account_closings_erased
    check (state not in ('kept', 'closed') or (erased_at is not null and late_until is not null)),
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
  -- When the processor was called last; null until then.
  called_at timestamptz(3),
  -- The processor's; null until it has answered.
  refund_id text,
  -- The card or the payment takes nothing back, in the processor's word: another payment is tried for the rest.
  refused_code text,
  -- The account had changed before it was carried out.
  withdrawn_at timestamptz(3),
  constraint closing_refunds_answered check (num_nonnulls(refund_id, refused_code, withdrawn_at) <= 1)
);
create unique index closing_refunds_open on closing_refunds (user_id)
  where refund_id is null and refused_code is null and withdrawn_at is null;
create index closing_refunds_user on closing_refunds (user_id);
create index closing_refunds_payment on closing_refunds (payment_id);
grant select on closing_refunds to gpu_rental_api, gpu_rental_ops;
grant select, insert, update (called_at, refund_id, refused_code, withdrawn_at) on closing_refunds to gpu_rental_worker;

-- The mailboxes and cards of closed accounts, each as a number that only the installation's key makes: nobody can read
-- them, and a later account of the same mailbox or card is recognized (decision 183, "What closing erases").
create table closed_marks (
  value text not null check (value ~ '^hmac:[0-9a-f]{64}$'),
  user_id text not null references account_closings (user_id) on delete restrict,
  kind text not null check (kind in ('mailbox', 'card')),
  primary key (value, user_id)
);
grant select on closed_marks to gpu_rental_api, gpu_rental_ops;
grant select, insert on closed_marks to gpu_rental_worker;

-- An account that lives has the same numbers among its ties.
alter table account_ties drop constraint account_ties_kind_check;
alter table account_ties add constraint account_ties_kind_check check (kind in ('card', 'address', 'mailbox')) not valid;
grant update (tied_at) on account_ties to gpu_rental_api;
-- What closed accounts are recognized by is not pruned: the pruning reads past none of it.
drop index account_ties_age;
create index account_ties_age on account_ties (tied_at)
  where kind <> 'mailbox' and not starts_with(value, 'hmac:');

-- Why an account may rent and pay for nothing: its own block, or that of a closed account of the same mailbox.
create function block_of(of_user text)
 returns text
 language sql stable
as $function$
  select coalesce(u.blocked_reason, 'account') from users u where u.id = of_user and u.blocked_at is not null
  union all
  select 'an earlier account of this mailbox was closed while it was blocked'
    from account_ties t join closed_marks k on k.value = t.value join users u on u.id = k.user_id
   where t.user_id = of_user and t.kind = 'mailbox' and u.blocked_at is not null
   limit 1
$function$;

-- Whether a text has a word that no longer word around it has: ann@x.org is not in joann@x.org, and not in ann@x.org.uk.
-- The plain search comes first: it is cheap, and mostly finds nothing.
create function word_pattern(word text)
 returns text
 language sql immutable
as $function$
  select '(?<![[:alnum:]._%+-])' || regexp_replace(word, '([^[:alnum:]@_-])', '\\\1', 'g') || '(?![[:alnum:]_-]|\.[[:alnum:]])'
$function$;
create function has_word(in_text text, word text)
 returns boolean
 language sql immutable
as $function$
  select coalesce(strpos(lower(in_text), lower(word)) > 0 and in_text ~* word_pattern(word), false)
$function$;
create function without_word(of_text text, word text, instead text)
 returns text
 language sql immutable
as $function$
  select case when has_word(of_text, word) then regexp_replace(of_text, word_pattern(word), instead, 'gi') else of_text end
$function$;

-- Whether this transaction erases the person of one of these accounts: it says so, and their closing has come so far.
create function is_erasing(of_users text[])
 returns boolean
 language plpgsql stable
as $function$
  begin
    -- Not every role may read closings.
    if coalesce(current_setting('gpu_rental.erasing', true), '') <> 'on' then
      return false;
    end if;
    return exists (select 1 from account_closings c where c.user_id = any (of_users)
                     and (c.state in ('erasing', 'kept') or c.requested_by = 'restored'));
  end $function$;

-- The accounts that an operator's act is about.
create function users_of_action(of_action text, request jsonb)
 returns text[]
 language sql stable
as $function$
  select array[request ->> 'userId',
               (select user_id from rentals where id = request ->> 'rentalId'),
               (select user_id from invoices where id = request ->> 'invoiceId'),
               (select user_id from audit_events where kind = 'changed_by_operator' and entity_id = of_action)]
$function$;

-- Whether a value went, or is what it was less keys and words.
create function is_erased(was jsonb, now jsonb)
 returns boolean
 language sql immutable
as $function$
  select now in (was, 'null', '"erased"')
      or case when jsonb_typeof(was) = 'object' and jsonb_typeof(now) = 'object' then
           not exists (select 1 from jsonb_each(now) kept
                        where kept.value not in ('null', '"erased"') and kept.value is distinct from was -> kept.key)
         else false end
$function$;

-- Whether the worker takes words out of a row, and changes nothing else of it.
create function only_erases(was jsonb, now jsonb, words text[])
 returns boolean
 language sql stable
as $function$
  select pg_has_role(current_user, 'gpu_rental_worker', 'member') and was - words = now - words
     and not exists (select 1 from unnest(words) word where not is_erased(was -> word, now -> word))
$function$;

create or replace function audit_events_stay()
 returns trigger
 language plpgsql
as $function$
  declare
    is_old boolean := old.at < clock_ms() - interval '90 days';
  begin
    if tg_op = 'UPDATE' and is_erasing(array[old.user_id])
       and only_erases(to_jsonb(old), to_jsonb(new), array['details', 'client_address']) then
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
      if tg_op = 'UPDATE' and is_erasing(array[old.user_id])
         and only_erases(to_jsonb(old), to_jsonb(new), array['asked', 'refused']) then
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
      if tg_op = 'DELETE' and is_erasing(array[old.user_id])
         and pg_has_role(current_user, 'gpu_rental_worker', 'member') then
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
      if tg_op = 'UPDATE' and is_erasing(users_of_action(old.id, old.request))
         and only_erases(to_jsonb(old), to_jsonb(new), array['reason', 'request', 'result']) then
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
      if old.closed_at is not null and is_erasing(users_of_action(old.id, old.request))
         and only_erases(to_jsonb(old), to_jsonb(new), array['reason', 'request', 'rejected_why', 'amount_cents'])
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

create index operator_actions_user on operator_actions ((request ->> 'userId'));
create index operator_actions_rental on operator_actions ((request ->> 'rentalId'));
create index operator_actions_invoice on operator_actions ((request ->> 'invoiceId'));
create index operator_orders_user on operator_orders ((request ->> 'userId'));
create index operator_orders_rental on operator_orders ((request ->> 'rentalId'));
create index operator_orders_invoice on operator_orders ((request ->> 'invoiceId'));
grant update (fingerprint) on charge_marks to gpu_rental_worker;
grant update (details, client_address) on audit_events to gpu_rental_worker;
grant update (asked) on rental_changes to gpu_rental_worker;
grant update (reason, request, result) on operator_actions to gpu_rental_worker;
grant update (reason, request, rejected_why) on operator_orders to gpu_rental_worker;
grant update (acknowledged_why) on reconcile_findings to gpu_rental_worker;
grant select on identities to gpu_rental_worker;
grant delete on billing_details, budgets, identities, notice_settings, passkeys, saved_cards, ssh_keys to gpu_rental_worker;
