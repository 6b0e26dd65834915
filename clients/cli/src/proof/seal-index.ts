import { noHash } from './fields.js';
import type { Seal } from './parse.js';

/** A seal as the index remembers it. */
export interface IndexedSeal {
  readonly first: number;
  readonly last: number;
  readonly epoch: number;
  readonly hash: string;
  readonly closingCents: number;
}

type Beginning = Pick<Seal, 'first' | 'hashBefore' | 'centsBefore'>;

/** Last number, epoch, closing cents. */
const fields = 3;
const hashBytes = 32;

/** The seals of a file that follow each other, in so little memory that many files fit: 56 bytes each. */
export class SealIndex {
  #numbers = new Float64Array(fields * 64);
  #hashes = Buffer.alloc(hashBytes * 64);
  #count = 0;
  #beginning: Beginning = { first: 0, hashBefore: noHash, centsBefore: 0 };

  get count(): number {
    return this.#count;
  }

  /** What the first seal says of what was before it; its number is 0 where there are no seals. */
  get beginning(): Beginning {
    return this.#beginning;
  }

  add({ first, last, epoch, hash, hashBefore, centsBefore }: Seal, closingCents: number): void {
    if (this.#count * hashBytes === this.#hashes.length) this.#grow();
    if (this.#count === 0) this.#beginning = { first, hashBefore, centsBefore };
    this.#numbers.set([last, epoch, closingCents], this.#count * fields);
    this.#hashes.write(hash, this.#count * hashBytes, 'hex');
    this.#count += 1;
  }

  /** @param place counted from 0 */
  at(place: number): IndexedSeal | undefined {
    if (place < 0 || place >= this.#count) return undefined;
    const [last = 0, epoch = 0, closingCents = 0] = this.#numbers.subarray(
      place * fields,
      (place + 1) * fields,
    );
    const hash = this.#hashes.toString('hex', place * hashBytes, (place + 1) * hashBytes);
    return { first: this.#firstOf(place), last, epoch, closingCents, hash };
  }

  /** The place of the seal that holds an entry. */
  placeOf(entry: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#numbers[middle * fields] ?? 0) < entry) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #firstOf(place: number): number {
    return place === 0 ? this.#beginning.first : (this.#numbers[(place - 1) * fields] ?? 0) + 1;
  }

  #grow(): void {
    const numbers = new Float64Array(this.#numbers.length * 2);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    this.#hashes = Buffer.concat([this.#hashes, Buffer.alloc(this.#hashes.length)]);
  }
}
