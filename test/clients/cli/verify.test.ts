import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import {
  hex,
  Ledger,
  Nights,
  sha,
  someMonths,
  writeProof,
  writeSeal,
  zeros,
  type Entry,
  type SealParts,
} from '../../support/proof/honest-file.js';
import { Verifier } from './support/verifier.js';

const { done, disproved, fault, usage } = exitCodes;

describe('gpu verify, of one file', () => {
  const ann = new Verifier();

  it('says what a good file holds, and by which root it is known', async () => {
    const ledger = someMonths();
    const root = ledger.root(new Nights(17));
    const file = ann.write('proof-2026-10.txt', ledger.file('2026-10', root));
    const { code, out, err } = await ann.verify([file, '--root', root.hash]);
    assert.equal(code, done, err);
    const first = ledger.parts.find(({ last }) => last >= 59)!.first;
    const told = out.replaceAll(/ +/g, ' ');
    assert.match(told, /^\S+proof-2026-10\.txt: good\. You know its root\.\nMonth 2026-10, in UTC\n/);
    assert.match(told, new RegExp(`\\nHolds ${121 - first} entries \\(${first} to 120\\) in \\d seals\\n`));
    assert.match(
      told,
      /\nFrom 2026-09-\d\d 00:00:00 UTC\nTo 2026-11-30 00:00:00 UTC\nBalance \$\d+\.\d\d at/,
    );
    assert.ok(told.includes(`\nRoot 17, of the night 2030-01-18\nIts hash ${root.hash}\n`), told);
    assert.equal((await ann.verify([file, '--root', root.hash.toUpperCase()])).out, out);
  });

  it('says clearly that nothing independent was compared, where it knows no root', async () => {
    const ledger = someMonths();
    const file = ann.write('unknown.txt', ledger.file('2026-10', ledger.root(new Nights(17))));
    for (const args of [[file], [file, '--root', hex(64)]]) {
      const { code, out } = await ann.verify(args);
      assert.equal(code, done);
      assert.match(out, /unknown\.txt: consistent, but nothing independent to compare with\.\n/);
      assert.doesNotMatch(out, /good/);
    }
  });

  const entry = fc.record({
    gap: fc.integer({ min: -90_000_000, max: 900_000_000 }),
    isCharge: fc.boolean(),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    rental: fc.integer({ min: 0, max: 4 }),
    type: fc.constantFrom('processor_topup', 'auto_topup', 'refund', 'adjustment'),
    ids: fc.array(fc.constantFrom('-', 'ch_1', 'rent_x', '~!', 'a:b'), { minLength: 3, maxLength: 3 }),
    hasNote: fc.boolean(),
    most: fc.constantFrom(9_999, 3_000_000_000_000),
  });

  it('finds any honest file consistent, and good where its root is known', async () => {
    const ledgers = fc.record({
      drawn: fc.array(entry, { maxLength: 60 }),
      sizes: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
      month: fc.integer({ min: 0, max: 23 }),
      startsAt: fc.constantFrom(1, 2, 400),
      epochEvery: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(ledgers, async ({ drawn, sizes, month, startsAt, epochEvery }) => {
        let ms = Date.UTC(2026, 2, 1);
        let cents = 0;
        const entries = drawn.map(({ gap, isCharge, share, rental, type, ids, hasNote, most }): Entry => {
          ms += gap;
          const amount = Math.trunc(isCharge ? -cents * share : most * share);
          cents += amount;
          if (isCharge) return { ms, cents: amount, rental: `rent_${rental}` };
          const note = hasNote ? sha(type) : '-';
          return { ms, cents: amount, kept: `${type} ${ids.join(' ')} ${note}` };
        });
        const ledger = Ledger.of(entries, sizes, (seal) => 1 + Math.floor(seal / epochEvery));
        const root = ledger.root(new Nights(startsAt, 60));
        const name = new Date(Date.UTC(2026, month)).toISOString().slice(0, 7);
        const text = ledger.file(name, root);
        const unknown = await ann.judge(text);
        assert.deepEqual([unknown.verdict, unknown.finding, unknown.code], ['consistent', null, done]);
        const known = await ann.judge(text, '--root', root.hash);
        assert.equal(known.verdict, 'good');
        assert.equal(known.closingBalanceCents, cents);
        assert.equal(known.lastNumber, entries.length);
        assert.equal(known.entries, known.lastNumber === 0 ? 0 : known.lastNumber - known.firstNumber + 1);
        assert.equal(known.seals, text.split('\nseal ').length - 1);
      }),
      { numRuns: 150 },
    );
  });

  it('takes a month without seals, and a wallet without entries', async () => {
    const ledger = someMonths();
    const late = await ann.judge(ledger.file('2027-03', ledger.root(new Nights(5))));
    assert.deepEqual([late.verdict, late.seals], ['consistent', 1]);
    const empty = Ledger.of([], [1]);
    const root = empty.root(new Nights());
    const told = await ann.judge(empty.file('2026-10', root), '--root', root.hash);
    assert.deepEqual([told.verdict, told.entries, told.from], ['good', 0, null]);
    assert.match((await ann.verify([join(ann.home, 'proof.txt')])).out, /Holds +no entries\n/);
  });

  it('finds each change of a character or a field, wherever it is', async () => {
    const ledger = someMonths();
    const nights = new Nights(17);
    ledger.root(nights);
    nights.changeKey();
    const root = ledger.root(nights);
    const honest = ledger.file('2026-10', root);
    const kept = ann.write('kept-roots', root.lines);
    assert.equal((await ann.judge(honest, '--roots', kept)).verdict, 'good');
    const lines = honest.split('\n').slice(0, -1);
    const finds = async (changed: string, what: string): Promise<void> => {
      // The month is a label, which no hash covers.
      if (changed.replace(/^(proof 1 \S+) \d{4}-(?:0[1-9]|1[0-2])\n/, '$1 2026-10\n') === honest) return;
      const { verdict, code, finding } = await ann.judge(changed, '--roots', kept);
      assert.ok(!['good', 'consistent'].includes(verdict), `${verdict}: ${what}`);
      assert.equal(code, disproved);
      assert.ok(finding !== null && finding.message.length > 20, what);
    };
    // Each line is as likely as any other, however long.
    const places = fc.record({
      line: fc.nat({ max: lines.length - 1 }),
      at: fc.double({ min: 0, max: 0.9999, noNaN: true }),
      sign: fc.constantFrom(...Array.from('0123456789abcdefX-+. \t\r\n'), '', '\u00e9', 'A', '00'),
    });
    await fc.assert(
      fc.asyncProperty(places, async ({ line, at, sign }) => {
        const text = lines[line]!;
        const place = Math.floor(at * text.length);
        const changed = lines.with(line, text.slice(0, place) + sign + text.slice(place + 1));
        await finds(`${changed.join('\n')}\n`, `line ${line + 1}, ${place}: ${JSON.stringify(sign)}`);
      }),
      { numRuns: 300 },
    );
    for (const [line, text] of lines.entries()) {
      const fields = text.split(' ');
      for (const index of new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, fields.length - 1])) {
        const field = fields[index];
        if (field === undefined) continue;
        for (const other of ['-', String(Number(field) + 1), fields[index - 1] ?? '', `${field} ${field}`]) {
          const changed = lines.with(line, fields.with(index, other).join(' '));
          await finds(`${changed.join('\n')}\n`, `line ${line + 1}, field ${index}: ${other}`);
        }
      }
      await finds(`${lines.toSpliced(line, 1).join('\n')}\n`, `without line ${line + 1}`);
      await finds(`${lines.toSpliced(line, 0, text).join('\n')}\n`, `twice line ${line + 1}`);
    }
  });

  describe('whose hashes are made to fit a lie', () => {
    const honest = someMonths();
    /** What is judged, and what is said of it; the seal and the entry that are named. */
    const lies: readonly (readonly [string, Ledger, RegExp, number?, number?])[] = [
      ['a gap of numbers', renumbered(3), /should begin with entry 19\./, 3],
      [
        'an epoch that falls',
        honest.changed(2, (seal) => (seal.epoch = 2)),
        /lower epoch than seal 18-18/,
        3,
      ],
      [
        'another seal before',
        honest.changed(3, (seal) => (seal.hashBefore = hex(64))),
        /does not hold the/,
        3,
      ],
      ['a balance that jumps', honest.changed(3, (seal) => (seal.centsBefore += 1)), /begins with \$\d+/, 3],
      [
        'a changed amount',
        honest.changed(3, (seal) => (seal.amounts[4]! -= 1)),
        /begins with \$.*ends with/,
        4,
      ],
      ['a negative balance', honest.changed(3, (s) => (s.amounts[4] = -99_999_99)), /would be -\$/, 3, 23],
      [
        'a balance without end',
        honest.changed(3, (s) => (s.amounts[4] = 2 ** 53 - 1)),
        /greater than/,
        3,
        23,
      ],
      ['an instant without a calendar', honest.changed(3, (s) => (s.gaps[2] = -1e15)), /calendar/, 3, 21],
      ['another wallet', honest.changed(3, (seal) => (seal.wallet = hex(32))), /names another wallet/, 3],
      [
        'a seal before the first',
        honest.changed(0, (s) => (s.hashBefore = hex(64))),
        /names a seal before it/,
        0,
      ],
      [
        'money before the first',
        honest.changed(0, (s) => (s.centsBefore = 5)),
        /begins with \$0\.05, though/,
        0,
      ],
    ];
    for (const [name, ledger, words, seal, entry] of lies) {
      it(`says ${name}`, async () => {
        const text = writeProof(ledger.wallet, '2026-08', ledger.seals, ledger.root(new Nights(9, 2)));
        const { verdict, finding, code } = await ann.judge(text);
        assert.deepEqual([verdict, code], ['broken', disproved]);
        assert.match(finding!.message, words);
        const { first, last } = ledger.parts[seal!]!;
        assert.deepEqual(finding!.seal, { first, last });
        assert.equal(finding!.entry, entry);
        assert.ok(finding!.message.startsWith(`Seal ${first}-${last} `), finding!.message);
      });
    }

    /** The same seals, from one on with numbers that are one higher. */
    function renumbered(from: number): Ledger {
      const parts = structuredClone(honest.parts) as SealParts[];
      for (const seal of parts.slice(from)) {
        Object.assign(seal, { first: seal.first + 1, last: seal.last + 1 });
        seal.kept = seal.kept.map((line) => line.replace(/\d+/, (number) => String(Number(number) + 1)));
      }
      return new Ledger(honest.wallet, parts);
    }

    it('says which month a file does not begin with', async () => {
      const root = honest.root(new Nights(9));
      const begins = (seal: number): string =>
        writeProof(honest.wallet, '2026-10', honest.seals.slice(seal), root);
      const right = honest.parts.findIndex(({ first, last }) => first <= 59 && last >= 59);
      assert.equal((await ann.judge(begins(right))).verdict, 'consistent');
      assert.equal((await ann.judge(begins(right - 1))).verdict, 'consistent', 'it may begin earlier');
      assert.match((await ann.judge(begins(right + 1))).finding!.message, /the file begins too late/);
    });

    it('says a seal without a hash before it, and a root older than its seal', async () => {
      const parts = { ...honest.parts.at(-1)!, hashBefore: zeros };
      const seal = writeSeal(parts, zeros);
      const root = new Nights(9).next(honest.wallet, parts.last, seal.hash);
      const { finding } = await ann.judge(writeProof(honest.wallet, '2027-01', [seal], root));
      assert.match(finding!.message, /names no seal before it/);
      const later = honest.changed(honest.parts.length - 1, (each) => (each.epoch = 3));
      const told = await ann.judge(later.file('2026-10', later.root(new Nights(9, 2))));
      assert.match(told.finding!.message, /Root 9 has a lower epoch than seal \d+-120\./);
    });

    it('says a path that leads elsewhere, a signature of another key, and a root that names none before it', async () => {
      const nights = new Nights(9);
      const root = honest.root(nights);
      const cut = honest.file('2026-10', root, honest.seals.length - 1);
      assert.match((await ann.judge(cut)).finding!.message, /^The path does not lead from seal \d+-\d+ to/);
      const [line = ''] = root.lines.split('\n');
      const [, signed = ''] = honest.root(new Nights(9)).lines.split('\n');
      const forged = honest.file('2026-10', { ...root, lines: `${line}\n${signed}\n` });
      assert.match((await ann.judge(forged)).finding!.message, /^Root 9 does not have the signature/);
      const none = new Nights(9).next(hex(32), 0, zeros);
      const unsold = writeProof(honest.wallet, '2026-10', [], none);
      assert.match((await ann.judge(unsold)).finding!.message, /that you have no entries to the tree/);
    });

    it('counts what else it found', async () => {
      const twice = new Ledger(
        honest.wallet,
        honest.parts.map((seal) => ({ ...seal, wallet: hex(32) })),
      );
      const text = writeProof(honest.wallet, '2026-08', twice.seals, twice.root(new Nights(9)));
      const { findings } = await ann.judge(text);
      assert.equal(findings, twice.seals.length);
      const { code, out, err } = await ann.verify([join(ann.home, 'proof.txt')]);
      assert.equal(code, disproved);
      assert.match(
        out,
        new RegExp(`proof\\.txt: broken\\.\\nSeal 1-7 .* And ${findings - 1} more findings\\.`),
      );
      assert.match(err, /proof\.txt is broken\.\nDownload the file again/);
    });
  });

  it('needs no network, no sign-in, no settings and no home', async () => {
    const ledger = someMonths();
    const text = ledger.file('2026-10', ledger.root(new Nights(3)));
    const bob = new Verifier();
    const file = bob.write('proof.txt', text);
    mkdirSync(join(bob.home, '.config/gpu-rental'), { recursive: true });
    writeFileSync(join(bob.home, '.config/gpu-rental/profiles.json'), '{"a":');
    const env = { GPU_API_URL: '' };
    assert.equal((await bob.verify([file], { env })).code, done);
    const nobody = Object.assign(new Verifier(), { home: '' });
    assert.equal((await nobody.verify([file], { env })).code, done);
    const keeping = await nobody.verify([file, '--keep'], { env });
    assert.equal(keeping.code, usage);
    assert.match(keeping.err, /no home folder/);
  });

  it('refuses what is no hash, names a file that is not there, and can be cancelled', async () => {
    assert.equal((await ann.verify(['x', '--root', 'abc'])).code, usage);
    assert.equal((await ann.verify([])).code, usage);
    const missing = await ann.verify([join(ann.home, 'missing.txt')]);
    assert.equal(missing.code, fault);
    assert.match(missing.err.replaceAll('\n', ' '), /missing\.txt can't be used: it does not exist/);
    const ledger = someMonths();
    const file = ann.write('proof.txt', ledger.file('2026-10', ledger.root(new Nights())));
    assert.equal((await ann.verify([file], { signal: AbortSignal.abort() })).code, exitCodes.givenUp);
  });

  it('reads a file of a million entries in little memory', function () {
    this.timeout(120_000);
    const file = join(ann.home, 'million.txt');
    writeMany(file, 1_000);
    const args = ['--max-old-space-size=150', 'clients/cli/bin/gpu.mjs', 'verify', file, '--json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      env: { PATH: process.env['PATH'], HOME: ann.home },
      encoding: 'utf8',
    });
    assert.equal(status, done, stderr);
    const { files } = JSON.parse(stdout) as { files: { verdict: string; entries: number }[] };
    assert.deepEqual([files[0]!.verdict, files[0]!.entries], ['consistent', 1_000_000]);
  });
});

