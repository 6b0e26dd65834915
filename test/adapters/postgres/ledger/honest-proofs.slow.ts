import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transaction } from '../../../../adapters/postgres/database.js';
import { verifyLedger } from '../../../../adapters/postgres/ledger/verify.js';
import { compare, type Known } from '../../../../clients/cli/src/proof/compare.js';
import { judgeFile, type Judged } from '../../../../clients/cli/src/proof/judge.js';
import type { Root } from '../../../../clients/cli/src/proof/parse.js';
import { readRoots } from '../../../../clients/cli/src/proof/roots.js';
import { takeChances, type Chances } from '../../../support/seeded.js';
import { changesOfCovered } from '../../../support/proof/covered-rows.js';
import { ProvenHistory, type KnownWallet, type NewEntry } from '../../../support/proof/proven-history.js';

const stranger = join(import.meta.dirname, '../../../support/proof/judge_proof.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const signal = new AbortController().signal;
const nothingKnown: Known = { hashes: [], roots: [] };

const WALLETS = 220;
const LATE_WALLETS = 40;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The months of the history, and when one begins; the one after the last has a beginning too. */
const months = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06'];
const beginOf = (month: number): number => Date.UTC(2026, month);

/** A wallet's file as it was served: who kept it must be right for ever. */
interface Served {
  readonly wallet: number;
  readonly month: number;
  readonly text: string;
  /** The number of the month's last entry, by what was written. */
  readonly lastOfMonth: number;
  readonly isLost: boolean;
}

describe('proofs of an honest ledger', function () {
  this.timeout(600_000);
  let chances: Chances;
  const isOneIn = (count: number): boolean => chances.below(count) === 0;
  let folder: string;
  let history: ProvenHistory;
  const served: Served[] = [];
  /** Wallets with an entry that was written after one of a later month. */
  const setBack = new Set<number>();
  const reached = {
    ...{ refund: 0, adjustment: 0, autoTopup: 0, wideAmount: 0, clockSetBack: 0, restored: 0, lostRoots: 0 },
    ...{
      sealedAgain: 0,
      notReady: 0,
      withoutEntries: 0,
      laterEpoch: 0,
      newKey: 0,
      servedAgain: 0,
      beforeTheWallet: 0,
    },
  };

  before(async () => {
    chances = takeChances('proofs');
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-honest-'));
    history = await ProvenHistory.start();
    await history.at(beginOf(0) - DAY);
    await history.open(WALLETS);
    await live();
  });
  after(async () => {
    await history.close();
    rmSync(folder, { recursive: true });
  });

  /** Five months. A part of the third one is lost by a restore, and so are the days after the fourth one. */
  async function live(): Promise<void> {
    for (const month of [0, 1]) {
      await halfMonth(month);
      await write(beginOf(month) + 15 * DAY, beginOf(month + 1));
      await monthEnds(month, beginOf(month + 1));
    }
    await history.open(LATE_WALLETS);
    await halfMonth(2);
    await history.backUp(beginOf(2) + 15 * DAY);
    await write(beginOf(2) + 15 * DAY, beginOf(3));
    await monthEnds(2, beginOf(3), true);
    await restore(beginOf(3) + 3 * DAY);
    await write(beginOf(3) + 3 * DAY, beginOf(3) + 5 * DAY);
    await monthEnds(2, beginOf(3) + 5 * DAY);
    history.changeKey();
    await write(beginOf(3) + 7 * DAY, beginOf(4));
    // A root that is begun and backed up: its signature is in the file of roots alone after the restore.
    await history.at(beginOf(4));
    await history.seal(history.wallets, ofSomeSize);
    await history.beginRoot();
    await history.backUp(beginOf(4) + HOUR);
    assert.equal(await history.sign(), 1);
    await restore(beginOf(4) + 5 * DAY);
    assert.equal(await history.sign(), 1);
    await monthEnds(3, beginOf(4) + 5 * DAY);
    await write(beginOf(4) + 8 * DAY, beginOf(5));
    await monthEnds(4, beginOf(5));
    await serveAgain();
  }

  /**
   * Later, each month has the file that it had, unless a clock wrote into a month that was over. Wallets have
   * files of the months before they were opened.
   */
  async function serveAgain(): Promise<void> {
    for (const { wallet, month, text, isLost } of served) {
      if (isLost || !isOneIn(5) || setBack.has(history.wallets[wallet]!.id)) continue;
      assert.ok((await history.file(history.wallets[wallet]!, months[month]!)) === text, `wallet ${wallet}`);
      reached.servedAgain += 1;
    }
    for (let wallet = WALLETS; wallet < history.wallets.length; wallet += 1) {
      const text = await history.file(history.wallets[wallet]!, months[0]!);
      served.push({ wallet, month: 0, text: text!, lastOfMonth: 0, isLost: false });
      reached.beforeTheWallet += 1;
    }
  }

  const ofSomeSize = (): number => 1 + chances.below(20);

  /** The first half of a month, and a night in which half of the wallets are sealed. */
  async function halfMonth(month: number): Promise<void> {
    await write(beginOf(month), beginOf(month) + 14 * DAY);
    await night(beginOf(month) + 14 * DAY, some(2));
  }

  async function write(from: number, to: number): Promise<void> {
    await history.at(from);
    const entries = history.wallets.map(
      (wallet) => [wallet, isOneIn(8) ? [] : entriesOf(wallet, from, to)] as const,
    );
    await history.write(new Map(entries));
  }

  async function night(ms: number, wallets: readonly KnownWallet[]): Promise<void> {
    await history.at(ms);
    await history.seal(wallets, ofSomeSize);
    await history.beginRoot();
    assert.equal(await history.sign(), 1);
  }

  /** Two nights after a month: some wallets are not sealed in the first one, and seals are taken back between them. */
  async function monthEnds(month: number, begin: number, isLost = false): Promise<void> {
    const name = months[month]!;
    const late = new Set(some(25));
    await night(
      begin + HOUR,
      history.wallets.filter((wallet) => !late.has(wallet)),
    );
    const files = new Map<KnownWallet, string>();
    for (const wallet of some(10)) {
      const text = await history.file(wallet, name);
      // One without seals proves a month before the wallet's first entry, whatever is unsealed.
      if (text?.includes('\nseal ') === true) files.set(wallet, text);
    }
    await history.unseal([...files.keys()]);
    for (const wallet of files.keys()) assert.equal(await history.file(wallet, name), undefined);
    for (const wallet of late) if ((await history.file(wallet, name)) === undefined) reached.notReady += 1;
    await history.db('rentals').update({ notes: null });
    await night(begin + DAY, history.wallets);
    for (const [wallet, text] of files) {
      assert.ok((await history.file(wallet, name)) === text, 'sealed again, it is the same file');
      reached.sealedAgain += 1;
    }
    for (const [wallet, each] of history.wallets.entries()) {
      const text = await history.file(each, name);
      assert.ok(text, `wallet ${wallet} has no file of ${name}`);
      const lastOfMonth = 1 + each.instants.findLastIndex((ms) => ms < beginOf(month + 1));
      served.push({ wallet, month, text, lastOfMonth, isLost });
    }
  }

  async function restore(ms: number): Promise<void> {
    const before = await countRoots();
    await history.restore(ms);
    reached.lostRoots += before - (await countRoots());
    reached.restored += 1;
  }

  async function countRoots(): Promise<number> {
    return (await history.db('ledger_roots').whereNotNull('line')).length;
  }

  /** About one wallet in so many. */
  function some(oneIn: number): KnownWallet[] {
    return history.wallets.filter(() => isOneIn(oneIn));
  }

  function entriesOf(wallet: KnownWallet, from: number, to: number): NewEntry[] {
    const count = chances.below(14);
    let cents = wallet.balances.at(-1) ?? 0;
    let ms = from;
    return Array.from({ length: count }, (_, no) => {
      ms += chances.below(Math.floor((to - from) / count));
      // A clock that was set back, over the beginning of the month too.
      if (isOneIn(40)) {
        ms -= chances.below(3 * DAY);
        reached.clockSetBack += 1;
        if (ms < from) setBack.add(wallet.id);
      }
      const entry = entryOf(wallet, cents, ms, no);
      cents += entry.cents;
      return entry;
    });
  }

  function topupOf(charge: string): Omit<NewEntry, 'ms'> {
    const isAuto = isOneIn(3);
    const isWide = isOneIn(8);
    if (isAuto) reached.autoTopup += 1;
    if (isWide) reached.wideAmount += 1;
    const type = isAuto ? 'auto_topup' : 'processor_topup';
    return { type, cents: isWide ? 5_000_000_000 : 1_000, rental: null, charge, note: null };
  }

  function entryOf(wallet: KnownWallet, cents: number, ms: number, no: number): NewEntry {
    const rental = wallet.rentals[chances.below(wallet.rentals.length)]!;
    const nothing = { ms, rental: null, charge: null, note: null };
    if (cents < 30 || isOneIn(12)) return { ms, ...topupOf(`ch_${wallet.id}_${no}`) };
    if (isOneIn(10)) {
      reached.refund += 1;
      return { ...nothing, type: 'refund', cents: 1 + chances.below(20), rental };
    }
    if (isOneIn(10)) {
      reached.adjustment += 1;
      const note = isOneIn(4) ? null : `for the outage of “${wallet.id}”\nas told`;
      return { ...nothing, type: 'adjustment', cents: isOneIn(2) ? 5 : -5, note };
    }
    return { ...nothing, type: 'rental_charge', cents: -1 - chances.below(20), rental };
  }

  function count(cases: Partial<Record<keyof typeof reached, boolean>>): void {
    for (const [what, isSo] of Object.entries(cases)) if (isSo) reached[what as keyof typeof reached] += 1;
  }

  async function judgeText(text: string): Promise<Judged> {
    const file = join(folder, 'proof.txt');
    writeFileSync(file, text);
    return judgeFile(file, { signal, remembersSeals: true });
  }

  it('are each good by the roots that were published, and tell the balance', async () => {
    // The signer's file has the roots too that a restore lost.
    const roots = await readRoots(history.rootsFile, signal);
    const known: Known = { hashes: roots.map(({ hash }) => hash), roots: [] };
    for (const { text, wallet, month, lastOfMonth, isLost } of served) {
      const [verified] = compare([await judgeText(text)], known);
      const where = `wallet ${wallet}, ${months[month]!}: ${verified!.finding?.message ?? ''}`;
      assert.equal(verified!.verdict, 'good', where);
      const { last, closingCents, root, seals } = verified!.proof!;
      if (!setBack.has(history.wallets[wallet]!.id))
        assert.ok(last >= lastOfMonth, `${where}: it ends with ${last}, not ${lastOfMonth}`);
      const { balances } = history.wallets[wallet]!;
      if (!isLost) assert.equal(closingCents, last === 0 ? 0 : balances[last - 1], where);
      count({ withoutEntries: seals === 0, laterEpoch: root.epoch > 1, newKey: root.endorsed !== undefined });
    }
    assert.ok(served.length >= 1_000, `${served.length} files`);
    process.stdout.write(`    ${served.length} files, of which: ${JSON.stringify(reached)}\n`);
    for (const [what, times] of Object.entries(reached)) assert.ok(times > 0, `${what} was not reached`);
  });

  it('tell one past, and another one where a restore replaced it alone', async () => {
    let replaced = 0;
    for (const wallet of history.wallets.keys()) {
      const judged: (Judged & { readonly isLost: boolean })[] = [];
      for (const { text, isLost } of served.filter((each) => each.wallet === wallet))
        judged.push({ ...(await judgeText(text)), isLost });
      const kept = judged.filter(({ isLost }) => !isLost);
      for (const { verdict, finding } of compare(kept, nothingKnown))
        assert.equal(verdict, 'consistent', `wallet ${wallet}: ${finding?.message ?? ''}`);
      for (const { verdict, finding } of compare(judged, nothingKnown)) {
        if (finding === undefined) continue;
        assert.equal(verdict, 'restored', finding.message);
        assert.match(
          finding.message,
          / The service went on from a backup at 20\d\d-\d\d-\d\d \d\d:\d\d UTC\b.*\.$/,
        );
        replaced += 1;
      }
    }
    assert.ok(replaced > 0);
  });

  it('ask a question of those who keep the root of each month where a restore took one alone', async () => {
    const keptBy = new Map<number, Root[]>();
    let asked = 0;
    for (const { text, wallet, month } of served) {
      const kept = keptBy.get(wallet) ?? [];
      const [verified] = compare([await judgeText(text)], { hashes: [], roots: kept });
      const { verdict, finding, proof } = verified!;
      const where = `wallet ${wallet}, ${months[month]!}: ${finding?.message ?? ''}`;
      if (verdict === 'unexplained') {
        assert.match(
          finding!.message,
          / The service went on from a backup at 20\d\d-\d\d-\d\d \d\d:\d\d UTC\b.*\.$/,
          where,
        );
        asked += 1;
      } else {
        assert.ok(verdict === 'consistent' || verdict === 'good', where);
        keptBy.set(
          wallet,
          [...kept, proof!.root].toSorted((a, b) => a.number - b.number),
        );
      }
    }
    assert.equal(asked, history.wallets.length);
  });

  it('are good by a judge that knows docs/proof.md alone', function () {
    if (!hasPython) this.skip();
    for (let no = 0; no < 40; no += 1) {
      const { text } = served[chances.below(served.length)]!;
      const file = join(folder, 'stranger.txt');
      writeFileSync(file, text);
      const { stdout } = spawnSync('python3', [stranger, file], { encoding: 'utf8' });
      const { verdict, finding } = JSON.parse(stdout) as { verdict: string; finding: string | null };
      assert.equal(verdict, 'consistent', finding ?? '');
    }
  });

  describe('that somebody changes afterwards', () => {
    let known: Known;
    before(async () => {
      const roots = await readRoots(history.rootsFile, signal);
      known = { hashes: roots.map(({ hash }) => hash), roots: [] };
    });

    /** What `ops ledger verify` says of the row of entries; the rentals here were never metered. */
    const gapsOf = async (trx: Transaction, { userId }: KnownWallet): Promise<string[]> =>
      (await verifyLedger(trx, userId)).flatMap(({ rule, detail }) =>
        rule === 'chain' || rule === 'wallet' ? detail : [],
      );
    const isTrusted = (verdict: string): boolean => ['good', 'consistent'].includes(verdict);

    /** Changes what a file covers that is served as it was, and takes it back. @returns the verdict then; undefined: nothing to change */
    async function verdictAfter(
      { wallet, month, text }: Served,
      [table, statement]: readonly [string, string],
    ): Promise<string | undefined> {
      const of = history.wallets[wallet]!;
      const seals = [...text.matchAll(/^seal 1 \S+ \d+ (\d+) (\d+)/gm)];
      const [, first, last] = seals[chances.below(seals.length)]!;
      const root = /^root 1 (\d+)/m.exec(text)![1]!;
      const trx = await history.db.transaction();
      try {
        assert.deepEqual(await gapsOf(trx, of), [], 'unchanged, nothing is missing');
        await trx.raw('alter table ?? disable trigger user', [table]);
        const place = { wallet: of.id, first: first!, last: last!, root };
        const { rowCount } = await trx.raw<{ rowCount: number }>(statement, place);
        if (rowCount === 0) return undefined;
        const now = await history.file(of, months[month]!, trx).catch(() => undefined);
        if (now === undefined) return 'none';
        assert.notEqual(now, text);
        const { verdict } = compare([await judgeText(now)], known)[0]!;
        if (!isTrusted(verdict)) return verdict;
        // Without its newest seal a file is as it was by an older root: the ledger itself tells that it is gone.
        return (await gapsOf(trx, of)).length > 0 ? 'found by ops ledger verify' : verdict;
      } finally {
        await trx.rollback();
      }
    }

    for (const [what, change] of Object.entries(changesOfCovered)) {
      it(`is found: ${what}`, async () => {
        const verdicts: string[] = [];
        const now = served.filter(
          ({ isLost, text, wallet }) =>
            !isLost && text.includes('\nseal ') && !setBack.has(history.wallets[wallet]!.id),
        );
        for (let tries = 0; tries < 1_000 && verdicts.length < 6; tries += 1) {
          const verdict = await verdictAfter(now[chances.below(now.length)]!, change);
          if (verdict !== undefined) verdicts.push(verdict);
        }
        assert.equal(verdicts.length, 6);
        assert.ok(!verdicts.some(isTrusted), verdicts.join());
      });
    }
  });
});
