import type { Knex } from 'knex';

/** Adds saved cards, charges of them, reversals by the processor, and events of it that were missed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row stays when its card is removed: its detachment may still be owed to the processor, and an event that
    -- comes late may not bring it back.
    create table saved_cards (
      -- The payment method's id at the processor.
      pm_id text primary key,
      user_id text not null references users on delete restrict,
      brand text not null,
      last4 text not null check (length(last4) between 1 and 4),
      exp_month int not null check (exp_month between 1 and 12),
      exp_year int not null check (exp_year between 2000 and 9999),
      -- When its owner agreed, by the processor's clock. A later card replaces an earlier one, in whatever order the
      -- events arrive.
      set_up_at timestamptz(3) not null,
      saved_at timestamptz(3) not null default clock_ms(),
      removed_at timestamptz(3),
      removed_why text check (removed_why in ('user', 'replaced', 'detached')),
      detached_at timestamptz(3),
      -- The user was told that it has expired.
      expiry_noticed_at timestamptz(3),
      constraint saved_cards_removed check ((removed_at is null) = (removed_why is null)),
      constraint saved_cards_detached check (detached_at is null or removed_at is not null)
    );
    create unique index saved_cards_one_per_user on saved_cards (user_id) where removed_at is null;
    create index saved_cards_of_user on saved_cards (user_id);
    create index saved_cards_undetached on saved_cards (pm_id) where removed_at is not null and detached_at is null;

    -- Each saving of a card that was begun: its number makes the key of the processor's call.
    create table card_setups (
      no bigint generated always as identity primary key,
      user_id text not null references users on delete restrict,
      setup_id text unique,
      created_at timestamptz(3) not null default clock_ms()
    );
    create index card_setups_age on card_setups (created_at);

    alter table topups
      add source text not null default 'checkout',
      -- The saved card that is charged, or was.
      add pm_id text,
      -- Set before the charge leaves: from then on its outcome is whatever the processor says.
      add charge_sent_at timestamptz(3),
      add decline_code text,
      add constraint topups_source check (source in ('checkout', 'saved_card')),
      add constraint topups_saved_card check (source <> 'saved_card' or pm_id is not null),
      add constraint topups_charge_sent check (charge_sent_at is null or pm_id is not null);
    -- Decision 32: one charge of a saved card in flight per user.
    create unique index topups_one_charge on topups (user_id) where source = 'saved_card' and closed_at is null;

    alter table processor_events add workflow_type text;
    update processor_events set workflow_type = 'topup' where workflow_id is not null;
    alter table processor_events
      add constraint processor_events_route check ((workflow_type is null) = (workflow_id is null));
    drop index processor_events_workflow;
    create index processor_events_workflow on processor_events (workflow_id) where workflow_id is not null;

    -- Money that came in and could not be credited: another currency, or nobody that it belongs to.
    create table parked_payments (
      payment_id text primary key,
      topup_id text,
      user_id text,
      amount_cents bigint not null,
      currency text not null,
      reason text not null,
      parked_at timestamptz(3) not null default clock_ms(),
      resolved_at timestamptz(3),
      resolution text,
      check ((resolved_at is null) = (resolution is null))
    );

    -- Decision 30: what the processor took back of a payment, and where it was taken from. What comes back is what
    -- was debited.
    create table refunds_and_disputes (
      id text primary key,
      kind text not null check (kind in ('refund', 'dispute')),
      payment_id text not null,
      user_id text not null references users on delete restrict,
      wallet_id bigint not null references wallets on delete restrict,
      -- What the processor says it is about; what was taken may be less.
      amount_cents bigint not null check (amount_cents >= 0),
      status text not null,
      debited_cents bigint not null default 0 check (debited_cents >= 0),
      invoiced_cents bigint not null default 0 check (invoiced_cents >= 0),
      written_off_cents bigint not null default 0 check (written_off_cents >= 0),
      invoice_id text references invoices on delete restrict,
      taken_at timestamptz(3),
      given_back_at timestamptz(3),
      created_at timestamptz(3) not null default clock_ms(),
      -- Nothing more is expected of it.
      closed_at timestamptz(3),
      constraint refunds_and_disputes_taken
        check (taken_at is not null or debited_cents + invoiced_cents + written_off_cents = 0),
      constraint refunds_and_disputes_at_most
        check (debited_cents + invoiced_cents + written_off_cents <= amount_cents),
      constraint refunds_and_disputes_invoice check ((invoice_id is null) = (invoiced_cents = 0))
    );
    create index refunds_and_disputes_payment on refunds_and_disputes (payment_id);
    create index refunds_and_disputes_unclosed on refunds_and_disputes (id) where closed_at is null;

    -- Up to where the processor's own list of events was read. It starts now: what an account did before this
    -- database existed is not this database's business.
    create table event_cursor (
      singleton boolean primary key default true check (singleton),
      seen_until timestamptz(3) not null
    );
    insert into event_cursor (seen_until) values (clock_ms());
  `);
}
