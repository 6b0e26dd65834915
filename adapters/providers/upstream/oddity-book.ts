import type { Oddity } from '../provider.js';

export interface CountedOddity extends Oddity {
  readonly times: number;
}

/** Counts what adapters skip in answers, until it is written down: a catalog of thousands may have many. */
export interface OddityBook {
  note(code: string, oddity: Oddity): void;
  /** Returns what was noted of an upstream since the last time. */
  take(code: string): CountedOddity[];
}

/** The most that is noted between two takes; the rest is a repetition, or the fault of a broken upstream. */
const MAX_NOTED = 1_000;
const MAX_SUBJECT = 200;

export function createOddityBook(): OddityBook {
  const noted = new Map<string, Map<string, CountedOddity>>();
  return {
    note(code, { kind, subject: said }) {
      // A cut may leave half of a character, which no row holds.
      const subject = said.slice(0, MAX_SUBJECT).replace(/\p{Cs}/u, '');
      const ofCode = noted.get(code) ?? new Map<string, CountedOddity>();
      noted.set(code, ofCode);
      const key = `${kind} ${subject}`;
      const times = ofCode.get(key)?.times ?? 0;
      if (times > 0 || ofCode.size < MAX_NOTED) ofCode.set(key, { kind, subject, times: times + 1 });
    },
    take(code) {
      const taken = [...(noted.get(code)?.values() ?? [])];
      noted.delete(code);
      return taken;
    },
  };
}
