import { createHash } from 'node:crypto';
import { usd } from '../output/money.js';
import { noHash } from './fields.js';
import { Malformed, readLines } from './lines.js';
import { latestInstant, readProof, type Head, type Root, type Seal } from './parse.js';
import { faultOf, isMadeAfter } from './roots.js';
import { SealIndex } from './seal-index.js';

/** What is wrong with a file. */
export interface Finding {
  readonly message: string;
  readonly line?: number;
  readonly seal?: { readonly first: number; readonly last: number };
  readonly entry?: number;
  /** Set where the service signed that it went on from a backup, which explains it. */
  readonly restored?: {
    readonly at: Date;
    /** Entries after this number were replaced; null: what the files share does not tell where. */
    readonly afterNumber: number | null;
  };
}

/** A file, as far as it can be judged by itself. */
export interface Judged {
  readonly file: string;
  readonly isMalformed: boolean;
  /** The first one. */
  readonly finding: Finding | undefined;
  readonly findings: number;
  /** What it says; undefined: it was not read to its end. */
  readonly proof: Proof | undefined;
}

/** What a file says. */
export interface Proof {
  readonly head: Head;
  readonly seals: number;
  /** 0: there are no entries. */
  readonly first: number;
  readonly last: number;
  /** Undefined where there are no entries. */
  readonly earliestMs: number | undefined;
  readonly latestMs: number | undefined;
  readonly closingCents: number;
  readonly root: Root;
  readonly index: SealIndex;
}

export interface JudgeOptions {
  readonly signal: AbortSignal;
  /** Whether the file's seals are remembered, for a comparison with those of other files. */
  readonly remembersSeals: boolean;
}

/** Judges a file by itself: points 1 to 4 of docs/proof.md. */
export async function judgeFile(file: string, { signal, remembersSeals }: JudgeOptions): Promise<Judged> {
  const judge = new Judge(remembersSeals);
  try {
    await readLines(file, readProof(judge), signal);
    return { file, isMalformed: false, ...judge.result() };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    const finding = { message: error.message, line: error.line };
    return { file, isMalformed: true, finding, findings: 1, proof: undefined };
  }
}

class Judge {
  readonly #index = new SealIndex();
  #head: Head = { wallet: '', month: '' };
  #monthBeginsMs = 0;
  #first = 0;
  #seals = 0;
  #before: Before | undefined;
  #earliestMs = Infinity;
  #latestMs = -Infinity;
  #root: Root | undefined;
  #finding: Finding | undefined;
  #findings = 0;

  constructor(private readonly remembersSeals: boolean) {}

  head(head: Head): void {
    this.#head = head;
    this.#monthBeginsMs = Date.parse(`${head.month}-01T00:00:00.000Z`);
  }

