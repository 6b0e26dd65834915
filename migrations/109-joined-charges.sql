-- The charge under way that answers a request (decision 32, "Checkout and credit"); null where none does. Its opening may run
-- again when that charge is over, and is told the same then.
alter table topup_requests add column joined_topup_id text;
grant update (joined_topup_id) on topup_requests to gpu_rental_worker;
