import assert from 'node:assert/strict';
import fc from 'fast-check';
import { centsOf, usd } from '../../../clients/cli/src/output/money.js';
import { table, type Column } from '../../../clients/cli/src/output/table.js';
import { cut, plain, widthOf, wrap } from '../../../clients/cli/src/output/text.js';
import { duration, secondsOf } from '../../../clients/cli/src/output/time.js';

describe('the words of gpu', () => {
  it('writes money as people do, and reads it', () => {
    assert.deepEqual([0, 5, 123, -5, 123_456, 100_000_000].map(usd), [
      '$0.00',
      '$0.05',
      '$1.23',
      '-$0.05',
      '$1,234.56',
      '$1,000,000.00',
    ]);
    assert.deepEqual(
      ['20', '$20', '12.5', '12.50', '1,250.05', ' 3 '].map(centsOf),
      [2000, 2000, 1250, 1250, 125_005, 300],
    );
    for (const wrong of ['', '0', '-5', '1.234', '1,2', 'ten', '1e3', '12.', '99999999999']) {
      assert.equal(centsOf(wrong), undefined, wrong);
    }
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999_999_999 }), (cents) => centsOf(usd(cents)) === cents),
    );
  });

  it('writes lengths of time in their two largest units, and reads them', () => {
    const told = [0, 59.9, 60, 65, 3_600, 7_500, 86_399, 86_400, 90_000, 700_000].map(duration);
    assert.deepEqual(told, [
      ...[
        '0 s',
        '59 s',
        '1 min',
        '1 min 5 s',
        '1 h',
        '2 h 5 min',
        '23 h 59 min',
        '1 day',
        '1 day 1 h',
        '8 days',
      ],
    ]);
    assert.deepEqual(['90m', '2h', '1h30m', '3 d', '2', '1.5', '45 min', '30s'].map(secondsOf), [
      ...[5_400, 7_200, 5_400, 259_200, 7_200, 5_400, 2_700, 30],
    ]);
    for (const wrong of ['', '0', '-1h', 'soon', '2 weeks', 'h'])
      assert.equal(secondsOf(wrong), undefined, wrong);
  });

  it('takes out of foreign texts what could move the cursor', () => {
    assert.equal(plain('a\u001b[2Jb\u0007c\nd\u202ee\u009b1m'), 'abcde1m');
  });

  it('cuts and wraps by the columns that a text takes, not by its letters', () => {
    assert.equal(cut('日本語のなまえ', 7), '日本語…');
    assert.equal(cut('training', 8), 'training');
    assert.deepEqual(wrap('one two three', 7), ['one two', 'three']);
    assert.deepEqual(wrap('averylongword is', 5), ['averylongword', 'is']);
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 40 }), (text, width) => {
        const told = plain(text);
        return widthOf(cut(told, width)) <= width;
      }),
    );
  });

  describe('tables', () => {
    interface Row {
      readonly name: string;
      readonly cost: string;
      readonly region: string;
    }
    const columns: Column<Row>[] = [
      { title: 'NAME', value: ({ name }) => name, shrinksTo: 6 },
      { title: 'COST', value: ({ cost }) => cost, align: 'right' },
      { title: 'REGION', value: ({ region }) => region, dropAs: 1 },
    ];
    const rows = [
      { name: 'training-of-a-model', cost: '$1.00', region: 'Dallas, TX' },
      { name: 'x', cost: '$12.00', region: 'Paris' },
    ];

    it('align their columns', () => {
      assert.deepEqual(table(columns, rows, 80), [
        'NAME                   COST  REGION',
        'training-of-a-model   $1.00  Dallas, TX',
        'x                    $12.00  Paris',
      ]);
    });

    it('leave columns out, then cut cells, then become blocks, as the terminal narrows', () => {
      assert.deepEqual(table(columns, rows, 30)[0], 'NAME                   COST');
      assert.deepEqual(table(columns, rows, 20), [
        'NAME            COST',
        'training-of…   $1.00',
        'x             $12.00',
      ]);
      assert.deepEqual(table(columns, rows, 12).slice(0, 2), [
        'training-of-a-model'.slice(0, 19),
        '  COST    $1.00',
      ]);
    });

    /** No word is wider than a line: an id stays whole, so that it can be copied. */
    const words = fc
      .array(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 12 })
      .map((some) => some.join(' '));

    it('are never wider than the terminal, whatever they hold', () => {
      fc.assert(
        fc.property(
          fc.array(fc.record({ name: words, cost: words, region: words }), { minLength: 1 }),
          fc.integer({ min: 40, max: 200 }),
          (some, width) => table(columns, some, width).every((line) => widthOf(line) <= width),
        ),
      );
    });
  });
});
