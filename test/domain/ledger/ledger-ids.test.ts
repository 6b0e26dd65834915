import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isId } from '../../../domain/ids.js';
import { ledgerEntryId, ledgerIdBits, entryKeyOf } from '../../../domain/ledger/ledger-ids.js';

/** Parses a plain id. */
function parse(text: string): unknown {
  const bits = ledgerIdBits(text);
  return bits === undefined ? undefined : entryKeyOf(bits);
}

describe('ledgerEntryId', () => {
  const number = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

  it('is an id like any other and stands for one wallet and one number', () => {
    fc.assert(
      fc.property(number, number, (walletId, seq) => {
        const id = ledgerEntryId(walletId, seq);
        assert.ok(isId('led', id));
        assert.deepEqual(parse(id), { walletId, seq });
      }),
    );
  });

  it('sorts as the entries of a wallet do', () => {
    fc.assert(
      fc.property(number, number, number, (walletId, a, b) => {
        assert.equal(ledgerEntryId(walletId, a) < ledgerEntryId(walletId, b), a < b);
      }),
    );
  });

  it('reads no other text', () => {
    assert.equal(parse('led_short'), undefined);
    assert.equal(parse(`led_${'Z'.repeat(26)}`), undefined);
    assert.equal(parse(ledgerEntryId(1, 1).replace('led_', 'inv_')), undefined);
  });
});
