-- The address of somebody whom a restored database brought back, and who is shut out since: their words are found by it until
-- they are erased again (decision 183, "What closing erases"). Null for everybody else, and once they are.
alter table account_closings add column former_email text;
