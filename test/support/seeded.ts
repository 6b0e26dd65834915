import fc from 'fast-check';

/** Repeatable random choices: a fault run prints its seed, and FAULT_SEED=… repeats it. */
export interface Chances {
  readonly seed: number;
  /** A whole number from 0 up to, but not including, n. */
  below(n: number): number;
}

/** Takes the seed from FAULT_SEED, or a new one, and prints it. */
export function takeChances(what: string): Chances {
  const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`    ${what}: FAULT_SEED=${seed}\n`);
  const numbers = fc.sample(fc.nat(2 ** 31 - 1), { seed, numRuns: 10_000 });
  const state = { taken: 0 };
  return {
    seed,
    below: (n) => {
      const number = numbers[state.taken % numbers.length] ?? 0;
      state.taken += 1;
      return number % n;
    },
  };
}
