import assert from 'node:assert/strict';
import { isApiError, lookUp, wordOf } from '@gpu-rental/client';
import { errorOfAnswer } from '../../../clients/typescript/src/errors.js';
import { UNKNOWN_WORD } from '../../support/http/newer.js';

describe('words that a newer service answers', () => {
  it('are shown as they are, also those that every object has', () => {
    assert.equal(wordOf({ paid: 'Paid' }, 'paid'), 'Paid');
    assert.equal(wordOf({ paid: 'Paid' }, UNKNOWN_WORD), 'a newer word');
    assert.equal(wordOf({ paid: 'Paid' }, 'constructor'), 'constructor');
    assert.equal(lookUp({ paid: 'good' }, 'toString'), undefined);
  });

  it('may be the code of a refusal', () => {
    const body = { error: UNKNOWN_WORD, message: 'Try it tomorrow.', details: { at: 1 }, requestId: 'r' };
    const error = errorOfAnswer(new Response(null, { status: 409 }), body);
    assert.ok(isApiError(error) && !isApiError(error, 'not_found'));
    assert.deepEqual([error.code, error.details, error.message], [UNKNOWN_WORD, { at: 1 }, body.message]);
  });
});
