import { Malformed, type Line } from './lines.js';

/** The hash that stands where there is none before. */
export const noHash = '0'.repeat(64);

const hashForm = /^[0-9a-f]{64}$/;
const signatureForm = /^[0-9a-f]{128}$/;
const walletForm = /^[0-9a-f]{32}$/;
const idForm = /^[\x21-\x7e]+$/;
const numberForm = /^(?:0|-?[1-9]\d{0,15})$/;
const monthForm = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const nightForm = /^\d{4}-\d\d-\d\d$/;

/** Tells whether a text is a SHA-256 hash as the files write it. */
export function isHash(text: string): boolean {
  return hashForm.test(text);
}

/**
 * The fields of a line after the word that it begins with.
 * @param shape how the line looks, for whoever reads that it looks otherwise
 */
export function fieldsOf(line: Line, word: string, shape: string, count?: number): string[] {
  const fields = line.text.split(' ');
  if (fields.shift() !== word) throw new Malformed(line.number, `the line "${word} ${shape}"`);
  if (count !== undefined && fields.length !== count) {
    throw new Malformed(line.number, `${fieldCount(count)} after "${word}" (${shape}), not ${fields.length}`);
  }
  return fields;
}

function fieldCount(count: number): string {
  return count === 1 ? '1 field' : `${count} fields`;
}

/** Reads the fields of one line, each by its name. */
export class FieldReader {
  #next = 0;

  constructor(
    private readonly line: Line,
    private readonly fields: readonly string[],
  ) {}

  /** The version of the form; this command knows the first one. */
  version(): void {
    this.#take('version 1 (a newer file needs a newer gpu)', (text) => text === '1');
  }

  wallet(): string {
    return this.#take('a wallet of 32 digits 0-9 a-f', (text) => walletForm.test(text));
  }

  hash(what: string): string {
    return this.#take(`${what}: 64 digits 0-9 a-f`, (text) => hashForm.test(text));
  }

  signature(): string {
    return this.#take('a signature of 128 digits 0-9 a-f', (text) => signatureForm.test(text));
  }

  month(): string {
    return this.#take('a month such as 2026-10', (text) => monthForm.test(text));
  }

  night(): string {
    return this.#take('a night such as 2026-11-02', isDay);
  }

  /** One of some words. */
  oneOf(words: readonly string[]): string {
    return this.#take(`one of ${words.join(', ')}`, (text) => words.includes(text));
  }

  /** An id, or `-`. */
  id(what: string): string {
    return this.#take(`${what}: an id without spaces, or -`, (text) => idForm.test(text));
  }

  /** A hash, or `-`. */
  hashOrNone(what: string): string {
    return this.#take(`${what}: 64 digits 0-9 a-f, or -`, (text) => text === '-' || hashForm.test(text));
  }

  whole(what: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
    const text = this.fields[this.#next] ?? '';
    this.#next += 1;
    return wholeNumber(this.line, text, what, least, most);
  }

  #take(expected: string, isRight: (text: string) => boolean): string {
    const text = this.fields[this.#next] ?? '';
    this.#next += 1;
    if (!isRight(text)) throw new Malformed(this.line.number, expected);
    return text;
  }
}

function isDay(text: string): boolean {
  if (!nightForm.test(text)) return false;
  const at = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/**
 * Reads a whole number as the files write it: no zeros before it, no plus, no -0.
 * @param least neither it nor `most` is beyond what a number holds exactly
 */
export function wholeNumber(line: Line, text: string, what: string, least: number, most: number): number {
  const value = numberForm.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range =
    most < Number.MAX_SAFE_INTEGER
      ? ` from ${least} to ${most}`
      : least > -Number.MAX_SAFE_INTEGER
        ? ` from ${least} on`
        : '';
  throw new Malformed(line.number, `${what}: a whole number${range}, without zeros or a plus before it`);
}

/** Reads a line that has a whole number for each entry. */
export function numbersOf(
  line: Line,
  word: string,
  count: number,
  { shape, what, least, most }: NumberRange,
): number[] {
  return fieldsOf(line, word, shape, count).map((text) => wholeNumber(line, text, what, least, most));
}

/** What the numbers of a line are, and between which ones they lie. */
export interface NumberRange {
  readonly shape: string;
  readonly what: string;
  readonly least: number;
  readonly most: number;
}

/** Any amount, and any gap. */
export const anyNumber = { least: -Number.MAX_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER };

/** Reads the ids of a line, where `-` alone says that there are none. */
export function idsOf(line: Line, word: string, shape: string): string[] {
  const fields = fieldsOf(line, word, shape);
  if (fields.length === 1 && fields[0] === '-') return [];
  const isRight = fields.length > 0 && fields.every((text) => idForm.test(text) && text !== '-');
  if (!isRight) throw new Malformed(line.number, `"${word}" and ids without spaces, or - for none`);
  return fields;
}
