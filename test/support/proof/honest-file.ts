import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** An entry of a ledger: a charge of a rental, or what a line of its own tells. */
export interface Entry {
  readonly ms: number;
  readonly cents: number;
  readonly rental?: string;
  /** Type, rental, charge, cause and note. */
  readonly kept?: string;
}

/** What a seal says, apart from its own hash. */
export interface SealParts {
  wallet: string;
  epoch: number;
  first: number;
  last: number;
  centsBefore: number;
  instant: number;
  /** Undefined: that of the seal before it. */
  hashBefore: string | undefined;
  gaps: number[];
  amounts: number[];
  rentals: string[];
  places: number[];
  kept: string[];
}

/** A seal as it stands in a file. */
export interface SealText {
  readonly text: string;
  readonly hash: string;
}

/** A root with its lines, and the path that leads to it. */
export interface MadeRoot {
  readonly number: number;
  readonly hash: string;
  /** The lines of a list of roots. */
  readonly lines: string;
  readonly path: readonly string[];
}

export const zeros = '0'.repeat(64);

/** The SHA-256 of a text. */
export const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

/** As many random hexadecimal digits. */
export const hex = (digits: number): string => randomBytes(digits / 2).toString('hex');

/** Packs entries into seals of these sizes; the last size goes on. */
export function pack(
  wallet: string,
  entries: readonly Entry[],
  sizes: readonly number[],
  epochOf: (seal: number) => number = () => 1,
): SealParts[] {
  const parts: SealParts[] = [];
  let cents = 0;
  for (let from = 0; from < entries.length;) {
    const size = sizes[Math.min(parts.length, sizes.length - 1)]!;
    const run = entries.slice(from, from + size);
    const rentals = [...new Set(run.flatMap(({ rental }) => rental ?? []))];
    parts.push({
      ...{ wallet, epoch: epochOf(parts.length), first: from + 1, last: from + run.length },
      ...{ centsBefore: cents, instant: run[0]!.ms, hashBefore: undefined },
      gaps: run.map(({ ms }, index) => (index === 0 ? 0 : ms - run[index - 1]!.ms)),
      amounts: run.map((entry) => entry.cents),
      rentals,
      places: run.map(({ rental }) => (rental === undefined ? 0 : rentals.indexOf(rental) + 1)),
      kept: run.flatMap(({ rental, kept }, index) =>
        rental === undefined ? [`kept ${from + index + 1} ${kept ?? 'adjustment - - - -'}`] : [],
      ),
    });
    for (const entry of run) cents += entry.cents;
    from += run.length;
  }
  return parts;
}

/** Writes one seal. */
export function writeSeal(parts: SealParts, hashBefore: string): SealText {
  const { wallet, epoch, first, last, centsBefore, instant, gaps, amounts, rentals, places, kept } = parts;
  const before = parts.hashBefore ?? hashBefore;
  const text = [
    `seal 1 ${wallet} ${epoch} ${first} ${last} ${centsBefore} ${instant} ${before}`,
    `gaps ${gaps.join(' ')}`,
    `amounts ${amounts.join(' ')}`,
    `rentals ${rentals.length === 0 ? '-' : rentals.join(' ')}`,
    `places ${places.join(' ')}`,
    ...kept,
    '',
  ].join('\n');
  const hash = sha(text);
  return { text: `${text}hash ${hash}\n`, hash };
}

/** Writes seals that hold each other's hashes. */
export function writeSeals(all: readonly SealParts[]): SealText[] {
  let before = zeros;
  return all.map((parts) => {
    const seal = writeSeal(parts, before);
    before = seal.hash;
    return seal;
  });
}

/** The place of the seal by which a month's file begins: it holds the last entry before the month, or the first of all. */
export function beginningOf(month: string, parts: readonly SealParts[]): number {
  const begin = Date.parse(`${month}-01T00:00:00Z`);
  const holdsEarlier = ({ instant, gaps }: SealParts): boolean => {
    let ms = instant;
    return gaps.some((gap) => (ms += gap) < begin);
  };
  return Math.max(0, parts.findLastIndex(holdsEarlier));
}

/** The nights of a service: each root follows the one before it. */
export class Nights {
  #number: number;
  #before: string;
  #keys = generateKeyPairSync('ed25519');
  #keyBefore: KeyObject | undefined;

  constructor(
    firstNumber = 1,
    public epoch = 1,
    before = firstNumber === 1 ? zeros : hex(64),
  ) {
    this.#number = firstNumber;
    this.#before = before;
  }

