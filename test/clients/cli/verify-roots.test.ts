import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { hex, Nights, someMonths, zeros } from '../../support/proof/honest-file.js';
import { Verifier } from './support/verifier.js';

const { done, disproved, fault, unexplained } = exitCodes;

describe('gpu verify, by roots that were kept', () => {
  const ledger = someMonths();
  const count = ledger.seals.length;
  const month = '2030-01';
  /** Three nights; the second one is that of the file, the first of the next month. */
  const nights = new Nights(30);
  const before = ledger.root(nights, count - 1);
  const root = ledger.root(nights);
  const after = ledger.root(nights);
  const file = ledger.file(month, root);

  const roots = async (lines: string) => {
    const ann = new Verifier();
    return ann.judge(file, '--roots', ann.write('some-roots', lines));
  };

  it('knows a root that is in the list, or that the one after it in the list holds', async () => {
    assert.equal((await roots(before.lines + root.lines + after.lines)).verdict, 'good');
    assert.equal((await roots(root.lines)).verdict, 'good');
    assert.equal((await roots(after.lines)).verdict, 'good');
    assert.equal((await roots('')).verdict, 'consistent');
  });

  it('does not know a root by an earlier one: who made it may have changed what that one covers', async () => {
    assert.equal((await roots(before.lines)).verdict, 'consistent');
  });

  /** A list, and what speaks against the file then. */
  const contradictions: readonly (readonly [string, () => string, RegExp])[] = [
    [
      'another root of that night',
      () => ledger.root(new Nights(31)).lines,
      /^Root 31 is not the one you kept\.$/,
    ],
    [
      'another root of the night before',
      () => ledger.root(new Nights(30)).lines,
      /^Root 31 does not follow root 30 you kept\.$/,
    ],
    [
      'another root of the night after',
      () => ledger.root(new Nights(32)).lines,
      /^Root 32 you kept does not follow root 31\.$/,
    ],
    [
      'an earlier root of a later epoch',
      () => ledger.root(new Nights(3, 2)).lines,
      /^The epoch falls from root 3 you kept to root 31\.$/,
    ],
  ];
  for (const [name, lines, words] of contradictions) {
    it(`is contradicted by ${name}`, async () => {
      const { verdict, finding, code } = await roots(lines());
      assert.deepEqual([verdict, code], ['contradicted', disproved]);
      assert.match(finding!.message, words);
    });
  }

  it('is contradicted by a kept root though the same file’s hash is given', async () => {
    const ann = new Verifier();
    const kept = ann.write('some-roots', ledger.root(new Nights(31)).lines);
    assert.equal((await ann.judge(file, '--roots', kept, '--root', root.hash)).verdict, 'contradicted');
  });

  describe('with new keys', () => {
    const turning = new Nights(1);
    const list = Array.from({ length: 6 }, (_, index) => {
      if (index === 2 || index === 4) turning.changeKey();
      return ledger.root(turning);
    });
    const text = list.map(({ lines }) => lines).join('');
    const changing = (number: number, change: (lines: string) => string): string =>
      list.map(({ lines }, index) => (index === number - 1 ? change(lines) : lines)).join('');
    const told = async (lines: string): Promise<string> => {
      const ann = new Verifier();
      const path = ann.write('some-roots', lines);
      const { code, out, err } = await ann.verify([ann.write('proof.txt', file), '--roots', path]);
      assert.deepEqual([code, out], [disproved, '']);
      assert.ok(err.replaceAll('\n', ' ').includes(`${path} is not a sound list of roots.`), err);
      return err.replaceAll('\n', ' ');
    };
    const endorsement = list[2]!.lines.split('\n')[1]!;

    it('takes a list in which each new key is endorsed by the one before', async () => {
      const ann = new Verifier();
      const first = ledger.file('2026-10', list[0]!);
      const judged = await ann.judge(first, '--roots', ann.write('some-roots', text));
      assert.equal(judged.verdict, 'good');
    });

    it('takes a list with gaps, where nobody can tell who endorsed', async () => {
      const gaps = [0, 2, 5].map((index) => list[index]!.lines).join('');
      const ann = new Verifier();
      const kept = ann.write('some-roots', gaps);
      const judged = await ann.judge(ledger.file('2026-10', list[0]!), '--roots', kept);
      assert.equal(judged.verdict, 'good');
    });

    it('refuses a new key that nobody endorsed, or that another key endorsed', async () => {
      const dropped = changing(3, (lines) => lines.replace(/endorsed .*\n/, ''));
      assert.match(
        await told(dropped),
        /Line 5: Root 3 has a new key, which the key of root 2 before it did/,
      );
      const swapped = changing(5, (lines) => lines.replace(/endorsed .*/, endorsement));
      assert.match(await told(swapped), /Root 5 has a new key, which/);
    });

    it('refuses an endorsement where the key is the same', async () => {
      const more = changing(2, (lines) => lines.replace('\n', `\n${endorsement}\n`));
      assert.match(
        await told(more),
        /Line 3: Root 2 is endorsed, though root 1 before it has the same key\./,
      );
      const first = new Nights();
      first.changeKey();
      assert.match(await told(ledger.root(first).lines), /Root 1 is endorsed by a root before it\./);
    });

    it('refuses a signature of another root, another order, and a root that does not follow', async () => {
      const signature = list[3]!.lines.split('\n').at(-2)!;
      assert.match(
        await told(changing(2, (lines) => lines.replace(/signature .*/, signature))),
        /Line 3: Root 2 does not have the signature of its key\./,
      );
      assert.match(await told(text + list[5]!.lines), /Root 6 comes after root 6\./);
      assert.match(await told(list[1]!.lines + list[0]!.lines), /Root 1 comes after root 2\./);
      const other = ledger.root(new Nights(7)).lines;
      assert.match(await told(text + other), /Root 7 does not follow root 6 before it\./);
    });

    it('refuses a first root that names one before it, and a later one that names none', async () => {
      assert.match(
        await told(ledger.root(new Nights(1, 1, hex(64))).lines),
        /Root 1 names a root before it\./,
      );
      assert.match(await told(ledger.root(new Nights(2, 1, zeros)).lines), /Root 2 does not name the root/);
    });

    it('names the line of a list that has another form', async () => {
      assert.match(await told(`${text}x\n`), /Line 15: expected the line "root 1 <number>/);
      assert.match(await told(text.slice(0, -1)), /Line 14: expected a line feed/);
      assert.match(
        await told(list[0]!.lines.replace(/signature .*\n/, '')),
        /Line 2: expected the line "sig/,
      );
    });
  });

  it('refuses a list that is not there, unless it is to be made', async () => {
    const ann = new Verifier();
    const proof = ann.write('proof.txt', file);
    const missing = await ann.verify([proof, '--roots', join(ann.home, 'none')]);
    assert.equal(missing.code, fault);
    assert.match(missing.err.replaceAll('\n', ' '), /none can't be used: it does not exist/);
    assert.equal((await ann.verify([proof, '--roots', join(ann.home, 'none'), '--keep'])).code, done);
    assert.equal(readFileSync(join(ann.home, 'none'), 'utf8'), root.lines);
  });

  it('keeps roots in the order of their numbers, once each, and knows them from then on', async () => {
    const ann = new Verifier();
    const kept = join(ann.home, '.local/share/gpu-rental/roots');
    const late = ann.write('late.txt', ledger.file(month, after));
    const first = await ann.verify([late, '--keep']);
    assert.equal(first.code, done);
    assert.match(first.out, /consistent, but nothing/);
    assert.ok(first.out.replaceAll('\n', ' ').includes(`Kept in ${kept}.`), first.out);
    assert.equal(readFileSync(kept, 'utf8'), after.lines);
    assert.equal(statSync(kept).mode & 0o777, 0o600);
    const early = ann.write('early.txt', ledger.file('2029-12', before, count - 1));
    for (let turn = 0; turn < 2; turn += 1) {
      assert.equal((await ann.verify([early, '--keep'])).code, done);
      assert.equal(readFileSync(kept, 'utf8'), before.lines + after.lines);
    }
    assert.match((await ann.verify([late])).out, /late\.txt: good\. You know its root\.\n/);
    assert.equal((await ann.judge(file, '--keep')).verdict, 'good');
    assert.equal(readFileSync(kept, 'utf8'), before.lines + root.lines + after.lines);
  });

  describe('that are earlier than the file’s', () => {
    it('asks why, where one was made after the month too, and does not keep the later one', async () => {
      const ann = new Verifier();
      const kept = join(ann.home, '.local/share/gpu-rental/roots');
      assert.equal((await ann.verify([ann.write('first.txt', file), '--keep'])).code, done);
      const later = ann.write('later.txt', ledger.file(month, after));
      const next = ledger.root(new Nights(60));
      const february = ann.write('february.txt', ledger.file('2030-02', next));
      const { code, out, err } = await ann.verify([later, february, '--keep']);
      assert.equal(code, unexplained);
      assert.match(out, /later\.txt: unexplained\. Its root is later than it should be\./);
      assert.match(
        out.replaceAll('\n', ' '),
        /stands under root 32, of 2030-02-02\. You kept root 31, of 2030-02-01, when 2030-01 was over too\./,
      );
      assert.match(out, /february\.txt: consistent/);
      assert.match(
        err.replaceAll('\n', ' '),
        /later\.txt stands under .* kept\. Its root was not kept\.\s+Ask the/,
      );
      assert.equal(readFileSync(kept, 'utf8'), root.lines + next.lines);
    });

    it('asks why even where the later one is known, and tells of a restore', async () => {
      const text = ledger.file(month, after);
      const known = await new Verifier().judge(text, '--root', after.hash);
      assert.equal(known.verdict, 'good', 'of no earlier root is known when it was made');
      const ann = new Verifier();
      const list = ann.write('some-roots', root.lines + after.lines);
      const { verdict, findings, code } = await ann.judge(text, '--roots', list);
      assert.deepEqual([verdict, findings, code], ['unexplained', 1, unexplained]);
      const restored = ledger.file(month, ledger.root(new Nights(40, 2)));
      const { finding } = await ann.judge(restored, '--roots', ann.write('one-root', root.lines));
      assert.match(
        finding!.message,
        /between the two\. The service went on from a backup at 2020-01-01 00:02 UTC\.$/,
      );
    });

    it('asks nothing of the first file after a month', async () => {
      const ann = new Verifier();
      const list = ann.write('some-roots', before.lines + root.lines + after.lines);
      assert.equal((await ann.judge(file, '--roots', list)).verdict, 'good');
      const earlier = ledger.file('2029-12', before, count - 1);
      assert.equal((await ann.judge(earlier, '--roots', list)).verdict, 'good');
    });
  });

  it('keeps nothing of a file that is contradicted or broken', async () => {
    const ann = new Verifier();
    const kept = join(ann.home, '.local/share/gpu-rental/roots');
    const broken = ann.write('broken.txt', file.replace('amounts ', 'amounts 1'));
    const sound = ann.write('sound.txt', file);
    const { code, err } = await ann.verify([sound, broken, '--keep']);
    assert.equal(code, disproved);
    assert.match(err, /1 of 2 files do not hold: \S+broken\.txt\.\s+No root was kept\./);
    assert.equal(existsSync(kept), false);
    await ann.verify([sound, '--keep']);
    const liar = ann.write('liar.txt', ledger.file(month, ledger.root(new Nights(31))));
    assert.equal((await ann.verify([liar, '--keep'])).code, disproved);
    assert.equal(readFileSync(kept, 'utf8'), root.lines);
  });

  it('tells programs all of it', async () => {
    const ann = new Verifier();
    const liar = ann.write('liar.txt', ledger.file(month, ledger.root(new Nights(31))));
    const args = [liar, '--json', '--roots', ann.write('some-roots', root.lines)];
    const { code, out, err } = await ann.verify(args);
    assert.equal(code, disproved);
    const said = JSON.parse(out) as { files: { verdict: string }[]; keptIn: unknown; unlinked: unknown };
    assert.deepEqual([said.files[0]!.verdict, said.keptIn, said.unlinked], ['contradicted', null, []]);
    const failure = JSON.parse(err) as { error: string; exitCode: number; details: { files: unknown[] } };
    assert.deepEqual([failure.error, failure.exitCode], ['disproved', disproved]);
    assert.deepEqual(failure.details.files, said.files);
  });
});
