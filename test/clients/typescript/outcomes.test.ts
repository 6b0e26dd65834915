import assert from 'node:assert/strict';
import { ApiError, ConnectionError, leavesEarlierOpen, mayBeDone } from '@gpu-rental/client';
import { refusalStatus, type RefusalCode } from '../../../domain/refusal.js';

const codes = Object.keys(refusalStatus) as RefusalCode[];

function refused(code: RefusalCode, details?: object): ApiError {
  return new ApiError({
    ...{ status: refusalStatus[code], code, message: '', requestId: 'r' },
    ...{ retryAfterSeconds: undefined, details },
  });
}

/** What the service says once it has looked at the key: an earlier attempt that had opened something would be told. */
const tellsEarlier: readonly RefusalCode[] = [
  ...([
    'invalid_email',
    'invalid_amount',
    'invalid_count',
    'weak_key',
    'duplicate_key',
    'too_many_keys',
  ] as const),
  ...(['duplicate_passkey', 'too_many_passkeys', 'unknown_family', 'model_unavailable'] as const),
  ...(['software_unsupported', 'idle_guard_unsupported', 'too_many_webhooks', 'webhooks_disabled'] as const),
  ...(['card_declined', 'insufficient_balance', 'blocked', 'account_closing', 'cap_reserved'] as const),
  ...([
    'budget_reserved',
    'rental_not_found',
    'invoice_not_found',
    'topup_not_found',
    'key_not_found',
  ] as const),
  ...(['session_not_found', 'passkey_not_found', 'quote_not_found', 'endpoint_not_found'] as const),
  ...(['webhook_not_found', 'resync', 'charge_in_progress', 'already_stopped', 'quote_expired'] as const),
  ...(['price_changed', 'rental_ending', 'no_idle_guard', 'no_saved_card', 'webhook_not_enabled'] as const),
  ...(['proof_not_ready', 'export_running'] as const),
];

describe('what a failure leaves open', () => {
  it('of its own request: what the service began, or may have begun', () => {
    assert.deepEqual(
      codes.filter((code) => mayBeDone(refused(code))),
      ['idempotency_in_progress', 'internal_error', 'temporarily_unavailable'],
    );
    assert.equal(mayBeDone(refused('temporarily_unavailable', { outcome: 'not_done' })), false);
    assert.equal(mayBeDone(refused('temporarily_unavailable', { outcome: 'unknown' })), true);
    assert.equal(mayBeDone(new ConnectionError('no answer')), true);
    assert.equal(mayBeDone(new ConnectionError('no', { neverSent: true })), false);
    assert.equal(mayBeDone(new TypeError('an answer that nobody could read')), true);
  });

  it('of earlier attempts under its key: all, where nobody looked at the key', () => {
    assert.deepEqual(
      codes.filter((code) => !leavesEarlierOpen(refused(code))).sort(),
      [...tellsEarlier].sort(),
    );
    assert.equal(leavesEarlierOpen(refused('rate_limited', { reason: 'too_many_card_tries' })), true);
    assert.equal(leavesEarlierOpen(refused('rate_limited', { reason: 'too_many_free_machines' })), false);
    assert.equal(leavesEarlierOpen(new ConnectionError('no', { neverSent: true })), true);
    assert.equal(leavesEarlierOpen(new TypeError('x')), true);
  });
});
