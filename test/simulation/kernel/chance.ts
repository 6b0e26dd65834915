import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

const WARM_UP = 16;

/** Scatters numbers that are near to each other, so that streams with names alike draw unlike (the end of MurmurHash3). */
function scattered(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Repeatable chance. Each part of the simulation draws from a stream of its own, made of the seed and its name. */
export class Chance {
  readonly #generator: RandomGenerator;

  constructor(
    readonly seed: number,
    readonly name: string,
  ) {
    let hash = seed | 0;
    for (const char of name) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) | 0;
    this.#generator = xoroshiro128plus(scattered(hash));
    // The generator's first numbers follow its seed.
    for (let no = 0; no < WARM_UP; no += 1) this.below(2);
  }

  /** Returns a whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return uniformInt(this.#generator, least, most);
  }

  /** Returns a whole number from 0 up to, but not including, n. */
  below(n: number): number {
    return this.between(0, n - 1);
  }

  /** Tells whether a thing happens whose probability is given per thousand. */
  perMille(n: number): boolean {
    return this.below(1_000) < n;
  }

  /** @throws Error for an empty list */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Returns a number in [0, 1). */
  fraction(): number {
    return this.below(2 ** 30) / 2 ** 30;
  }

  /** Returns a whole number of milliseconds whose mean is given, and that is ten times it at most. */
  pauseMs(meanMs: number): number {
    return Math.round(Math.min(10, -Math.log(1 - this.fraction())) * meanMs);
  }
}
