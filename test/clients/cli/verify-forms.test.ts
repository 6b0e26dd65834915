import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { Nights, someMonths, zeros } from '../../support/proof/honest-file.js';
import { Verifier } from './support/verifier.js';

const { disproved } = exitCodes;

describe('gpu verify, of a file of another form', () => {
  const ann = new Verifier();
  const ledger = someMonths(12, [6, 6]);
  const honest = ledger.file('2026-08', ledger.root(new Nights(9)));
  const lines = honest.split('\n');
  const at = (word: string): number => lines.findIndex((line) => line.startsWith(`${word} `));
  const field = (word: string, index: number, text: string): string[] => {
    const line = at(word);
    return lines.with(line, lines[line]!.split(' ').with(index, text).join(' '));
  };
  const without = (word: string): string[] => lines.toSpliced(at(word), 1);
  /** The lines, the number of the wrong one, and what is expected there. */
  const forms: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['nothing', [''], 1, /the line "proof 1 <wallet> <month>"/],
    ['another file', ['{}', ''], 1, /the line "proof/],
    ['a mark before it', lines.with(0, `\ufeff${lines[0]}`), 1, /the line "proof/],
    ['a newer version', field('proof', 1, '2'), 1, /version 1/],
    ['a field too many', lines.with(0, `${lines[0]} `), 1, /3 fields after "proof".*, not 4/],
    ['no month', field('proof', 3, '2026-13'), 1, /a month/],
    ['a wallet in capitals', field('proof', 2, 'A'.repeat(32)), 1, /a wallet of 32 digits/],
    ['no seal and no root', lines.with(1, 'x'), 2, /a line "seal …" or "root …"/],
    ['an epoch 0', field('seal', 3, '0'), 2, /an epoch: a whole number from 1 on/],
    ['numbers from 0', field('seal', 4, '0'), 2, /the first number/],
    ['a seal too long', field('seal', 5, '1001'), 2, /the last number: a whole number from 1 to 1000/],
    ['cents below 0', field('seal', 6, '-1'), 2, /the cents before/],
    ['an instant of no calendar', field('seal', 7, '8640000000000001'), 2, /an instant/],
    ['a short hash', field('seal', 8, zeros.slice(1)), 2, /the hash before: 64 digits/],
    ['a first gap', field('gaps', 1, '5'), 3, /0 as the first gap/],
    ['a gap too few', lines.with(2, lines[2]!.replace(/ \d+$/, '')), 3, /6 fields after "gaps".*, not 5/],
    ...['+5', '05', '-0', '0x5', '1e3', '5.0', '', '9007199254740993', '99999999999999999999'].map(
      (text) => ['the amount ' + text, field('amounts', 1, text), 4, /an amount: a whole number, /] as const,
    ),
    ['no rentals', field('rentals', 1, ''), 5, /"rentals" and ids/],
    ['no id', field('rentals', 1, 'rent_\u00e9'), 5, /"rentals" and ids/],
    ['a place beyond', field('places', 2, '4'), 6, /a place of the list.*from 0 to 3/],
    ['a kept line of another entry', field('kept', 1, '2'), 7, /the line "kept" of entry 1/],
    ['a kept charge', field('kept', 2, 'rental_charge'), 7, /one of processor_topup, /],
    ['a note that is told', field('kept', 6, 'hello'), 7, /the note: 64 digits/],
    ['no kept line', without('kept'), 7, /the line "kept <number>/],
    ['a kept line too many', lines.toSpliced(7, 0, lines[6]!), 8, /the line "hash <hash>"/],
    ['no hash', without('hash'), 8, /the line "hash/],
    ['no number', field('root', 2, '0'), at('root') + 1, /the number of a root/],
    ['no night', field('root', 4, '2026-02-30'), at('root') + 1, /a night such as/],
    ['a short signature', field('signature', 1, 'ab'), at('root') + 2, /a signature of 128 digits/],
    ['no signature', without('signature'), at('root') + 2, /the line "signature <signature>"/],
    ['a short path', lines.with(-2, lines.at(-2)!.slice(0, -65)), at('path') + 1, /64 fields .* not 63/],
    ['no path', without('path'), at('path') + 1, /the line "path <hash> …"/],
    ['a hash of no path', field('path', 9, '-'), at('path') + 1, /hash 9 of the path/],
    ['a second root', [...lines.slice(0, -1), lines[at('root')]!, ''], lines.length, /the end of the file/],
    ['no last line feed', lines.slice(0, -1), lines.length - 1, /a line feed at the end/],
    ['carriage returns', lines.map((line) => (line === '' ? line : `${line}\r`)), 1, /a month/],
    ['a line without end', ['a'.repeat(3_000_000), ''], 1, /a line of at most 1 MiB/],
  ];
  for (const [name, changed, line, expected] of forms) {
    it(`names the line of ${name === '' ? 'nothing' : name}`, async () => {
      const { verdict, finding, code } = await ann.judge(changed.join('\n'));
      assert.deepEqual([verdict, code], ['malformed', disproved], finding?.message);
      assert.equal(finding!.line, line, finding!.message);
      assert.match(finding!.message, expected);
      assert.ok(finding!.message.startsWith(`Line ${line}: expected `));
    });
  }
});
