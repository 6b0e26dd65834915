import { createHash } from 'node:crypto';
import { anyNumber, FieldReader, fieldsOf, idsOf, numbersOf, type NumberRange } from './fields.js';
import { Malformed, type Line, type Reading } from './lines.js';

/** The first line of a proof. */
export interface Head {
  readonly wallet: string;
  /** "2026-10" */
  readonly month: string;
}

/** A run of a wallet's entries. */
export interface Seal {
  readonly wallet: string;
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
  readonly centsBefore: number;
  /** Of the first entry, in milliseconds since 1970. */
  readonly instant: number;
  readonly hashBefore: string;
  readonly gaps: readonly number[];
  readonly amounts: readonly number[];
  /** The hash that it says. */
  readonly hash: string;
  /** The hash of its bytes. */
  readonly computed: string;
}

/** What one night's newest seals became. */
export interface Root {
  /** Of the file's line that says it. */
  readonly line: number;
  readonly number: number;
  readonly epoch: number;
  /** "2026-11-02" */
  readonly night: string;
  readonly tree: string;
  readonly hashBefore: string;
  readonly key: string;
  readonly endorsed: string | undefined;
  readonly signature: string;
  /** What is signed and hashed, the line feed included. */
  readonly text: string;
  readonly hash: string;
}

/** Is told the parts of a proof as they are read. */
export interface ProofListener {
  head(head: Head): void;
  seal(seal: Seal): void;
  root(root: Root, path: readonly string[]): void;
}

const mostEntries = 1_000;
const pathLength = 64;
const keptTypes = ['processor_topup', 'auto_topup', 'refund', 'adjustment'];
const shapes = {
  proof: '1 <wallet> <month>',
  seal: '1 <wallet> <epoch> <first number> <last number> <cents before> <instant> <hash before>',
  kept: '<number> <type> <rental> <charge> <cause> <note>',
  root: '1 <number> <epoch> <night> <tree> <hash before> <key>',
};
const gapRange: NumberRange = { shape: '<ms> …', what: 'a gap', ...anyNumber };
const amountRange: NumberRange = { shape: '<cents> …', what: 'an amount', ...anyNumber };

/** Reads a proof. @throws Malformed */
export function* readProof(listener: ProofListener): Reading<undefined> {
  const headLine = yield;
  const head = new FieldReader(headLine, fieldsOf(headLine, 'proof', shapes.proof, 3));
  head.version();
  listener.head({ wallet: head.wallet(), month: head.month() });
  let line = yield;
  while (line.text.startsWith('seal ')) {
    listener.seal(yield* readSeal(line));
    line = yield;
  }
  if (!line.text.startsWith('root ')) throw new Malformed(line.number, 'a line "seal …" or "root …"');
  const root = yield* readRoot(line);
  listener.root(root, hashesOf(yield));
  const end = yield;
  if (!end.isEnd) throw new Malformed(end.number, 'the end of the file');
  return undefined;
}

function hashesOf(line: Line): string[] {
  const hashes = fieldsOf(line, 'path', '<hash> …', pathLength);
  const fields = new FieldReader(line, hashes);
  return hashes.map((_, index) => fields.hash(`hash ${index + 1} of the path`));
}

function* readSeal(headLine: Line): Reading<Seal> {
  const hash = createHash('sha256');
  const hashed = (line: Line): Line => {
    hash.update(line.bytes);
    return line;
  };
  const head = readSealHead(hashed(headLine));
  const count = head.last - head.first + 1;
  const gapLine = hashed(yield);
  const gaps = numbersOf(gapLine, 'gaps', count, gapRange);
  if (gaps[0] !== 0) throw new Malformed(gapLine.number, '0 as the first gap');
  const amounts = numbersOf(hashed(yield), 'amounts', count, amountRange);
  const rentals = idsOf(hashed(yield), 'rentals', '<id> …');
  const places = numbersOf(hashed(yield), 'places', count, {
    ...{ shape: '<place> …', what: 'a place of the list of rentals, or 0' },
    ...{ least: 0, most: rentals.length },
  });
  for (const [index, place] of places.entries()) {
    if (place === 0) checkKept(hashed(yield), head.first + index);
  }
  const hashLine = yield;
  const said = new FieldReader(hashLine, fieldsOf(hashLine, 'hash', '<hash>', 1)).hash('a hash');
  return { ...head, gaps, amounts, hash: said, computed: hash.digest('hex') };
}

type SealHead = Omit<Seal, 'gaps' | 'amounts' | 'hash' | 'computed'>;

function readSealHead(line: Line): SealHead {
  const fields = new FieldReader(line, fieldsOf(line, 'seal', shapes.seal, 8));
  fields.version();
  const wallet = fields.wallet();
  const epoch = fields.whole('an epoch', 1);
  const first = fields.whole('the first number', 1);
  return {
    ...{ wallet, epoch, first },
    last: fields.whole('the last number', first, first + mostEntries - 1),
    centsBefore: fields.whole('the cents before', 0),
    instant: fields.whole('an instant', 0, latestInstant),
    hashBefore: fields.hash('the hash before'),
  };
}

/** No calendar of computers goes further. */
export const latestInstant = 8_640_000_000_000_000;

/** The entry that a line tells is judged by its hash alone; its form is checked. */
function checkKept(line: Line, number: number): void {
  const fields = new FieldReader(line, fieldsOf(line, 'kept', shapes.kept, 6));
  if (fields.whole('the number of the entry', 1) !== number) {
    throw new Malformed(line.number, `the line "kept" of entry ${number}`);
  }
  fields.oneOf(keptTypes);
  for (const what of ['the rental', 'the charge', 'the cause']) fields.id(what);
  fields.hashOrNone('the note');
}

/** Reads the lines of a root; those of its path are not among them. */
export function* readRoot(line: Line): Reading<Root> {
  const fields = new FieldReader(line, fieldsOf(line, 'root', shapes.root, 7));
  fields.version();
  const said = {
    number: fields.whole('the number of a root', 1),
    epoch: fields.whole('an epoch', 1),
    night: fields.night(),
    tree: fields.hash('a tree'),
    hashBefore: fields.hash('the hash before'),
    key: fields.hash('a key'),
  };
  const text = `${line.text}\n`;
  let next = yield;
  let endorsed: string | undefined;
  if (next.text.startsWith('endorsed ')) {
    endorsed = signatureOf(next, 'endorsed');
    next = yield;
  }
  const signature = signatureOf(next, 'signature');
  const hash = createHash('sha256').update(text).digest('hex');
  return { line: line.number, ...said, endorsed, signature, text, hash };
}

function signatureOf(line: Line, word: string): string {
  return new FieldReader(line, fieldsOf(line, word, '<signature>', 1)).signature();
}
