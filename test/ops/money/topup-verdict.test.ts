import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TopupHistory } from '../../../adapters/postgres/payments/payment-search.js';
import { unknownPayment, verdictOn } from '../../../ops/money/topup-verdict.js';

const at = new Date('2026-11-21T09:00:00.000Z');
const parked = {
  ...{ payment_id: 'pi_1', reason: 'it was paid in eur' },
  ...{ resolved_at: null, resolution: null, credited_by: null },
};
const resolved = { ...parked, resolved_at: at, resolution: 'it was theirs' };

/** Says what is known of a payment. Nothing of it is read but what a verdict rests on. */
const verdict = (known: object, topup: object = { status: 'expired' }) =>
  verdictOn({ topup, credits: [], events: [], parked: [], ...known } as unknown as TopupHistory);

const verdicts = [
  verdict({ credits: [{ entryId: 'led_1' }] }),
  verdict({ parked: [parked] }),
  verdict({ parked: [resolved] }),
  verdict({ events: [{ id: 'evt_…', handled_at: null }] }),
  verdict({}, { status: 'processing' }),
  verdict({}, { status: 'requires_payment', session_expires_at: at }),
  verdict({}, { status: 'failed', decline_code: 'expired_card' }),
  verdict({}),
  unknownPayment('pi_1'),
];

describe('the verdict on a payment', () => {
  it('tells how a parked one was resolved, so that nobody credits it again', () => {
    assert.equal(
      verdict({ parked: [{ ...resolved, credited_by: 'op_1' }] }),
      'It was paid, and resolved by hand at 2026-11-21T09:00:00.000Z: it was theirs, credited by op_1. Don’t credit it again.',
    );
    assert.match(verdict({ parked: [resolved] }), /: it was theirs\. Don’t credit it again\.$/);
    assert.match(
      verdict({ parked: [resolved, parked] }),
      /is parked: it was paid in eur\. See ops parked\.$/,
    );
  });

  it('is in the runbook’s table by the words that are printed, and nothing else is', () => {
    const page = readFileSync('docs/operations/a-user-says-they-paid.md', 'utf8');
    const rows = [...page.matchAll(/^\| (.+?) +\|/gm)].map(([, words = '']) => words.trim());
    const listed = rows.filter((words) => words !== 'verdict' && /[^-]/.test(words));
    assert.deepEqual(
      verdicts.map((text) => listed.find((words) => text.startsWith(words)) ?? text),
      listed,
    );
  });
});
