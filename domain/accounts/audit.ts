/** The kinds of events in the audit trail (decision 59, "The audit trail"). */
export const auditKinds = [
  'signed_in',
  'signed_out',
  'proof_refreshed',
  'ssh_key_added',
  'ssh_key_removed',
  'rental_created',
  'rental_changed',
  'rental_stopped',
  'checkout_begun',
  'card_saved',
  'card_removed',
  'auto_topup_changed',
  'changed_by_operator',
  'charges_held',
  'rental_ended',
  'notices_changed',
  'webhook_created',
  'webhook_changed',
  'webhook_removed',
  'webhook_switched_off',
  'budget_changed',
  'api_key_created',
  'api_key_changed',
  'api_key_revoked',
] as const;

export type AuditKind = (typeof auditKinds)[number];
