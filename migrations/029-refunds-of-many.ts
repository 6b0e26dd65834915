import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Lets one order refund many rentals: its own rows hold each rental's amount (decision 94, "Refunds of an outage"). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table operator_order_items (
      order_id text not null references operator_orders on delete restrict,
      rental_no bigint not null references rentals on delete restrict,
      -- At most so much is given back.
      amount_cents bigint not null check (amount_cents > 0),
      -- What was given back: less where others gave it back first. Null until it is done.
      refunded_cents bigint check (refunded_cents between 0 and amount_cents),
      done_at timestamptz(3),
      primary key (order_id, rental_no),
      constraint operator_order_items_done check ((refunded_cents is null) = (done_at is null))
    );
    -- What a rental was given back before.
    create index operator_order_items_rental on operator_order_items (rental_no);
    create index operator_order_items_undone on operator_order_items (order_id, rental_no) where done_at is null;
    create index operator_actions_refunds on operator_actions ((request ->> 'rentalId')) where kind = 'refund';
    -- Who was rented to in a window: what is over since before it is not read.
    create index rentals_ended on rentals (provider_code, ended_at);

    -- Items are the order's from its first moment. None is added later: the sum would not be the order's any more.
    create function operator_order_items_added() returns trigger language plpgsql as $$
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
    end $$;
    create trigger operator_order_items_added after insert on operator_order_items
      referencing new table as added for each statement execute function operator_order_items_added();

    -- Asked at the commit of the order.
    create function operator_orders_itemized() returns trigger language plpgsql as $$
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
    end $$;
    create constraint trigger operator_orders_itemized after insert on operator_orders
      deferrable initially deferred for each row when (new.kind = 'refund_rentals')
      execute function operator_orders_itemized();

    -- What an item asks for stays; it is done once, and only while its order is open.
    create function operator_order_items_changed() returns trigger language plpgsql as $$
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
    end $$;
    create trigger operator_order_items_changed before update on operator_order_items
      for each row execute function operator_order_items_changed();

    create function operator_order_items_stay() returns trigger language plpgsql as $$
    begin
      raise exception 'what an order asks for is never removed'
        using errcode = 'restrict_violation', constraint = 'operator_order_items_stay';
    end $$;
    create trigger operator_order_items_stay before delete on operator_order_items
      for each row execute function operator_order_items_stay();
    create trigger operator_order_items_not_truncated before truncate on operator_order_items
      for each statement execute function operator_order_items_stay();

    -- An order of many is done when all of it is.
    create function operator_orders_all_done() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from operator_order_items where order_id = new.id and done_at is null) then
        raise exception 'items of the order % are not done', new.id
          using errcode = 'check_violation', constraint = 'operator_orders_all_done';
      end if;
      return new;
    end $$;
    create trigger operator_orders_all_done before update on operator_orders
      for each row when (new.kind = 'refund_rentals' and new.status = 'done')
      execute function operator_orders_all_done();
  `);
  await grant(knex, {
    operator_order_items: {
      api: null,
      worker: 'select, update (refunded_cents, done_at)',
      ops: 'select, insert (order_id, rental_no, amount_cents)',
    },
  });
}
