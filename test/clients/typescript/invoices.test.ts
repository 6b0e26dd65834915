import assert from 'node:assert/strict';
import { isPayable, payableStatuses, type Invoice } from '@gpu-rental/client';
import * as domain from '../../../domain/payments/invoices.js';
import { UNKNOWN_WORD } from '../../support/http/newer.js';

describe('an invoice in the hands of a client', () => {
  it('can be paid where the service says so, and in no state that a newer service answers', () => {
    const payable = domain.invoiceStatuses.filter((status) => domain.isPayable({ status }));
    assert.deepEqual(payable, [...payableStatuses]);
    for (const status of domain.invoiceStatuses)
      assert.equal(isPayable({ status }), domain.isPayable({ status }), status);
    assert.equal(isPayable({ status: UNKNOWN_WORD as Invoice['status'] }), false);
  });
});
