-- The seller as the settings named them when the payment was credited, as billed_to keeps the buyer (decision 148,
-- "Receipts and buyers"). Null: it was credited before this step.
alter table topups add column sold_by jsonb;
