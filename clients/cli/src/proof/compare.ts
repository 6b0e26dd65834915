import type { Finding, Judged, Proof } from './judge.js';
import { noHash } from './fields.js';
import type { Root } from './parse.js';
import { contradiction, isMadeAfter } from './roots.js';
import type { IndexedSeal, SealIndex } from './seal-index.js';

/** What is known of the past, independently of a file. */
export interface Known {
  /** Hashes of roots that somebody wrote down. */
  readonly hashes: readonly string[];
  /** Roots that were kept, oldest first. */
  readonly roots: readonly Root[];
}

export type Verdict = 'good' | 'consistent' | 'unexplained' | 'contradicted' | 'broken' | 'malformed';

/** A file with what became of it. */
export interface Verified extends Omit<Judged, 'isMalformed'> {
  readonly verdict: Verdict;
}

/** A file that says something whole: it is consistent with itself. */
interface Sound {
  readonly file: string;
  readonly proof: Proof;
}

/** Judges files by what is known, and by each other: points 5 and 6 of docs/proof.md. */
export function compare(files: readonly Judged[], known: Known): Verified[] {
  const sound: Sound[] = [];
  const verified = files.map((judged): Verified => {
    const { isMalformed, ...rest } = judged;
    const { file, proof } = judged;
    if (judged.finding !== undefined || proof === undefined) {
      return { ...rest, verdict: isMalformed ? 'malformed' : 'broken' };
    }
    const findings = [
      ...againstKept(proof, known.roots),
      ...sound.flatMap((other) => againstFile(proof, other)),
    ];
    sound.push({ file, proof });
    if (findings.length > 0)
      return { ...rest, verdict: 'contradicted', finding: findings[0], findings: findings.length };
    const question = laterThanKept(proof, known.roots);
    return question === undefined
      ? { ...rest, verdict: 'consistent' }
      : { ...rest, verdict: 'unexplained', finding: question, findings: 1 };
  });
  const trusted = trustedRoots(verified, known);
  return verified.map((each) =>
    each.verdict === 'consistent' && each.proof !== undefined && trusted.has(each.proof.root.hash)
      ? { ...each, verdict: 'good' }
      : each,
  );
}

/**
 * The hashes of the roots that are known: those that are given, and the one before each, whose hash it holds. The way
 * leads back only: whoever makes a root that follows a known one may have changed what the known one covers.
 */
function trustedRoots(files: readonly Verified[], { hashes, roots }: Known): ReadonlySet<string> {
  const trusted = new Set([...hashes, ...roots.flatMap(({ hash, hashBefore }) => [hash, hashBefore])]);
  const newestFirst = files
    .flatMap(({ proof }) => (proof === undefined ? [] : [proof.root]))
    .toSorted((a, b) => b.number - a.number);
  for (const { hash, hashBefore } of newestFirst) if (trusted.has(hash)) trusted.add(hashBefore);
  return trusted;
}

function againstKept({ root }: Proof, kept: readonly Root[]): Finding[] {
  return kept.flatMap((other) => {
    const message = contradiction(other, root, 'you kept');
    return message === undefined ? [] : [{ message }];
  });
}

/**
 * Why a file should stand under another root (decision 141, "Proofs under later roots"): under the first one after its
 * month, or it says nothing of what was changed between the two.
 */
function laterThanKept({ head, root }: Proof, kept: readonly Root[]): Finding | undefined {
  const earlier = kept.find((other) => other.number < root.number && isMadeAfter(other, head.month));
  if (earlier === undefined) return undefined;
  const message = `It stands under root ${root.number}, of ${root.night}. You kept root ${earlier.number}, of ${earlier.night}, when ${head.month} was over too. This file does not tell what was changed between the two.${restoredBetween(root, earlier)}`;
  return { message };
}

function againstFile(proof: Proof, other: Sound): Finding[] {
  const { head, root, last } = proof;
  const { file } = other;
  if (head.wallet !== other.proof.head.wallet) {
    return [{ message: `It is of another wallet than ${file}: judge the files of one wallet at a time.` }];
  }
  const byRoots = contradiction(other.proof.root, root, `of ${file}`);
  const order = root.number - other.proof.root.number;
  const shrinks = order * (last - other.proof.last) < 0 || (order === 0 && last !== other.proof.last);
  const byNumbers = `It ends with entry ${last} under root ${root.number}, but ${file} ends with entry ${other.proof.last} under root ${other.proof.root.number}.${restoredBetween(root, other.proof.root)}`;
  const bySeals = againstSeals(proof.index, other.proof.index, file);
  return [
    ...(byRoots === undefined ? [] : [{ message: byRoots }]),
    ...(bySeals === undefined ? [] : [bySeals]),
    ...(shrinks ? [{ message: byNumbers }] : []),
  ];
}

