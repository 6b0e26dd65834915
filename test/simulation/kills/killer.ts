import type { Scope, SimProcess } from '../kernel/scope.js';
import type { StatementFaults } from '../kernel/statement-faults.js';
import type { Service } from '../service.js';
import type { KillPoint } from './points.js';

/** Kills the worker at one point, once, and does nothing else. */
export class Killer implements StatementFaults {
  #armed: KillPoint | undefined;

  constructor(private readonly service: Service) {}

  /** Whether the worker was killed at the last point. */
  get hasKilled(): boolean {
    return this.#armed === undefined;
  }

  arm(point: KillPoint): void {
    this.#armed = point;
  }

  /** An upstream has done what a worker asked for, which has not heard of it yet. */
  called(call: string, { duty, process }: Scope): void {
    if (this.#armed?.at === call && duty === this.#armed.duty && process !== undefined)
      void this.crash(process);
  }

  strikesAt({ kind }: SimProcess, duty: string, sql: string): 'before' | 'after' | undefined {
    const armed = this.#armed;
    if (kind !== 'worker' || armed?.duty !== duty || typeof armed.at === 'string') return undefined;
    return armed.at.test(sql) ? armed.when : undefined;
  }

  async crash(process: SimProcess): Promise<void> {
    this.#armed = undefined;
    await this.service.crash(process);
  }

  slowMs(): number {
    return 0;
  }

  breaks(): undefined {
    return undefined;
  }

  refuses(): undefined {
    return undefined;
  }

  unconnected(): undefined {
    return undefined;
  }
}
