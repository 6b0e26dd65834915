-- The audit trail tells who changed whom receipts are made out to (decision 59, "The audit trail"). What is new is checked
-- from here on; the rows of before, which fewer kinds allowed, by the next step.
alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check
  check (kind in (
    'signed_in', 'signed_out', 'proof_refreshed', 'ssh_key_added', 'ssh_key_removed', 'rental_created', 'rental_changed',
    'rental_stopped', 'rental_ended', 'checkout_begun', 'card_saved', 'card_removed', 'auto_topup_changed',
    'billing_details_changed', 'changed_by_operator', 'charges_held', 'notices_changed', 'webhook_created',
    'webhook_changed', 'webhook_removed', 'webhook_switched_off', 'budget_changed', 'api_key_created', 'api_key_changed',
    'api_key_revoked'
  )) not valid;
