-- What one rents, where the upstream tells it (decision 159, "What one rents"): null where it does not.
alter table listings
  add column vcpus integer constraint listings_vcpus_check check (vcpus > 0),
  add column memory_gb integer constraint listings_memory_gb_check check (memory_gb > 0),
  add column disk_gb integer constraint listings_disk_gb_check check (disk_gb > 0),
  add column network_mbps integer constraint listings_network_mbps_check check (network_mbps > 0),
  -- The newest CUDA that its driver runs, and the driver.
  add column cuda_version text constraint listings_cuda_version_check check (length(cuda_version) <= 32),
  add column driver_version text constraint listings_driver_version_check check (length(driver_version) <= 32),
  -- When its contract ends at the upstream.
  add column available_until timestamp(3) with time zone;
-- The same for a machine that is bought there: its rental ends before.
alter table allocation_attempts add column available_until timestamp(3) with time zone;
