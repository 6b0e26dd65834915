-- Own software (decision 154, "Sealed software"): the rentals that may still need their secrets, and those for which an
-- upstream may keep the credentials of a registry.
create index concurrently rentals_starting_software_idx on rentals ((software ->> 'secretsId'))
  where status = 'provisioning' and software is not null;
create index concurrently rentals_with_registry on rentals (closed_at)
  where software ->> 'hasRegistryAuth' = 'true';
create index concurrently rental_requests_with_registry on rental_requests (requested_at)
  where software ->> 'hasRegistryAuth' = 'true';
