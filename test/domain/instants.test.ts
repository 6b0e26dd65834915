import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readInstant } from '../../domain/instants.js';

describe('an instant that somebody writes', () => {
  it('is read when it is one', () => {
    const read = (text: string) => readInstant(text)?.toISOString();
    assert.equal(read('2026-11-30'), '2026-11-30T00:00:00.000Z');
    assert.equal(read('2024-02-29T10:00Z'), '2024-02-29T10:00:00.000Z');
    assert.equal(read('2000-02-29T23:59:59.999Z'), '2000-02-29T23:59:59.999Z');
    assert.equal(read('2026-12-31T23:30:00-01:00'), '2027-01-01T00:30:00.000Z');
    assert.equal(read('0001-01-01'), '0001-01-01T00:00:00.000Z');
  });

  for (const text of [
    ...[
      '2026-11-31T10:00:00Z',
      '2026-11-31',
      '2026-02-29',
      '2026-02-30T00:00:00Z',
      '2100-02-29',
      '2026-04-31',
    ],
    ...['2026-11-30T24:00:00Z', '2026-11-30T24:00Z', '2026-11-30T10:60:00Z', '2026-11-30T10:00:60Z'],
    ...['2026-00-10', '2026-13-01', '2026-01-00', '2026-01-32'],
    ...[
      '2026-11-30T10:00:00',
      '2026-11-30T10:00:00+24:00',
      '2026-11-30T10:00:00+01:60',
      '2026-11-30 10:00:00Z',
    ],
    ...[
      '0000-01-01',
      '10000-01-01',
      '+010000-01-01',
      '9999-12-31T23:59:59-01:00',
      '0001-01-01T00:00:00+01:00',
    ],
    ...['', 'today', '2026-11', '２０２６-11-30'],
  ]) {
    it(`is refused as “${text}”`, () => assert.equal(readInstant(text), undefined));
  }

  it('is the day that it names, or none', () => {
    const part = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, '0'));
    let days = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_999 }), part(14), part(33), (year, month, day) => {
        const text = `${String(year).padStart(4, '0')}-${month}-${day}`;
        const at = readInstant(text);
        if (at) days += 1;
        assert.ok(at === undefined || at.toISOString().startsWith(text));
      }),
      { numRuns: 2_000 },
    );
    assert.ok(days > 500, `${days} days`);
  });
});
