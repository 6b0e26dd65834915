/**
 * A refusal is an answer, not a fault: a code with its HTTP status (decision 3, "Table of codes"). Any other failure is
 * retried or is a 500. The table is exhaustive: a code that is not here does not exist.
 */
export const refusalStatus = {
  validation_failed: 400,
  invalid_email: 400,
  invalid_amount: 400,
  invalid_count: 400,
  weak_key: 400,
  duplicate_key: 400,
  too_many_keys: 400,
  duplicate_passkey: 400,
  too_many_passkeys: 400,
  unknown_family: 400,
  model_unavailable: 400,
  software_unsupported: 400,
  idle_guard_unsupported: 400,
  billing_disabled: 400,
  too_many_webhooks: 400,
  webhooks_disabled: 400,
  unauthorized: 401,
  code_invalid: 401,
  passkey_invalid: 401,
  oauth_state_mismatch: 401,
  key_unknown: 401,
  key_expired: 401,
  key_revoked: 401,
  key_suspended: 401,
  card_declined: 402,
  insufficient_balance: 403,
  forbidden: 403,
  blocked: 403,
  account_closing: 403,
  fresh_sign_in_required: 403,
  session_required: 403,
  key_scope: 403,
  key_address: 403,
  key_ends_own: 403,
  key_setup: 403,
  cap_reserved: 403,
  budget_reserved: 403,
  not_found: 404,
  rental_not_found: 404,
  invoice_not_found: 404,
  topup_not_found: 404,
  key_not_found: 404,
  session_not_found: 404,
  passkey_not_found: 404,
  quote_not_found: 404,
  endpoint_not_found: 404,
  webhook_not_found: 404,
  method_not_allowed: 405,
  resync: 409,
  charge_in_progress: 409,
  already_stopped: 409,
  quote_expired: 409,
  price_changed: 409,
  rental_ending: 409,
  no_idle_guard: 409,
  no_saved_card: 409,
  webhook_not_enabled: 409,
  proof_not_ready: 409,
  export_running: 409,
  idempotency_conflict: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unknown_host: 421,
  rate_limited: 429,
  code_request_rate_limited: 429,
  internal_error: 500,
  temporarily_unavailable: 503,
} as const;

export type RefusalCode = keyof typeof refusalStatus;

/** The codes that may take a person’s help to get past. */
export const helpedBySupport: ReadonlySet<RefusalCode> = new Set([
  'billing_disabled',
  'blocked',
  'rate_limited',
  'internal_error',
]);

/** Facts of a refusal that a client may act on; amounts in cents, ids as text. */
export type RefusalDetails = Readonly<Record<string, unknown>>;

/** Thrown when a request can't be met for a reason that the caller may know. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly code: RefusalCode,
    message: string,
    readonly details?: RefusalDetails,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Tells whether a text is one of the codes: refusals cross Temporal as the type of an ApplicationFailure. */
export function isRefusalCode(text: string): text is RefusalCode {
  return Object.hasOwn(refusalStatus, text);
}
