import assert from 'node:assert/strict';
import { isMonth } from '../../clients/dashboard/src/format/days.js';
import {
  dayEnd,
  dayOf,
  dayStart,
  monthAfter,
  monthOf,
  monthRange,
  monthsBetween,
} from '../../clients/dashboard/src/format/months.js';

describe('the months of the dashboard', () => {
  const ranges: readonly (readonly [
    string,
    '2026-03' | '2026-10' | '2025-12' | '2024-02',
    string,
    string,
  ])[] = [
    ['UTC', '2025-12', '2025-12-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    ['UTC', '2024-02', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    // Summer begins and ends within the month.
    ['Europe/Berlin', '2026-03', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z'],
    ['Europe/Berlin', '2026-10', '2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z'],
    ['America/New_York', '2025-12', '2025-12-01T05:00:00.000Z', '2026-01-01T05:00:00.000Z'],
    ['Asia/Kathmandu', '2025-12', '2025-11-30T18:15:00.000Z', '2025-12-31T18:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-03', '2026-02-28T10:00:00.000Z', '2026-03-31T10:00:00.000Z'],
  ];
  for (const [zone, month, from, to] of ranges) {
    it(`begins and ends ${month} at the instants of ${zone}`, () => {
      assert.deepEqual(monthRange(month, zone), { from, to });
    });
  }

  it('leaves no instant out between two months, and has none in both, in any zone', () => {
    for (const zone of ['Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Africa/Cairo', 'UTC']) {
      for (const month of monthsBetween('2015-01', '2027-12')) {
        const { from, to } = monthRange(month, zone);
        assert.equal(monthRange(monthAfter(month), zone).from, to);
        assert.equal(monthOf(from, zone), month, zone);
        assert.equal(
          monthOf(new Date(Date.parse(from) - 1).toISOString(), zone),
          monthAfter(month, -1),
          zone,
        );
      }
    }
  });

  it('begins a day where its midnight is left out, and where it comes twice', () => {
    // Clocks went from 23:59:59 to 01:00.
    assert.equal(dayStart('2018-11-04', 'America/Sao_Paulo'), '2018-11-04T03:00:00.000Z');
    // They went from 23:59:59 back to 23:00 of the same day, and midnight came after that.
    assert.equal(dayStart('2019-02-17', 'America/Sao_Paulo'), '2019-02-17T03:00:00.000Z');
    assert.equal(dayEnd('2018-11-03', 'America/Sao_Paulo'), '2018-11-04T03:00:00.000Z');
    // The hour from 00:00 came twice: the day began with the first one.
    assert.equal(dayStart('2025-11-02', 'America/Havana'), '2025-11-02T04:00:00.000Z');
  });

  it('knows the day of an instant by the zone', () => {
    assert.equal(dayOf('2025-12-31T23:30:00Z', 'Europe/Berlin'), '2026-01-01');
    assert.equal(dayOf('2026-01-01T00:30:00Z', 'America/New_York'), '2025-12-31');
  });

  it('counts months over the ends of years', () => {
    assert.deepEqual(monthsBetween('2025-11', '2026-02'), ['2026-02', '2026-01', '2025-12', '2025-11']);
    assert.deepEqual(monthsBetween('2026-02', '2026-02'), ['2026-02']);
    assert.equal(monthAfter('2025-12'), '2026-01');
    assert.equal(monthAfter('2026-01', -1), '2025-12');
  });

  it('takes nothing for a day or a month that is none', () => {
    for (const day of ['2026-02-30', '2026-13-01', '26-01-01', 'today', '']) {
      assert.equal(dayStart(day, 'UTC'), undefined, day);
    }
    for (const month of ['2026-00', '2026-13', '2026', 202_611]) assert.equal(isMonth(month), false);
    assert.equal(isMonth('2026-12'), true);
  });
});
