/** What the schema can't tell of a column: the shape of JSON, and words and ids that no check of its own holds. */
export const typesOfColumns: Readonly<Record<string, string>> = {
  'account_closings.swept': 'Record<string, unknown[]>',
  'api_keys.scopes': 'ApiKeyScope[]',
  'audit_events.details': 'Record<string, unknown>',
  'event_outbox.data': 'Readonly<Record<string, unknown>>',
  'event_outbox.id': 'EventId',
  'event_outbox.type': 'EventType',
  'events.data': 'Readonly<Record<string, unknown>>',
  'events.id': 'EventId',
  'events.type': 'EventType',
  'free_machines.kind': "'lost at once' | 'below a cent' | 'never ready' | 'stopped while provisioning'",
  'operator_orders.request': 'OrderedAction',
  'operator_orders.result': 'OperationResult',
  // As the payment's metadata says, which somebody else may have written.
  'parked_payments.user_id': 'string',
  'pod_leaks.kind': "'unknown tag' | 'ending' | 'given up'",
  'processor_events.object': 'Record<string, unknown>',
  'processor_events.workflow_type': 'EventWorkflow',
  'passkey_challenges.session_id': 'SessionId',
  'proof_codes.session_id': 'SessionId',
  'provider_quotas.windows': 'QuotaWindow[]',
  'quotes.request': "Omit<RentalRequest, 'userId' | 'apiKeyId'>",
  'reconcile_findings.evidence': 'Record<string, unknown>',
  'reconcile_findings.kind': 'FindingKind',
  'reconcile_findings.subject_ids': 'Record<string, string | number | null>',
  'rental_changes.asked': 'AskedChange',
  'rental_changes.refused': '{ code: RefusalCode; message: string; details?: RefusalDetails }',
  'rental_requests.labels': 'Labels',
  'rental_requests.ssh_key_ids': 'SshKeyId[]',
  'rentals.ssh_key_ids': 'SshKeyId[]',
  'pods.ports': 'PodPort[]',
  'providers.software': 'SoftwareCapabilities',
  'providers.telemetry': 'TelemetryTold',
  'rental_requests.software': 'SoftwareOutline',
  'rental_requests.idle_guard': 'IdleGuard',
  'idle_guards.ignores': 'Ignorable[]',
  'rentals.software': 'SoftwareOutline',
  'ssh_keys.id': 'SshKeyId',
  'topup_requests.joined_topup_id': 'TopupId',
  'topups.billed_to': 'BillingDetails',
  'topups.sold_by': 'Seller',
  'user_notices.facts': 'Record<string, unknown>',
  'webhooks.types': 'EventType[]',
};

/** The types of ids by their prefix; SSH keys share that of API keys. */
export const typesOfIds: Readonly<Record<string, string>> = {
  aud: 'AuditEventId',
  chg: 'ChangeId',
  dlv: 'DeliveryId',
  evt: 'EventId',
  inv: 'InvoiceId',
  key: 'ApiKeyId',
  li: 'LineItemId',
  lst: 'ListingId',
  op: 'OperationId',
  psk: 'PasskeyId',
  quo: 'QuoteId',
  rent: 'RentalId',
  ses: 'SessionId',
  sw: 'SoftwareId',
  top: 'TopupId',
  usr: 'UserId',
  wh: 'WebhookId',
};

/** The same by a column's name, where it has neither a check nor a foreign key. */
export const typesOfNames: Readonly<Record<string, string>> = {
  event_id: 'EventId',
  listing_id: 'ListingId',
  rental_id: 'RentalId',
  user_id: 'UserId',
};

/** The table whose columns a view shows; its own further ones are never null but for those below. */
export const tablesOfViews: Readonly<Record<string, string>> = {
  kept_mails: 'mail_outbox',
  meters: 'meter_readings',
  rentals_now: 'rentals',
};

export const nullableInViews: readonly string[] = [
  'pod_leaks.gone_at',
  'pod_leaks.rental_id',
  'pod_leaks.slow_end_told_at',
];

/** The names of rows that are not the table's in the singular. */
export const namesOfRows: Readonly<Record<string, string>> = {
  account_ties: 'account_tie',
  failed_sign_ins: 'failed_sign_ins',
  oauth_states: 'o_auth_state',
  provider_quotas: 'provider_quotas',
  refunds_and_disputes: 'refund_or_dispute',
  witnesses: 'witness',
};

/** Where the types above come from. */
export const sources: readonly (readonly [module: string, names: readonly string[]])[] = [
  ['../../../domain/accounts/api-keys.js', ['ApiKeyScope']],
  ['../../../domain/events/events.js', ['EventType']],
  ['../../../domain/ids.js', [...Object.values(typesOfIds), 'SshKeyId'].sort()],
  ['../../../domain/payments/receipt.js', ['BillingDetails', 'Seller']],
  ['../../../domain/operations/operation.js', ['OperationResult', 'OrderedAction']],
  ['../../../domain/operations/reconcile.js', ['FindingKind']],
  ['../../../domain/payments/processor-routes.js', ['EventWorkflow']],
  ['../../../domain/refusal.js', ['RefusalCode', 'RefusalDetails']],
  ['../../../domain/rentals/changes.js', ['AskedChange']],
  ['../../../domain/rentals/endpoints.js', ['PodPort']],
  ['../../../domain/rentals/labels.js', ['Labels']],
  ['../../../domain/rentals/request.js', ['RentalRequest']],
  ['../../../domain/machines/telemetry.js', ['TelemetryTold']],
  ['../../../domain/rentals/idle-guard.js', ['IdleGuard', 'Ignorable']],
  ['../../../domain/rentals/software.js', ['SoftwareCapabilities', 'SoftwareOutline']],
  ['../../providers/upstream/quotas.js', ['QuotaWindow']],
];
