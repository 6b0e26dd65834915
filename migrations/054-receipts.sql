-- Whom statements and receipts are made out to, and what a receipt says of a payment for good (decision 148,
-- "Receipts and buyers").
create table billing_details (
  user_id text primary key references users on delete restrict,
  name text check (length(name) between 1 and 150),
  address text check (length(address) between 1 and 300),
  tax_id text check (length(tax_id) between 1 and 50),
  changed_at timestamptz(3) not null default clock_ms(),
  constraint billing_details_some check (coalesce(name, address, tax_id) is not null)
);
grant select, insert, update, delete on billing_details to gpu_rental_api;
grant select on billing_details to gpu_rental_worker;
grant select on billing_details to gpu_rental_ops;

-- As it was when the payment was credited: the buyer's details, and the card that paid.
alter table topups add column billed_to jsonb, add column card_brand text, add column card_last4 text;
