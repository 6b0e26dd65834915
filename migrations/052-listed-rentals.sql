-- Lists of rentals by status, and how many there are of each, without a look at the rows (decision 143, "Sorted rentals").
create index concurrently rentals_of_user_by_status on rentals (user_id, status, no desc);
