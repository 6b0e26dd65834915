import assert from 'node:assert/strict';
import { ApiError } from '@gpu-rental/client';
import { readableError } from '../../clients/dashboard/src/data/errors.js';

describe('a failure as people read it', () => {
  const limited = (retryAfterSeconds: number) =>
    readableError(
      new ApiError({
        ...{ status: 429, code: 'rate_limited', message: 'Try again in 40 minutes.', requestId: 'r' },
        ...{ details: { retryAfterSeconds }, retryAfterSeconds },
      }),
    );

  it('says to wait a moment only where a moment is enough', () => {
    assert.match(limited(5).nextStep ?? '', /moment/);
    assert.equal(limited(2_400).nextStep, undefined);
  });
});
