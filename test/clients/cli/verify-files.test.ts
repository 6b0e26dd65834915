import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import {
  hex,
  Ledger,
  Nights,
  pack,
  someMonths,
  writeProof,
  writeSeals,
  type SealParts,
} from '../../support/proof/honest-file.js';
import { Verifier } from './support/verifier.js';

describe('gpu verify, of several files', () => {
  const ledger = someMonths();
  const all = ledger.seals.length;
  const nights = new Nights(16);
  const early = ledger.root(nights, all - 2);
  const fork = nights.fork();
  const late = ledger.root(nights);
  const october = ledger.file('2026-10', early, all - 2);
  const november = ledger.file('2026-11', late);

  /** Judges two texts, and the other way round: the verdicts of the second one. */
  async function both(one: string, two: string, ...args: readonly string[]) {
    const ann = new Verifier();
    const paths = [ann.write('one.txt', one), ann.write('two.txt', two)];
    const [first, second] = await ann.judgeAll([...paths, ...args]);
    const [, other] = await ann.judgeAll([...paths.toReversed(), ...args]);
    assert.equal(
      first!.verdict === 'broken' || second!.verdict === 'broken',
      false,
      'by itself each is sound',
    );
    return { first: first!, second: second!, other: other! };
  }

  async function contradicted(one: string, two: string, words: RegExp, otherWords = words): Promise<void> {
    await told('contradicted', one, two, words, otherWords);
  }

  /** Says the same of either file, whichever comes second. */
  async function told(
    verdict: 'contradicted' | 'restored',
    one: string,
    two: string,
    words: RegExp,
    otherWords: RegExp,
  ) {
    const { first, second, other } = await both(one, two);
    assert.deepEqual([first.finding, second.verdict, other.verdict], [null, verdict, verdict]);
    assert.equal(second.code, verdict === 'restored' ? exitCodes.unexplained : exitCodes.disproved);
    assert.match(second.finding!.message.replace(/\S*\/(one|two)/, '$1'), words);
    assert.match(other.finding!.message.replace(/\S*\/(one|two)/, '$1'), otherWords);
    return second;
  }

  it('takes files that tell the same past, also the same file twice', async () => {
    const { first, second, other } = await both(october, november);
    assert.deepEqual([first.verdict, second.verdict, other.verdict], Array(3).fill('consistent'));
    assert.equal((await both(october, october)).second.verdict, 'consistent');
  });

  it('knows the root that a known one follows', async () => {
    const { first, second } = await both(october, november, '--root', late.hash);
    assert.deepEqual([first.verdict, second.verdict], ['good', 'good']);
    const known = await both(october, november, '--root', early.hash);
    assert.deepEqual([known.first.verdict, known.second.verdict], ['good', 'consistent']);
  });

  it('names the seal that two files tell otherwise, though each of them is sound', async () => {
    const shared = ledger.parts.findIndex(({ first, last }) => first <= 90 && last >= 90);
    // Rewritten with the same balance after it: one entry takes what the other one gives.
    const liar = ledger.changed(shared, (seal) => {
      seal.amounts[0]! += 1;
      seal.amounts[1]! -= 1;
    });
    const { first, last } = ledger.parts[shared]!;
    const text = liar.file('2026-11', liar.root(fork.fork()));
    const words = `Seal ${first}-${last} is not the one of`;
    await contradicted(
      october,
      text,
      new RegExp(`^${words} one\\.txt\\.$`),
      new RegExp(`^${words} two\\.txt\\.$`),
    );
  });

  describe('of which one was made after a restore', () => {
    const cut = all - 3;
    const { first, last } = ledger.parts[cut]!;
    // The epoch is the minute in which the service went on.
    const epoch = (Date.UTC(2026, 9, 2, 3, 4) - Date.UTC(2020, 0, 1)) / 60_000;
    const after = `The service went on from a backup at 2026-10-02 03:04 UTC: entries after number ${first - 1} were replaced\\.`;
    const words = [
      new RegExp(`^Seal ${first}-${last - 1} overlaps seal ${first}-${last} of one\\.txt\\. ${after}$`),
      new RegExp(`^Seal ${first}-${last} overlaps seal ${first}-${last - 1} of two\\.txt\\. ${after}$`),
    ] as const;

    it('says when, and which entries were replaced: neither fine nor an alarm', async () => {
      const grown = replaced(epoch);
      const text = grown.file('2026-10', grown.root(new Nights(40, epoch)));
      const { finding } = await told('restored', october, text, ...words);
      assert.deepEqual(finding!.restored, { at: '2026-10-02T03:04:00.000Z', afterNumber: first - 1 });
      const ann = new Verifier();
      const { code, err } = await ann.verify([
        ann.write('one.txt', october),
        ann.write('two.txt', text),
        '--keep',
      ]);
      assert.equal(code, exitCodes.unexplained);
      assert.match(
        err.replaceAll(/\s+/g, ' '),
        /two\.txt tells other entries than before .* Its root was not kept\./,
      );
    });

    it('raises the alarm where no root says so, or a seal is older than the restore', async () => {
      const silent = replaced(1);
      const overlaps = `Seal ${first}-${last - 1} overlaps seal ${first}-${last} of one\\.txt\\.`;
      const other = `Seal ${first}-${last} overlaps seal ${first}-${last - 1} of two\\.txt\\.`;
      for (const root of [silent.root(new Nights(40)), silent.root(new Nights(40, epoch))])
        await contradicted(
          october,
          silent.file('2026-10', root),
          new RegExp(`^${overlaps}$`),
          new RegExp(`^${other}$`),
        );
    });

    it('explains by it that a wallet which the backup did not know yet was named anew', async () => {
      const renamed = (since: number): Ledger => Ledger.of(moved, [7, 13], () => since);
      const moved = Array.from({ length: 20 }, (_, index) => ({
        ms: Date.UTC(2026, 9, 20) + index * 86_400_000,
        cents: 1,
      }));
      const [named, old] = [renamed(epoch), renamed(1)];
      const when =
        'The service went on from a backup at 2026-10-02 03:04 UTC: entries after number 0 were replaced';
      const { finding } = await told(
        'restored',
        october,
        named.file('2026-10', named.root(new Nights(40, epoch))),
        new RegExp(`^It is of another wallet than one\\.txt: .* ${when}\\.$`),
        new RegExp(`^It is of another wallet than two\\.txt: .* ${when}\\.$`),
      );
      assert.deepEqual(finding!.restored, { at: '2026-10-02T03:04:00.000Z', afterNumber: 0 });
      // No root says so, a seal is older than the restore, a file begins later, or the roots contradict each other.
      const [one, two] = [
        /^It is of another wallet than one\.txt: [^.]*\.$/,
        /another wallet than two\.txt: [^.]*\.$/,
      ];
      await contradicted(october, old.file('2026-10', old.root(new Nights(40))), one, two);
      await contradicted(october, named.file('2026-11', named.root(new Nights(70, epoch))), one, two);
      await contradicted(october, old.file('2026-10', old.root(new Nights(40, epoch))), one, two);
      const twin = named.file('2026-10', named.root(new Nights(17, epoch)));
      await contradicted(october, twin, /^Root 17 does not follow root 16 of one\.txt\.$/, /^Root 17 of two/);
    });

    it('raises the alarm where anything else differs', async () => {
      const grown = replaced(epoch);
      // Another tree under the root number before: no restore makes that.
      const twin = grown.file('2026-10', grown.root(new Nights(17, epoch)));
      await contradicted(november, twin, /^Root 17 is not the one of one\.txt\.$/, /of two\.txt\.$/);
    });

    /** The ledger as a restore of an older backup leaves it: the seal at the cut is one entry shorter, and others follow. */
    function replaced(since: number): Ledger {
      const kept = structuredClone<SealParts[]>(ledger.parts.slice(0, cut + 1));
      const short = kept.at(-1)!;
      for (const list of [short.gaps, short.amounts, short.places]) list.pop();
      Object.assign(short, { last: short.last - 1, epoch: since });
      short.kept = short.kept.filter((line) => Number(line.split(' ')[1]) <= short.last);
      return new Ledger(ledger.wallet, [...kept, ...tail(short, since)]);
    }

    function tail(after: SealParts, since: number) {
      const cents = after.centsBefore + after.amounts.reduce((sum, amount) => sum + amount, 0);
      const begin = after.instant + 30 * 86_400_000;
      const entries = Array.from({ length: 30 }, (_, index) => ({ ms: begin + index, cents: 1 }));
      return pack(ledger.wallet, entries, [30]).map((seal) => ({
        ...seal,
        ...{ epoch: since, first: after.last + 1, last: after.last + 30, centsBefore: cents },
        kept: seal.kept.map((_, index) => `kept ${after.last + 1 + index} refund - - - -`),
      }));
    }
  });

  it('takes files of which one begins where the other ended, and says where it does not follow', async () => {
    // The last seal of October ends before the month does: both files hold other seals.
    const [left, right] = [ledger.seals.slice(0, all - 1), ledger.seals.slice(all - 1)];
    const own = new Nights(16);
    const one = writeProof(ledger.wallet, '2026-08', left, ledger.root(own, all - 1));
    const two = writeProof(ledger.wallet, '2026-12', right, ledger.root(own));
    assert.equal((await both(one, two)).second.verdict, 'consistent');
    const restore = ' The service went on from a backup at 2020-01-01 00:02 UTC.';
    const changes = [
      ['contradicted', { hashBefore: hex(64) }, ''],
      ['contradicted', { centsBefore: 999_999 }, ''],
      ['restored', { hashBefore: hex(64), epoch: 2 }, restore],
    ] as const;
    for (const [verdict, change, why] of changes) {
      const parts = ledger.parts.map((seal, index) => (index === all - 1 ? { ...seal, ...change } : seal));
      const seals = writeSeals(parts);
      const liar = new Ledger(ledger.wallet, parts, seals);
      const nightsOfLiar = new Nights(16);
      const mine = writeProof(ledger.wallet, '2026-08', left, liar.root(nightsOfLiar, all - 1));
      if ('epoch' in change) nightsOfLiar.epoch = change.epoch;
      const his = writeProof(ledger.wallet, '2026-12', seals.slice(all - 1), liar.root(nightsOfLiar));
      await told(
        verdict,
        mine,
        his,
        new RegExp(`^Seal \\d+-120 does not follow seal \\d+-\\d+ of one\\.txt\\.${why}$`),
        new RegExp(`^Seal \\d+-\\d+ does not lead to seal \\d+-120 of two\\.txt\\.${why}$`),
      );
    }
  });

  it('says that months between are missing, where nothing links two files', async () => {
    const ann = new Verifier();
    const first = ledger.file('2026-08', ledger.root(new Nights(2), 2), 2);
    const paths = [ann.write('late.txt', november), ann.write('first.txt', first)];
    const { code, out } = await ann.verify(paths);
    assert.equal(code, exitCodes.done);
    assert.match(
      out.replaceAll('\n', ' '),
      /late\.txt does not continue \S+first\.txt: check them with the files of the months between\./,
    );
    const linked = await ann.verify([ann.write('october.txt', october), paths[0]!]);
    assert.doesNotMatch(linked.out, /does not continue/);
  });

  it('says that entries are gone under a later root', async () => {
    const longer = ledger.file('2026-10', ledger.root(new Nights(8)));
    const shorter = ledger.file('2026-10', ledger.root(new Nights(12), all - 1), all - 1);
    const last = ledger.parts[all - 2]!.last;
    await contradicted(
      longer,
      shorter,
      new RegExp(
        `^It ends with entry ${last} under root 12, but one\\.txt ends with entry 120 under root 8\\.$`,
      ),
      new RegExp(
        `^It ends with entry 120 under root 8, but two\\.txt ends with entry ${last} under root 12\\.$`,
      ),
    );
    const restored = ledger.file('2026-10', ledger.root(new Nights(12, 2), all - 1), all - 1);
    const why = new RegExp(
      `a backup at 2020-01-01 00:02 UTC: entries after number ${last} were replaced\\.$`,
    );
    await told('restored', longer, restored, why, why);
  });

  it('compares their roots', async () => {
    const twin = ledger.file('2026-11', ledger.root(new Nights(17)));
    await contradicted(november, twin, /^Root 17 is not the one of one\.txt\.$/, /of two\.txt\.$/);
    await contradicted(
      october,
      twin,
      /^Root 17 does not follow root 16 of one\.txt\.$/,
      /^Root 17 of two\.txt does not follow root 16\.$/,
    );
    const older = ledger.file('2026-11', ledger.root(new Nights(30, 1)));
    const newer = ledger.file('2026-11', ledger.root(new Nights(20, 2)));
    await contradicted(
      newer,
      older,
      /^The epoch falls from root 20 of one\.txt to root 30\.$/,
      /^The epoch falls from root 20 to root 30 of two\.txt\.$/,
    );
  });

  it('tells of a contradiction also where nobody reads its results', async () => {
    const left = Object.assign(new Error('EPIPE'), { code: 'EPIPE' });
    const ann = new Verifier();
    const broken = ann.write('broken.txt', october.replace('amounts ', 'amounts 1'));
    for (const options of ['', '--json']) {
      const stdout = new Writable({ write: (_chunk, _encoding, done) => done(left) });
      const { code, err } = await ann.verify([broken, ...options.split(' ').filter(Boolean)], { stdout });
      assert.equal(code, exitCodes.disproved);
      assert.match(err, /broken\.txt is malformed/);
    }
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(left) });
    const sound = await ann.verify([ann.write('sound.txt', october)], { stdout });
    assert.deepEqual([sound.code, sound.err], [0, '']);
  });

  it('judges the files of one wallet at a time', async () => {
    const other = someMonths();
    const text = other.file('2026-10', other.root(new Nights(40)));
    await contradicted(october, text, /^It is of another wallet than one\.txt/, /of another wallet than two/);
  });
});
