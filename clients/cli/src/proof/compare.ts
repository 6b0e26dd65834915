import type { Finding, Judged, Proof } from './judge.js';
import { noHash } from './fields.js';
import type { Root } from './parse.js';
import { contradiction, isMadeAfter } from './roots.js';
import type { IndexedSeal, SealIndex } from './seal-index.js';

/** An epoch above 1 is the minute in which the service went on from a backup (docs/proof.md). */
const EPOCHS_BEGIN_MS = Date.UTC(2020, 0, 1);
const MINUTE_MS = 60_000;

/** What is known of the past, independently of a file. */
export interface Known {
  /** Hashes of roots that somebody wrote down. */
  readonly hashes: readonly string[];
  /** Roots that were kept, oldest first. */
  readonly roots: readonly Root[];
}

export type Verdict =
  | 'good'
  | 'consistent'
  | 'unexplained'
  | 'restored'
  | 'contradicted'
  | 'broken'
  | 'malformed';

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
    if (findings.length > 0) {
      // What no restore explains comes first.
      const finding = findings.find(({ restored }) => restored === undefined) ?? findings[0];
      const verdict = finding?.restored === undefined ? 'contradicted' : 'restored';
      return { ...rest, verdict, finding, findings: findings.length };
    }
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
  const message = `It stands under root ${root.number}, of ${root.night}. You kept root ${earlier.number}, of ${earlier.night}, when ${head.month} was over too. This file does not tell what was changed between the two.${toldOf(restoredAt({ root }, { root: earlier }))}`;
  return { message };
}

function againstFile(proof: Proof, other: Sound): Finding[] {
  const { head, root, last } = proof;
  const { file } = other;
  const byRoots = contradiction(other.proof.root, root, `of ${file}`);
  const rootsDiffer = byRoots === undefined ? [] : [{ message: byRoots }];
  if (head.wallet !== other.proof.head.wallet) return [ofOtherWallet(proof, other), ...rootsDiffer];
  const order = root.number - other.proof.root.number;
  const shrinks = order * (last - other.proof.last) < 0 || (order === 0 && last !== other.proof.last);
  const byNumbers = `It ends with entry ${last} under root ${root.number}, but ${file} ends with entry ${other.proof.last} under root ${other.proof.root.number}.`;
  const bySeals = againstSeals(proof, other.proof, file);
  const restored = order === 0 ? undefined : restoredAt({ root }, other.proof);
  return [
    ...rootsDiffer,
    ...(bySeals === undefined ? [] : [bySeals]),
    ...(shrinks ? [explained(byNumbers, restored, Math.min(last, other.proof.last))] : []),
  ];
}

/**
 * A wallet that got its name after a backup was made is named anew after a restore of it, and so are all of its seals. Only
 * a file from entry 1 on shows that all of them are new.
 */
function ofOtherWallet(mine: Proof, { file, proof: theirs }: Sound): Finding {
  const message = `It is of another wallet than ${file}: judge the files of one wallet at a time.`;
  const later = mine.root.number > theirs.root.number ? mine : theirs;
  if (later.index.beginning.first !== 1) return { message };
  const [one, other] = [mine, theirs].map(({ root, index }): Side => ({ root, seal: index.at(0) }));
  return explained(message, one && other && restoredAt(one, other), 0);
}

/** The first seal that two files do not share though they should. */
function againstSeals(mine: Proof, theirs: Proof, file: string): Finding | undefined {
  const start = Math.max(mine.index.beginning.first, theirs.index.beginning.first);
  let place = mine.index.placeOf(start);
  let otherPlace = theirs.index.placeOf(start);
  if (place === mine.index.count || otherPlace === theirs.index.count)
    return againstNeighbour(mine, theirs, file);
  for (;;) {
    const seal = mine.index.at(place);
    const other = theirs.index.at(otherPlace);
    if (seal === undefined || other === undefined) return undefined;
    const why = whyNotShared(seal, other, file);
    if (why !== undefined) {
      const restored = restoredAt({ root: mine.root, seal }, { root: theirs.root, seal: other });
      return explained(why, restored, Math.min(seal.first, other.first) - 1, seal);
    }
    place += 1;
    otherPlace += 1;
  }
}

function whyNotShared(seal: IndexedSeal, other: IndexedSeal, file: string): string | undefined {
  const name = `Seal ${spanOf(seal)}`;
  const isSameRange = seal.first === other.first && seal.last === other.last;
  if (isSameRange && seal.hash === other.hash) return undefined;
  return isSameRange
    ? `${name} is not the one of ${file}.`
    : `${name} overlaps seal ${spanOf(other)} of ${file}.`;
}

/** Files that share no seal may still follow each other. */
function againstNeighbour(mine: Proof, theirs: Proof, file: string): Finding | undefined {
  const isMineLater = mine.index.beginning.first > theirs.index.beginning.first;
  const [earlier, later] = isMineLater ? [theirs, mine] : [mine, theirs];
  const before = earlier.index.at(earlier.index.count - 1) ?? nothing;
  const first = later.index.at(0);
  if (first === undefined || follows(first, later.index.beginning, before)) return undefined;
  const restored = restoredAt({ root: earlier.root, seal: before }, { root: later.root, seal: first });
  const [seal, message] = isMineLater
    ? [first, `Seal ${spanOf(first)} does not follow seal ${spanOf(before)} of ${file}.`]
    : [before, `Seal ${spanOf(before)} does not lead to seal ${spanOf(first)} of ${file}.`];
  return explained(message, restored, null, seal);
}

/** A root, and a seal that it covers where one is meant. */
interface Side {
  readonly root: Root;
  readonly seal?: IndexedSeal | undefined;
}

/**
 * When the service went on from a backup between two roots: the later one's signature says so. It explains a seal only if
 * that was made afterwards.
 * @returns undefined where no root says so
 */
function restoredAt(one: Side, other: Side): Date | undefined {
  const [earlier, later] = one.root.number < other.root.number ? [one, other] : [other, one];
  const oldEpoch = earlier.root.epoch;
  const isExplained = later.root.epoch > oldEpoch && (later.seal?.epoch ?? later.root.epoch) > oldEpoch;
  return isExplained ? new Date(EPOCHS_BEGIN_MS + later.root.epoch * MINUTE_MS) : undefined;
}

/** What two files contradict each other in, with the restore that explains it. */
function explained(
  message: string,
  at: Date | undefined,
  afterNumber: number | null,
  seal?: IndexedSeal,
): Finding {
  return {
    message: `${message}${toldOf(at, afterNumber)}`,
    ...(seal && { seal: { first: seal.first, last: seal.last } }),
    ...(at && { restored: { at, afterNumber } }),
  };
}

/** What a restore did, in words; empty where there was none. */
function toldOf(at: Date | undefined, afterNumber: number | null = null): string {
  if (at === undefined) return '';
  const replaced = afterNumber === null ? '' : `: entries after number ${afterNumber} were replaced`;
  return ` The service went on from a backup at ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC${replaced}.`;
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
  return verdict === 'good' || verdict === 'consistent' || isQuestion(verdict);
}

/** Whether a file is neither fine nor an alarm: the service has to tell why. */
export function isQuestion(verdict: Verdict): boolean {
  return verdict === 'unexplained' || verdict === 'restored';
}
