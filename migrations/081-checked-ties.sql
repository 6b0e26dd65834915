-- Every tie is of a kind that the check of 079 knows.
alter table account_ties validate constraint account_ties_kind_check;
