import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createLedgerIds } from '../../../../adapters/postgres/ledger/ledger-ids.js';
import { isId } from '../../../../domain/ids.js';
import { ledgerEntryId } from '../../../../domain/ledger/ledger-ids.js';

describe('ids of ledger entries (decision 86)', () => {
  const since = new Date(0);
  const ids = createLedgerIds(randomBytes(16), since);
  const places: [number, number][] = [
    [1, 1],
    [1, 2],
    [2, 1],
    [40_000_000, 3_000_000_000],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ];

  it('stand for wallet and number, and are the same each time', () => {
    for (const [walletId, seq] of places) {
      const id = ids.of(walletId, seq);
      assert.ok(isId('led', id), id);
      assert.equal(ids.of(walletId, seq), id);
      assert.deepEqual(ids.parse(id), { walletId, seq, isPlain: false });
    }
  });

  it('are the same one by one and together', () => {
    const together = ids.withIds(places.map(([walletId, seq]) => ({ walletId, seq }))).map(({ id }) => id);
    assert.deepEqual(
      together,
      places.map(([walletId, seq]) => ids.of(walletId, seq)),
    );
    assert.deepEqual(ids.withIds([]), []);
  });

  it('are all different, and tell nothing: neighbours share no more than chance', () => {
    const all = Array.from({ length: 2_000 }, (_, nth) => ids.of(1 + (nth % 2), 1 + Math.floor(nth / 2)));
    assert.equal(new Set(all).size, all.length);
    const shared = all.slice(1).map((id, nth) => {
      const before = all[nth]!;
      return id.split('').filter((character, at) => at > 'led_8'.length && character === before[at]).length;
    });
    // 25 characters of 32: a pair shares 0.8 of them by chance.
    assert.ok(shared.reduce((sum, count) => sum + count, 0) / shared.length < 1);
  });

  it('of release 0.1 are read as well, and told apart', () => {
    for (const [walletId, seq] of places) {
      assert.deepEqual(ids.parse(ledgerEntryId(walletId, seq)), { walletId, seq, isPlain: true });
    }
  });

  it('of another installation, and texts that are none, stand for nothing', () => {
    const others = createLedgerIds(randomBytes(16), since);
    for (const [walletId, seq] of places) assert.equal(ids.parse(others.of(walletId, seq)), undefined);
    for (const text of ['led_short', `led_${'Z'.repeat(26)}`, `led_${'G'.repeat(26)}`, 'x', '']) {
      assert.equal(ids.parse(text), undefined, text);
    }
    assert.equal(ids.parse(ids.of(1, 1).replace('led_', 'inv_')), undefined);
  });
});
