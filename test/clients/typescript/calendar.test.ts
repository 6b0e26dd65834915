import assert from 'node:assert/strict';
import { readWritten } from '@gpu-rental/client';
import { instant } from '../../../clients/cli/src/command.js';

describe('a time that a person writes', () => {
  const zone = process.env['TZ'];
  before(() => {
    process.env['TZ'] = 'Europe/Berlin';
  });
  after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it('is read by the clock of this place, or by its offset', () => {
    assert.equal(instant('2026-11-21'), '2026-11-20T23:00:00.000Z');
    assert.equal(instant('2026-11-21T09:30'), '2026-11-21T08:30:00.000Z');
    assert.equal(instant('2026-07-21 09:30:15'), '2026-07-21T07:30:15.000Z');
    assert.equal(instant('2026-11-21T09:30:00.25-05:30'), '2026-11-21T15:00:00.250Z');
    assert.equal(instant('2024-02-29T09:30Z'), '2024-02-29T09:30:00.000Z');
  });

  for (const text of [
    ...['2026-11-31', '2026-11-31T10:00', '2026-11-31T10:00:00Z', '2026-02-29', '2026-11-30T24:00'],
    ...['2026-11-30T24:00:00Z', '2026-02-30T10:00+01:00', '2026-13-01', '2026-11', '2026', 'tomorrow', ''],
    // The clock goes from 02:00 to 03:00.
    '2026-03-29T02:30',
  ]) {
    it(`is refused as “${text}”`, () => {
      assert.equal(readWritten(text), undefined);
      assert.throws(() => instant(text), /a valid date or time/);
    });
  }
});
