-- Finds the endpoints of a user, the removed ones as well, when the user's account is erased (decision 183, "What closing
-- erases").
create index concurrently webhooks_of_owner on webhooks (user_id);
