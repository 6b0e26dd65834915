import { createReadStream } from 'node:fs';

/** A line of a file, as it is read: the bytes hold only until the next one is asked for. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** With the line feed. */
  readonly bytes: Buffer;
  /** Without the line feed; a byte is a character. */
  readonly text: string;
  /** There are no more lines: the number is that of the line that would follow. */
  readonly isEnd: boolean;
}

/** What reads a file line by line: it is given each line that it waits for. */
export type Reading<T> = Generator<undefined, T, Line>;

/** A file that has another form than it should. */
export class Malformed extends Error {
  override readonly name = 'Malformed';

  constructor(
    readonly line: number,
    /** As a part of a sentence: "a root". */
    readonly expected: string,
  ) {
    super(`Line ${line}: expected ${expected}.`);
  }
}

/** Longer than any line of a thousand entries, and short enough for memory. */
const longestLine = 1 << 20;
const lineFeed = 10;

/**
 * Reads a file by its lines, of which only a few are in memory at a time.
 * @throws Malformed, also where a line has no end
 */
export async function readLines<T>(file: string, reading: Reading<T>, signal: AbortSignal): Promise<T> {
  const feeder = new Feeder(reading);
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 18, signal })) {
    feeder.take(chunk as Buffer);
  }
  return feeder.end();
}

/** Cuts chunks into lines, and gives them to a reading. */
class Feeder<T> {
  #rest: Buffer[] = [];
  #restLength = 0;
  #number = 1;
  #result: T | undefined;
  #isDone = false;

  constructor(private readonly reading: Reading<T>) {
    // The first step leads to where the reading waits for its first line.
    reading.next(noLine);
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const at = chunk.indexOf(lineFeed, from);
      if (at < 0) break;
      this.#give(this.#whole(chunk.subarray(from, at + 1)));
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  end(): T {
    if (this.#restLength > 0) throw new Malformed(this.#number, 'a line feed at the end of the line');
    this.#step({ number: this.#number, bytes: Buffer.alloc(0), text: '', isEnd: true });
    if (!this.#isDone) throw new Error('A reading went on after the end of its file.');
    return this.#result as T;
  }

  /** A line, of which the beginning may have come before. */
  #whole(end: Buffer): Buffer {
    if (this.#restLength === 0) return end;
    const whole = Buffer.concat([...this.#rest, end]);
    this.#rest = [];
    this.#restLength = 0;
    return whole;
  }

  #keep(beginning: Buffer): void {
    if (beginning.length === 0) return;
    this.#rest.push(beginning);
    this.#restLength += beginning.length;
    if (this.#restLength > longestLine) this.#refuse();
  }

  #give(bytes: Buffer): void {
    if (bytes.length > longestLine) this.#refuse();
    const text = bytes.toString('latin1', 0, bytes.length - 1);
    this.#step({ number: this.#number, bytes, text, isEnd: false });
    this.#number += 1;
  }

  #refuse(): never {
    throw new Malformed(this.#number, 'a line of at most 1 MiB');
  }

  #step(line: Line): void {
    const { done, value } = this.reading.next(line);
    if (done !== true) return;
    this.#isDone = true;
    this.#result = value;
  }
}

const noLine: Line = { number: 0, bytes: Buffer.alloc(0), text: '', isEnd: false };
