-- Finds a user's refunds and disputes, so that their overview tells what was taken back (decision 147, "What needs you").
create index concurrently refunds_and_disputes_of_user on refunds_and_disputes (user_id, created_at);
