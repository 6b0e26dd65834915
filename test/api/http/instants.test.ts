import { ledgerQuery, csvQuery, statementQuery } from '../../../api/wallet/describe.js';
import assert from 'node:assert/strict';
import { apiKeySchema } from '../../../api/api-keys/request.js';
import { changeSchema } from '../../../api/rentals/change-request.js';

describe('a day that there is not', () => {
  for (const [schema, field] of [
    [changeSchema, 'autoStopAt'],
    [apiKeySchema, 'expiresAt'],
    [ledgerQuery, 'from'],
    [csvQuery, 'to'],
    [statementQuery, 'from'],
  ] as const) {
    it(`is refused as ${field}, by its name`, () => {
      const { error } = schema.validate({ [field]: '2026-11-31T10:00:00Z' }, { abortEarly: false });
      assert.match(error?.message ?? '', new RegExp(`"?${field}"? must be a day that there is`));
    });
  }
});
