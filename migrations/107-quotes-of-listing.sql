-- Whether a quote names a listing: the removal of each listing asks.
create index concurrently quotes_of_listing on quotes (listing_id);