  seal(seal: Seal): void {
    const range = { first: seal.first, last: seal.last };
    const found = (message: string, entry?: number): void =>
      this.#find({ message, seal: range, ...(entry !== undefined && { entry }) });
    for (const why of [...this.#whyNotNext(seal), ...(this.#before ? [] : whyNotFirst(seal))]) found(why);
    const { closingCents, earlier } = this.#judgeEntries(seal, found);
    if (seal.computed !== seal.hash) found(`${nameOf(seal)} was changed: it does not have the hash it says.`);
    this.#judgeMonth(seal, earlier, found);
    if (this.#before === undefined) this.#first = seal.first;
    this.#seals += 1;
    this.#before = { ...range, hash: seal.hash, epoch: seal.epoch, closingCents };
    if (this.remembersSeals) this.#index.add(seal, closingCents);
  }

  root(root: Root, path: readonly string[]): void {
    this.#root = root;
    const { wallet } = this.#head;
    const { last = 0, hash = noHash, epoch = 0 } = this.#before ?? {};
    if (treeOf(wallet, last, hash, path) !== root.tree) {
      const what = last === 0 ? 'that you have no entries' : `seal ${this.#lastRange()}`;
      this.#find({ message: `The path does not lead from ${what} to the tree of root ${root.number}.` });
    }
    const why = faultOf(root);
    if (why !== undefined) this.#find({ message: why });
    const { month } = this.#head;
    if (!isMadeAfter(root, month)) {
      this.#find({
        message: `Root ${root.number} is of ${root.night}, when ${month} was not over: it does not cover that month.`,
      });
    }
    if (root.epoch < epoch) {
      this.#find({ message: `Root ${root.number} has a lower epoch than seal ${this.#lastRange()}.` });
    }
  }

  result(): Omit<Judged, 'file' | 'isMalformed'> {
    if (this.#root === undefined) throw new Error('A proof without a root was read to its end.');
    const proof = {
      ...{ head: this.#head, seals: this.#seals, first: this.#first, last: this.#before?.last ?? 0 },
      earliestMs: this.#before && this.#earliestMs,
      latestMs: this.#before && this.#latestMs,
      ...{ closingCents: this.#before?.closingCents ?? 0, root: this.#root, index: this.#index },
    };
    return { finding: this.#finding, findings: this.#findings, proof };
  }

  #find(finding: Finding): void {
    this.#finding ??= finding;
    this.#findings += 1;
  }

  #lastRange(): string {
    return this.#before === undefined ? '' : `${this.#before.first}-${this.#before.last}`;
  }

  /** Where a seal does not follow the one before it. */
  #whyNotNext(seal: Seal): string[] {
    const name = nameOf(seal);
    const whys =
      seal.wallet === this.#head.wallet ? [] : [`${name} names another wallet than the file does.`];
    const before = this.#before;
    if (before === undefined) return whys;
    const that = `seal ${this.#lastRange()}`;
    if (seal.first !== before.last + 1) whys.push(`${name} should begin with entry ${before.last + 1}.`);
    if (seal.epoch < before.epoch) whys.push(`${name} has a lower epoch than ${that}.`);
    if (seal.hashBefore !== before.hash) whys.push(`${name} does not hold the hash of ${that} before it.`);
    if (seal.centsBefore !== before.closingCents) {
      whys.push(
        `${name} begins with ${usd(seal.centsBefore)}, but ${that} ends with ${usd(before.closingCents)}.`,
      );
    }
    return whys;
  }

  /** Adds up the entries. @returns the balance after them, and the first one of before the month */
  #judgeEntries(
    seal: Seal,
    found: (message: string, entry: number) => void,
  ): { readonly closingCents: number; readonly earlier: number | undefined } {
    let ms = seal.instant;
    let cents = seal.centsBefore;
    let earlier: number | undefined;
    for (const [index, amount] of seal.amounts.entries()) {
      const entry = seal.first + index;
      ms += seal.gaps[index] ?? 0;
      cents += amount;
      const why = whyNotEntry(ms, cents);
      if (why !== undefined) {
        found(`${nameOf(seal)} breaks at entry ${entry}: ${why}`, entry);
        break;
      }
      if (ms < this.#monthBeginsMs) earlier ??= entry;
      this.#earliestMs = Math.min(this.#earliestMs, ms);
      this.#latestMs = Math.max(this.#latestMs, ms);
    }
    return { closingCents: cents, earlier };
  }

  /**
   * The first seal holds the last entry before the month, unless it holds the first entry of all.
   * @param earlier an entry of the seal that was made before the month
   */
  #judgeMonth(
    seal: Seal,
    earlier: number | undefined,
    found: (message: string, entry: number) => void,
  ): void {
    const { month } = this.#head;
    if (this.#before === undefined && earlier === undefined && seal.first !== 1)
      found(`${nameOf(seal)} holds no entry from before ${month}: the file begins too late.`, seal.first);
  }
}

/** What the next seal is compared with. */
interface Before {
  readonly first: number;
  readonly last: number;
  readonly hash: string;
  readonly epoch: number;
  readonly closingCents: number;
}

function whyNotEntry(ms: number, cents: number): string | undefined {
  if (cents < 0) return `the balance would be ${usd(cents)}.`;
  if (cents > Number.MAX_SAFE_INTEGER) return 'the balance is greater than any that can be written.';
  return ms < 0 || ms > latestInstant ? 'its instant is outside of the calendar.' : undefined;
}

function whyNotFirst(seal: Seal): string[] {
  const name = nameOf(seal);
  if (seal.first !== 1) return seal.hashBefore === noHash ? [`${name} names no seal before it.`] : [];
  return [
    ...(seal.hashBefore === noHash ? [] : [`${name} names a seal before it, though it begins with entry 1.`]),
    ...(seal.centsBefore === 0
      ? []
      : [`${name} begins with ${usd(seal.centsBefore)}, though nothing came before it.`]),
  ];
}

function nameOf({ first, last }: Pick<Seal, 'first' | 'last'>): string {
  return `Seal ${first}-${last}`;
}

/** The tree that a path leads to from a wallet's newest seal. */
function treeOf(wallet: string, last: number, hash: string, path: readonly string[]): string {
  const place = digest(`place ${wallet}`).readBigUInt64BE();
  return path.reduce(
    (node, other, level) => {
      const isRight = ((place >> BigInt(level)) & 1n) === 1n;
      return digest(isRight ? `node ${other} ${node}` : `node ${node} ${other}`).toString('hex');
    },
    digest(`leaf ${wallet} ${last} ${hash}`).toString('hex'),
  );
}

function digest(line: string): Buffer {
  return createHash('sha256').update(`${line}\n`).digest();
}