  /** From the next root on, another key signs; the one before endorses it. */
  changeKey(): void {
    this.#keyBefore = this.#keys.privateKey;
    this.#keys = generateKeyPairSync('ed25519');
  }

  /** Another service that goes on from here, and may tell another story. */
  fork(): Nights {
    const other = new Nights(this.#number, this.epoch, this.#before);
    other.#keys = this.#keys;
    return other;
  }

  /** Makes the next night's root over a wallet's newest seal. */
  next(wallet: string, last: number, hash: string): MadeRoot {
    const path = Array.from({ length: 64 }, () => hex(64));
    const key = this.#keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
    const number = this.#number;
    const night = new Date(Date.UTC(2030, 0, 1) + number * 86_400_000).toISOString().slice(0, 10);
    const tree = climb(wallet, last, hash, path);
    const line = `root 1 ${number} ${this.epoch} ${night} ${tree} ${this.#before} ${key}\n`;
    const endorsed =
      this.#keyBefore === undefined ? '' : `endorsed ${signature(this.#keyBefore, `key ${key}\n`)}\n`;
    const lines = `${line}${endorsed}signature ${signature(this.#keys.privateKey, line)}\n`;
    this.#number += 1;
    this.#before = sha(line);
    this.#keyBefore = undefined;
    return { number, hash: this.#before, lines, path };
  }
}

function signature(key: KeyObject, text: string): string {
  return sign(null, Buffer.from(text), key).toString('hex');
}

/** The way up from a wallet's leaf; a place's bits are read from the end of its binary digits. */
function climb(wallet: string, last: number, hash: string, path: readonly string[]): string {
  const place = BigInt(`0x${sha(`place ${wallet}\n`).slice(0, 16)}`);
  const bits = Array.from(place.toString(2).padStart(64, '0')).toReversed();
  let node = sha(`leaf ${wallet} ${last} ${hash}\n`);
  for (const [level, bit] of bits.entries()) {
    const pair = bit === '1' ? [path[level], node] : [node, path[level]];
    node = sha(`node ${pair.join(' ')}\n`);
  }
  return node;
}

/** Writes a month's file. */
export function writeProof(
  wallet: string,
  month: string,
  seals: readonly SealText[],
  root: MadeRoot,
): string {
  const parts = seals.map(({ text }) => text).join('');
  return `proof 1 ${wallet} ${month}\n${parts}${root.lines}path ${root.path.join(' ')}\n`;
}

/** A wallet with its seals, of which files of months are written. */
export class Ledger {
  constructor(
    readonly wallet: string,
    readonly parts: readonly SealParts[],
    readonly seals: readonly SealText[] = writeSeals(parts),
  ) {}

  static of(entries: readonly Entry[], sizes: readonly number[], epochOf?: (seal: number) => number): Ledger {
    const wallet = hex(32);
    return new Ledger(wallet, pack(wallet, entries, sizes, epochOf));
  }

  /** A night over the first seals; default: all. */
  root(nights: Nights, count = this.seals.length): MadeRoot {
    return nights.next(this.wallet, this.parts[count - 1]?.last ?? 0, this.seals[count - 1]?.hash ?? zeros);
  }

  /** The file of a month whose root covers the first seals. */
  file(month: string, root: MadeRoot, count = this.seals.length): string {
    const begin = beginningOf(month, this.parts.slice(0, count));
    return writeProof(this.wallet, month, this.seals.slice(begin, count), root);
  }

  /** The same past, with one seal told otherwise, and all later hashes made to fit. */
  changed(seal: number, change: (parts: SealParts) => void): Ledger {
    const parts = structuredClone(this.parts) as SealParts[];
    change(parts[seal]!);
    return new Ledger(this.wallet, parts);
  }
}

/** A ledger of some months: an entry each day, of which every seventh is kept and every eleventh sets the clock back. */
export function someMonths(count = 120, sizes: readonly number[] = [7, 10, 1, 13]): Ledger {
  const begin = Date.UTC(2026, 7, 3);
  const entries = Array.from({ length: count }, (_, index): Entry => {
    const ms = begin + index * 86_400_000 - (index % 11 === 10 ? 86_450_000 : 0);
    if (index % 7 === 0) return { ms, cents: 5_000, kept: keptOf(index) };
    return { ms, cents: -(index % 5) * 97, rental: `rent_${'ABC'[index % 3] ?? ''}` };
  });
  return Ledger.of(entries, sizes);
}

function keptOf(index: number): string {
  if (index % 2 === 0) return `processor_topup - ch_${index} top_${index} -`;
  return `adjustment - - by_hand_${index} ${sha(String(index))}`;
}
