import { repeatBy, runApart, type Wanted } from './campaign.js';

/** What a run came to: the rule that it broke, and all that could be left out of it. */
export interface Tried {
  readonly violations: readonly string[];
  readonly met: readonly string[];
}

interface Shrunk {
  readonly shortest: Wanted;
  /** undefined: the run broke no rule */
  readonly violation: string | undefined;
}

/** Real milliseconds after which a run hangs. */
const RUN_LIMIT_MS = 30 * 60_000;

/**
 * Looks for the shortest run that still breaks the rule that a run breaks: with fewer users, fewer days and acts, without
 * faults, and then without single acts and disturbances, until nothing more can be left out.
 * @param write is told of each run that is shorter and still breaks it
 */
export async function shrink(
  wanted: Wanted,
  write: (line: string) => void,
  attempt: (wanted: Wanted) => Promise<Tried> = runOnce,
): Promise<Shrunk> {
  const first = await attempt(wanted);
  const [violation] = first.violations;
  if (violation === undefined) return { shortest: wanted, violation };
  const search = new Search(wanted, first, ruleOf(violation), { write, attempt });
  while (await search.shape());
  await search.parts();
  return { shortest: search.best, violation: search.violation };
}

class Search {
  violation: string;
  #met: readonly string[];

  constructor(
    public best: Wanted,
    first: Tried,
    private readonly rule: string,
    private readonly by: {
      readonly write: (line: string) => void;
      readonly attempt: (wanted: Wanted) => Promise<Tried>;
    },
  ) {
    this.violation = first.violations[0] ?? '';
    this.#met = first.met;
  }

  /** Tries runs of a smaller shape. @returns whether one still breaks the rule */
  async shape(): Promise<boolean> {
    const { days, users, acts, isDisturbed } = this.best;
    const smaller: Partial<Wanted>[] = [
      ...(isDisturbed ? [{ isDisturbed: false }] : []),
      ...(users > 1 ? [{ users: 1 }, { users: users - 1 }] : []),
      // The pace stays, so that what is left happens as before.
      ...(acts > 1
        ? [
            { acts: acts / 2, days: days / 2 },
            { acts: acts * 0.75, days: days * 0.75 },
          ]
        : []),
    ];
    for (const change of smaller) if (await this.#try({ ...this.best, ...change })) return true;
    return false;
  }

  /** Leaves out halves, quarters and single parts of what came up, until none can be left out. */
  async parts(): Promise<void> {
    let size = Math.ceil(this.#met.length / 2);
    for (;;) {
      const isShorter = await this.#withoutPartsOf(size);
      if (size === 1 && !isShorter) return;
      size = Math.max(1, Math.floor(size / 2));
    }
  }

  async #withoutPartsOf(size: number): Promise<boolean> {
    const { without: before = [] } = this.best;
    const left = this.#met.filter((part) => !before.includes(part));
    let isShorter = false;
    for (let from = 0; from < left.length; from += size) {
      const { without = [] } = this.best;
      const more = left.slice(from, from + size).filter((part) => !without.includes(part));
      if (more.length === 0) continue;
      if (await this.#try({ ...this.best, without: [...without, ...more] })) isShorter = true;
    }
    return isShorter;
  }

  async #try(wanted: Wanted): Promise<boolean> {
    const { violations, met } = await this.by.attempt(wanted);
    const violation = violations.find((words) => ruleOf(words) === this.rule);
    if (violation === undefined) return false;
    this.best = wanted;
    this.violation = violation;
    this.#met = met;
    this.by.write(`still: ${repeatBy(wanted)}`);
    return true;
  }
}

async function runOnce(wanted: Wanted): Promise<Tried> {
  try {
    return await runApart(wanted, RUN_LIMIT_MS);
  } catch (error) {
    return { violations: [error instanceof Error ? error.message : String(error)], met: [] };
  }
}

/** The words of a violation without what differs from run to run: ids, amounts and instants. */
function ruleOf(violation: string): string {
  return violation.replaceAll(/\b[a-z]+_[0-9A-Za-z]{10,}\b/g, '*').replaceAll(/\d[\d.:TZ-]*/g, '#');
}
