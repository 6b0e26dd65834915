import type { Knex } from 'knex';

/** Makes the tables of the money that comes in, and of what users owe. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table topups (
      id text primary key check (id ~ '^top_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      wallet_id bigint not null references wallets on delete restrict,
      amount_cents int not null check (amount_cents between 100 and 500000),
      status text not null check (status in
        ('creating', 'requires_payment', 'processing', 'succeeded', 'expired', 'failed')),
      session_id text unique,
      checkout_url text,
      session_expires_at timestamptz(3),
      payment_id text unique,
      charge_id text,
      receipt_url text,
      -- What was really received, which is what the wallet was credited with.
      credited_cents int check (credited_cents > 0),
      credited_at timestamptz(3),
      error text,
      created_at timestamptz(3) not null default clock_ms(),
      -- The workflow is over: credited, or expired with nothing paid.
      closed_at timestamptz(3),
      constraint topups_credited check ((status = 'succeeded') = (credited_cents is not null and credited_at is not null and payment_id is not null)),
      constraint topups_session check (status <> 'requires_payment' or (session_id is not null and session_expires_at is not null))
    );
    create index topups_of_user on topups (user_id, id desc);
    create index topups_unclosed on topups (id) where closed_at is null;

    create table processor_events (
      id text primary key,
      kind text not null,
      created_at timestamptz(3) not null,
      received_at timestamptz(3) not null default clock_ms(),
      livemode boolean not null,
      api_version text,
      object jsonb not null,
      -- The workflow that acts on it; null for a kind that nobody acts on.
      workflow_id text,
      handled_at timestamptz(3),
      note text
    );
    create index processor_events_unhandled on processor_events (received_at) where handled_at is null;
    create index processor_events_workflow on processor_events (workflow_id) where handled_at is null;

    create table invoices (
      id text primary key check (id ~ '^inv_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      wallet_id bigint not null references wallets on delete restrict,
      status text not null check (status in ('draft', 'open', 'paid', 'void', 'uncollectible')),
      reason text not null check (reason in ('topup_failed', 'overage', 'manual')),
      amount_cents bigint not null check (amount_cents >= 50),
      currency text not null default 'USD' check (currency = 'USD'),
      rental_no bigint references rentals on delete restrict,
      -- What it was made for, so that a retry makes no second one.
      cause text not null unique,
      processor_invoice_id text unique,
      hosted_invoice_url text,
      invoice_pdf_url text,
      receipt_url text,
      created_at timestamptz(3) not null default clock_ms(),
      finalized_at timestamptz(3),
      due_at timestamptz(3),
      paid_at timestamptz(3),
      voided_at timestamptz(3),
      constraint invoices_paid check ((status = 'paid') = (paid_at is not null)),
      constraint invoices_void check ((status = 'void') = (voided_at is not null)),
      constraint invoices_receipt check (receipt_url is null or status = 'paid'),
      constraint invoices_overage check (reason <> 'overage' or rental_no is not null)
    );
    create index invoices_of_user on invoices (user_id, id desc);

    create table invoice_line_items (
      id text primary key check (id ~ '^li_[0-9A-HJKMNP-TV-Z]{26}$'),
      invoice_id text not null references invoices on delete restrict,
      description text not null,
      amount_cents bigint not null,
      rental_no bigint references rentals on delete restrict,
      period_start timestamptz(3),
      period_end timestamptz(3),
      check (period_end >= period_start)
    );
    create index invoice_line_items_invoice on invoice_line_items (invoice_id);
  `);
}
