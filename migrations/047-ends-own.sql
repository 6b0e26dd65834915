-- Lets a key end only the machines that it opened (decision 133, "Keys that end their own"). Those of before end all.
alter table api_keys add column ends text not null default 'all'
  constraint api_keys_ends check (ends in ('all', 'own'));
grant insert (ends) on api_keys to gpu_rental_api;
