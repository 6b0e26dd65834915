-- Finds the declines of a user's cards among the processor's events (decision 128, "Trying of cards").
create index processor_events_declines on processor_events ((object #>> '{metadata,user_id}'), received_at)
  where kind in ('payment_intent.payment_failed', 'setup_intent.setup_failed', 'invoice.payment_failed');