/** Writes a file of many full seals. */
function writeMany(file: string, seals: number): void {
  const wallet = hex(32);
  const handle = openSync(file, 'w');
  writeSync(handle, `proof 1 ${wallet} 2026-10\n`);
  const begin = Date.UTC(2026, 9, 1);
  let before = zeros;
  const amounts = Array.from({ length: 1_000 }, (_, index) => (index === 0 ? 99_900 : -100));
  for (let index = 0; index < seals; index += 1) {
    const first = index * 1_000 + 1;
    const parts: SealParts = {
      ...{ wallet, epoch: 1, first, last: first + 999, centsBefore: 0, hashBefore: undefined },
      instant: begin + index * 1_000_000,
      gaps: amounts.map((_, place) => (place === 0 ? 0 : 1_000)),
      amounts,
      rentals: Array.from({ length: 20 }, (_, rental) => `rent_${String(rental).padStart(26, '0')}`),
      places: amounts.map((_, place) => (place === 0 ? 0 : (place % 20) + 1)),
      kept: [`kept ${first} processor_topup - ch_${first} top_${first} -`],
    };
    const seal = writeSeal(parts, before);
    writeSync(handle, seal.text);
    before = seal.hash;
  }
  const root = new Nights(40).next(wallet, seals * 1_000, before);
  writeSync(handle, `${root.lines}path ${root.path.join(' ')}\n`);
  closeSync(handle);
}
