import assert from 'node:assert/strict';
import type { LedgerEntry } from '@gpu-rental/client';
import { spanOf } from '../../clients/dashboard/src/pages/ledger/span.js';
import { betweenOf, daysOf, readLedgerSearch } from '../../clients/dashboard/src/pages/ledger/search.js';
import { joinEntries, joinHeads } from '../../clients/dashboard/src/data/ledger-join.js';

const entries = (...seqs: number[]): LedgerEntry[] =>
  seqs.map((seq) => ({
    ...{ id: `led_${seq}`, type: 'rental_charge', amountCents: -1, balanceAfterCents: seq },
    createdAt: '2026-11-01T00:00:00.000Z',
  }));
const idsOf = (list: readonly LedgerEntry[] | undefined) => list?.map(({ id }) => id.slice(4)).join(' ');

describe('the parts of the ledger page', () => {
  it('puts new entries before known ones, and says where some are missing', () => {
    const known = { newestSeq: 3, balanceCents: 3, entries: entries(3, 2, 1) };
    const news = { newestSeq: 5, balanceCents: 5, entries: entries(5, 4, 3) };
    const joined = joinHeads(known, news);
    assert.equal(idsOf(joined?.entries), '5 4 3 2 1');
    assert.deepEqual([joined?.newestSeq, joined?.balanceCents], [5, 5]);
    assert.equal(idsOf(joinHeads(known, known)?.entries), '3 2 1');
    assert.equal(joinHeads(known, { newestSeq: 9, balanceCents: 9, entries: entries(9, 8) }), undefined);
    assert.equal(joinHeads(news, known), undefined, 'the service knows less than it did');
  });

  it('keeps no more of the newest entries than are needed', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => 1_000 - index);
    const known = { newestSeq: 1_000, balanceCents: 0, entries: entries(...many) };
    const joined = joinHeads(known, { newestSeq: 1_001, balanceCents: 0, entries: entries(1_001) });
    assert.equal(joined?.entries.length, 1_000);
  });

  it('joins entries of a filter where they meet', () => {
    assert.equal(idsOf(joinEntries(entries(9, 7), entries(7, 4, 1))), '9 7 4 1');
    assert.equal(joinEntries(entries(9, 8), entries(7, 4)), undefined);
    assert.equal(joinEntries(entries(9), []), undefined);
  });

  it('cuts a list that is longer than a browser can show, and says where it goes on', () => {
    assert.deepEqual(spanOf(10, 1, 4), { newest: 10, count: 4, isWhole: false, olderThan: 7 });
    assert.deepEqual(spanOf(10, 7, 4), { newest: 10, count: 4, isWhole: true, olderThan: undefined });
    assert.equal(spanOf(6, 7).count, 0);
    assert.equal(spanOf(undefined, 1).count, 0);
  });

  it('reads an address, and leaves out what is none of it', () => {
    const right = {
      ...{ type: 'refund', rental: 'rent_1', from: '2026-11-01', to: '2026-12-01T00:00:00.000Z' },
      ...{ before: 9, entry: 'led_1' },
    };
    assert.deepEqual(readLedgerSearch(right), right);
    const wrong = { type: 'constructor', rental: 'x', from: '2026-02-30', to: 5, before: -1, entry: 'led_<' };
    assert.deepEqual(readLedgerSearch(wrong), {});
  });

  it('takes days by the calendar of the zone, with the last one included', () => {
    const days = { from: '2026-03-29', to: '2026-03-29' };
    const instants = { from: '2026-03-28T23:00:00.000Z', to: '2026-03-29T22:00:00.000Z' };
    assert.deepEqual(betweenOf(days, 'Europe/Berlin'), instants);
    assert.deepEqual(betweenOf(instants, 'Asia/Tokyo'), instants);
    assert.deepEqual(daysOf(instants, 'Europe/Berlin'), days);
    assert.deepEqual(betweenOf({ from: '2026-03-02', to: '2026-03-01' }, 'UTC'), {
      from: '2026-03-02T00:00:00.000Z',
    });
  });
});
