import { repeatBy, runApart, type Wanted } from './campaign.js';
import { Reached } from './reach/reach.js';
import type { RunReport } from './run.js';
import { shapeOf } from './shapes.js';

const DAY_MS = 24 * 3_600_000;
/** Real milliseconds after which a run hangs: the longest shape takes some minutes on a busy machine. */
const RUN_LIMIT_MS = 30 * 60_000;

/** One seed in so many is run twice where nothing else is wanted. */
export const USUALLY_TWICE = 10;

/** Runs seeds side by side until the time is over, whatever they find, and says what came of them. */
export class ManyRuns {
  readonly reached = new Reached();
  readonly #total = new Map<string, number>();
  readonly #violations: string[] = [];
  #runs = 0;
  #rentalDays = 0;
  #userDays = 0;

  /**
   * @param write takes a line of the report
   * @param twiceEach one seed in so many is run twice, and must do the same, byte for byte
   */
  constructor(
    private readonly write: (line: string) => void,
    private readonly twiceEach: number,
  ) {}

  /**
   * @param draw draws the seed of the next run
   * @returns whether no run broke a rule or hung
   */
  async run({
    minutes,
    jobs,
    draw,
  }: {
    minutes: number;
    jobs: number;
    draw: () => number;
  }): Promise<boolean> {
    const endMs = Date.now() + minutes * 60_000;
    const work = async (): Promise<void> => {
      while (Date.now() < endMs) await this.#one(shapeOf(draw()));
    };
    await Promise.all(Array.from({ length: jobs }, work));
    this.#tell();
    return this.#violations.length === 0;
  }

  async #one(wanted: Wanted): Promise<void> {
    const begunMs = Date.now();
    const found = await this.#violationsOf(wanted);
    const seconds = Math.round((Date.now() - begunMs) / 1_000);
    this.#runs += 1;
    this.#userDays += wanted.days * wanted.users;
    this.write(`${found.length === 0 ? 'clean' : 'VIOLATED'} in ${seconds} s: ${repeatBy(wanted)}`);
    for (const violation of found) this.write(`  VIOLATION ${violation}`);
    if (found.length > 0) this.#violations.push(`${repeatBy(wanted)}: ${found[0] ?? ''}`);
  }

  async #violationsOf(wanted: Wanted): Promise<readonly string[]> {
    try {
      const report = await runApart(wanted, RUN_LIMIT_MS);
      this.#add(report);
      if (wanted.seed % this.twiceEach !== 0) return report.violations;
      const again = await runApart(wanted, RUN_LIMIT_MS);
      return [
        ...report.violations,
        ...(again.hash === report.hash ? [] : ['two runs of the seed have two traces']),
      ];
    } catch (error) {
      return [error instanceof Error ? error.message.slice(0, 1_000) : String(error)];
    }
  }

  #add({ counts, rentalMs, reach }: RunReport): void {
    this.reached.add(reach);
    this.#rentalDays += rentalMs / DAY_MS;
    for (const [name, count] of Object.entries(counts))
      this.#total.set(name, (this.#total.get(name) ?? 0) + count);
  }

  #tell(): void {
    const days = (n: number): string => n.toFixed(2);
    this.write('');
    this.write(
      `${this.#runs} runs, ${days(this.#rentalDays)} rental-days, ${days(this.#userDays)} users' days, ` +
        `${this.#violations.length} runs with violations`,
    );
    this.write([...this.#total].map(([name, count]) => `${name} ${count}`).join(', '));
    for (const violation of this.#violations) this.write(`VIOLATION ${violation}`);
  }
}