/** The first seal that two files do not share though they should. */
function againstSeals(mine: SealIndex, theirs: SealIndex, file: string): Finding | undefined {
  const start = Math.max(mine.beginning.first, theirs.beginning.first);
  let place = mine.placeOf(start);
  let otherPlace = theirs.placeOf(start);
  if (place === mine.count || otherPlace === theirs.count) return againstNeighbour(mine, theirs, file);
  for (;;) {
    const seal = mine.at(place);
    const other = theirs.at(otherPlace);
    if (seal === undefined || other === undefined) return undefined;
    const why = whyNotShared(seal, other, file);
    if (why !== undefined) return { message: why, seal: rangeOf(seal) };
    place += 1;
    otherPlace += 1;
  }
}

function whyNotShared(seal: IndexedSeal, other: IndexedSeal, file: string): string | undefined {
  const name = `Seal ${spanOf(seal)}`;
  const isSameRange = seal.first === other.first && seal.last === other.last;
  if (isSameRange && seal.hash === other.hash) return undefined;
  const epochs = restoredBetween(seal, other);
  return isSameRange
    ? `${name} is not the one of ${file}.${epochs}`
    : `${name} overlaps seal ${spanOf(other)} of ${file}.${epochs}`;
}

/** What explains a difference honestly; empty where nothing does. */
function restoredBetween(mine: { readonly epoch: number }, theirs: { readonly epoch: number }): string {
  return mine.epoch === theirs.epoch
    ? ''
    : ` Its epoch is ${mine.epoch}, and ${theirs.epoch} there: the service claims that it restored a backup in between.`;
}

/** Files that share no seal may still follow each other. */
function againstNeighbour(mine: SealIndex, theirs: SealIndex, file: string): Finding | undefined {
  const isMineLater = mine.beginning.first > theirs.beginning.first;
  const [earlier, later] = isMineLater ? [theirs, mine] : [mine, theirs];
  const before = earlier.at(earlier.count - 1) ?? nothing;
  const first = later.at(0);
  if (first === undefined || follows(first, later.beginning, before)) return undefined;
  return isMineLater
    ? {
        message: `Seal ${spanOf(first)} does not follow seal ${spanOf(before)} of ${file}.${restoredBetween(first, before)}`,
        seal: rangeOf(first),
      }
    : {
        message: `Seal ${spanOf(before)} does not lead to seal ${spanOf(first)} of ${file}.${restoredBetween(before, first)}`,
        seal: rangeOf(before),
      };
}

/** Whether a file's first seal can stand after a seal, or is too far from it to tell. */
function follows(first: IndexedSeal, beginning: SealIndex['beginning'], before: IndexedSeal): boolean {
  if (first.first !== before.last + 1) return true;
  return (
    beginning.hashBefore === before.hash &&
    beginning.centsBefore === before.closingCents &&
    first.epoch >= before.epoch
  );
}

function rangeOf({ first, last }: IndexedSeal): { readonly first: number; readonly last: number } {
  return { first, last };
}

function spanOf({ first, last }: IndexedSeal): string {
  return `${first}-${last}`;
}

const nothing: IndexedSeal = { first: 0, last: 0, epoch: 0, hash: noHash, closingCents: 0 };

/** Pairs of files of which nothing says that one continues the other: those of the months between are missing. */
export function unlinked(files: readonly Verified[]): (readonly [earlier: string, later: string])[] {
  const ordered = files
    .flatMap(({ file, verdict, proof }) => (proof && isSoundVerdict(verdict) ? [{ file, proof }] : []))
    .toSorted((a, b) => a.proof.last - b.proof.last || a.proof.first - b.proof.first);
  return ordered.flatMap((later, index) => {
    const earlier = ordered[index - 1];
    const isLinked = earlier === undefined || later.proof.first <= earlier.proof.last + 1;
    return isLinked ? [] : [[earlier.file, later.file] as const];
  });
}

/** Whether nothing speaks against a file. */
export function isSoundVerdict(verdict: Verdict): boolean {
  return verdict === 'good' || verdict === 'consistent' || verdict === 'unexplained';
}
