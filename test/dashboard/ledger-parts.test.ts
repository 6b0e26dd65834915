import assert from 'node:assert/strict';
import type { LedgerEntry, Rental, Spending } from '@gpu-rental/client';
import { rentalLabels } from '../../clients/dashboard/src/pages/ledger/rental-labels.js';
import { chartOf } from '../../clients/dashboard/src/pages/ledger/spending-chart-data.js';
import { spendingSpan } from '../../clients/dashboard/src/pages/ledger/spending-span.js';
import { spanOf } from '../../clients/dashboard/src/pages/ledger/span.js';
import {
  betweenOf,
  daysOf,
  entriesSearch,
  isOfEntries,
} from '../../clients/dashboard/src/pages/ledger/filter.js';
import { readLedgerSearch } from '../../clients/dashboard/src/pages/ledger/search.js';
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
      ...{ before: 9, entry: 'led_1', view: 'entries', until: '2026-11-30' },
    };
    assert.deepEqual(readLedgerSearch(right), right);
    const wrong = { type: 'constructor', rental: 'x', from: '2026-02-30', to: 5, before: -1, entry: 'led_<' };
    assert.deepEqual(readLedgerSearch({ ...wrong, view: 'days', until: '2026-11-31', days: 8 }), {});
    assert.deepEqual(readLedgerSearch({ days: 7, until: undefined }), { days: 7 });
    assert.deepEqual(readLedgerSearch({ days: 30 }), {});
  });

  it('shows entries where an address has a filter of them, or says so', () => {
    const both: Parameters<typeof isOfEntries>[0][] = [{}, { until: '2026-11-30', days: 7 }];
    assert.deepEqual(both.map(isOfEntries), [false, false]);
    assert.deepEqual(both.map(entriesSearch), [{ view: 'entries' }, { view: 'entries' }]);
    const filtered = { view: 'entries', rental: 'rent_1' } as const;
    assert.deepEqual(entriesSearch(filtered), { rental: 'rent_1' });
    assert.deepEqual([entriesSearch(filtered), { entry: 'led_1' }].map(isOfEntries), [true, true]);
  });

  it('steps through days by thirty, or by seven, up to today', () => {
    const nowMs = Date.parse('2026-11-18T14:05:09Z');
    const now = spendingSpan(undefined, nowMs);
    assert.deepEqual(now, {
      ...{ from: '2026-10-20T00:00:00.000Z', to: '2026-11-19T00:00:00.000Z', earlier: '2026-10-19' },
      ...{ later: undefined, endsToday: true },
    });
    assert.deepEqual(spendingSpan('2027-01-01', nowMs), now);
    const before = spendingSpan(now.earlier, nowMs);
    assert.deepEqual([before.to, before.later, before.endsToday], [now.from, undefined, false]);
    assert.equal(spendingSpan(before.earlier, nowMs).later, now.earlier);
    assert.deepEqual(spendingSpan(undefined, nowMs, 7), {
      ...{ from: '2026-11-12T00:00:00.000Z', to: '2026-11-19T00:00:00.000Z', earlier: '2026-11-11' },
      ...{ later: undefined, endsToday: true },
    });
  });

  it('stacks five kinds of machines a day, and all others together', () => {
    const rental = (family: string, chargedCents: number): Spending['days'][number]['rentals'][number] => ({
      ...{ rentalId: `rent_${family}${chargedCents}`, name: null, family, gpuCount: 1 },
      ...{ entries: 1, chargedCents, refundedCents: 0 },
    });
    const families = ['a', 'b', 'c', 'd', 'e', 'f'].map((family, place) => rental(family, 60 - place * 10));
    const day = {
      ...{ from: '2026-11-02T00:00:00.000Z', entries: 9, chargedCents: 223, refundedCents: 0 },
      ...{ amountCents: 777, rentals: [...families, rental('b', 6)] },
      otherRentals: { rentals: 2, entries: 2, chargedCents: 7, refundedCents: 0 },
    };
    const span = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-04T00:00:00.000Z' };
    const spending = { days: [day], openingBalanceCents: 1_000 };
    const chart = chartOf(spending, span, ({ family }) => family);
    const machines = [60, 56, 40, 30, 20].map((cents, place) => ({ name: 'abcde'.charAt(place), cents }));
    assert.deepEqual(chart.machines, machines);
    assert.equal(chart.otherCents, 17);
    assert.deepEqual(
      chart.days.map(({ from, cents, balanceCents }) => [from.slice(0, 10), cents, balanceCents]),
      [
        ['2026-11-01', 0, 1_000],
        ['2026-11-02', 223, 1_777],
        ['2026-11-03', 0, 1_777],
      ],
    );
    assert.deepEqual(chart.days[1]?.parts, [
      ...machines.map(({ cents }, machine) => ({ machine, cents })),
      { machine: undefined, cents: 17 },
    ]);
  });

  it('calls rentals by their names, and namesakes also by when they began', () => {
    const rental = (id: string, name: string | null, startedAt: string): Rental =>
      ({ id, name, startedAt, gpuCount: 8, family: 'h100-80gb' }) as Rental;
    const labels = rentalLabels([
      rental('rent_1', 'train', '2026-11-01T09:00:00Z'),
      rental('rent_2', null, '2026-11-01T09:00:00Z'),
      rental('rent_3', 'train', '2026-11-02T09:00:00Z'),
    ]);
    assert.equal(labels.get('rent_2'), '8 × H100 80 GB');
    assert.match(labels.get('rent_1') ?? '', /^train · Nov 1, 2026/);
    assert.match(labels.get('rent_3') ?? '', /^train · Nov 2, 2026/);
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
