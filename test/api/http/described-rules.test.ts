import assert from 'node:assert/strict';
import { apiKeyScopes } from '../../../domain/accounts/api-keys.js';
import { DAY } from '../../../domain/durations.js';
import { dunning } from '../../../domain/payments/dunning.js';
import { createApiKey } from '../../../api/api-keys/describe.js';
import { showInvoice } from '../../../api/invoices/describe.js';

/** What the description says in words or shows by an example, and rules say as well. */
describe('the description of the API', () => {
  it('tells of each scope what a key does by it', () => {
    const { description = '' } = createApiKey;
    assert.deepEqual(
      apiKeyScopes.filter((scope) => !description.includes(`\`${scope}\``)),
      [],
    );
  });

  it('shows an invoice that is due when invoices are', () => {
    const example = showInvoice.answers[0]?.examples?.[0];
    assert.ok(example?.dueAt);
    assert.equal(Date.parse(example.dueAt) - Date.parse(example.createdAt), dunning.dueDays * DAY);
  });
});
