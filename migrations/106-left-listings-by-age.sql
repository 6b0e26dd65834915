-- Offers that left, the oldest first.
create index concurrently listings_left on listings (offer_changed_at) where not offered;
