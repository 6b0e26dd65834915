-- What an export of an account needs (decision 184, "One archive").

alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check
  check (kind in (
    'signed_in', 'signed_out', 'proof_refreshed', 'ssh_key_added', 'ssh_key_removed', 'rental_created', 'rental_changed',
    'rental_stopped', 'rental_ended', 'checkout_begun', 'card_saved', 'card_removed', 'auto_topup_changed',
    'billing_details_changed', 'changed_by_operator', 'charges_held', 'notices_changed', 'webhook_created',
    'webhook_changed', 'webhook_removed', 'webhook_switched_off', 'budget_changed', 'api_key_created', 'api_key_changed',
    'api_key_revoked', 'passkey_added', 'passkey_removed', 'passkey_refused', 'account_exported'
  )) not valid;

-- The mails that are kept, without texts that carry a code, and without the address that switches mails off by itself: the
-- API may not read those. Nor are mails to operators (OperatorMailCause in adapters/postgres/upkeep/outbox.ts) their
-- reader's own, whoever has that address.
create view kept_mails as
  select id, recipient, subject, created_at, sent_at,
         case when not wipe_after_sending then replace(body, coalesce(unsubscribe_url, ''), '(link)') end as body
    from mail_outbox
   where cause !~ '^(operator-notice|reconcile):' and cause !~ '^charges-held:.*:operators$';
grant select on kept_mails to gpu_rental_api;
