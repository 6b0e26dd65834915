import assert from 'node:assert/strict';
import { invoiceStatuses, isOwed, isPayable, listedStatuses } from '../../../domain/payments/invoices.js';

describe('an invoice', () => {
  const open = { status: 'open', reason: 'manual', void_requested_at: null } as const;

  it('is owed while it is open, a debt, and not to be void', () => {
    assert.equal(isOwed(open), true);
    assert.equal(isOwed({ ...open, reason: 'overage' }), true);
    assert.equal(isOwed({ ...open, reason: 'topup_failed' }), false);
    assert.equal(isOwed({ ...open, void_requested_at: new Date() }), false);
    for (const status of ['draft', 'paid', 'void', 'uncollectible'] as const)
      assert.equal(isOwed({ ...open, status }), false, status);
  });

  it('can be paid while it is open, and after it was given up', () => {
    assert.deepEqual(
      invoiceStatuses.filter((status) => isPayable({ status })),
      ['open', 'uncollectible'],
    );
  });

  it('is listed once it is no draft', () => {
    assert.deepEqual(listedStatuses, ['open', 'paid', 'void', 'uncollectible']);
  });
});
