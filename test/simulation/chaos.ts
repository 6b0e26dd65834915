import type { Chance } from './kernel/chance.js';
import type { SimProcess } from './kernel/scope.js';
import type { Kernel } from './kernel/kernel.js';
import type { StatementFaults, Statements } from './kernel/statements.js';
import type { Service } from './service.js';
import type { SimulatedServer } from './temporal/server.js';
import type { World } from './world/world.js';

/** The most statements that a process begins until a crash that was drawn for it comes. */
const CRASH_WITHIN = 60;

/** Disturbs the service by the seed, until it is told to stop. */
export class Chaos implements StatementFaults {
  readonly counts = { disturbances: 0 };
  #isOver = false;
  #armed: { process: SimProcess; left: number; when: 'before' | 'after' } | undefined;

  constructor(
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      readonly statements: Statements;
      readonly service: Service;
      readonly server: SimulatedServer;
      readonly world: World;
      /** The mean pause between two disturbances, in milliseconds. */
      readonly paceMs: number;
      /** Returns the stream of a disturbance, counted from 1; undefined: it is left out. */
      readonly disturbance: (no: number) => Chance | undefined;
    },
  ) {}

  begin(): void {
    const { world, statements } = this.parts;
    statements.faults = this;
    const calls = { lostRequest: 4, lostAnswer: 4, late: 10 };
    world.outside.faults = {
      temporal: { lostRequest: 2, lostAnswer: 2, late: 3 },
      ...{ processor: calls, north: calls, south: calls, mail: calls, machines: calls },
    };
    for (const upstream of world.upstreams) upstream.faults = { neverBoots: 30, isLost: 120, noCapacity: 60 };
    world.eventFaults = { lost: 50, doubled: 100, delayed: 100, veryLate: 30, forged: 150 };
    world.processor.declines = 200;
    const fates = { refunds: 200, disputes: 200, warnings: 80 };
    world.processor.reversals.fates = { ...fates, pauseMs: 2 * this.parts.paceMs };
    this.#next();
  }

  /** Ends all faults. What they have left must mend itself. */
  end(): void {
    const { world, statements } = this.parts;
    this.#isOver = true;
    statements.faults = undefined;
    world.outside.faults = {};
    for (const upstream of world.upstreams) upstream.faults = { neverBoots: 0, isLost: 0, noCapacity: 0 };
    world.eventFaults = { lost: 0, doubled: 0, delayed: 0, veryLate: 0, forged: 0 };
    world.processor.reversals.end();
  }

  slowMs(): number {
    const { chance } = this.parts;
    return chance.perMille(30) ? chance.below(400) : 0;
  }

  cut(): 'before' | 'after' | undefined {
    const drawn = this.parts.chance.below(6_000);
    return drawn === 0 ? 'before' : drawn === 1 ? 'after' : undefined;
  }

  crashesAt(process: SimProcess): 'before' | 'after' | undefined {
    if (this.#armed?.process !== process) return undefined;
    this.#armed.left -= 1;
    if (this.#armed.left > 0) return undefined;
    const { when } = this.#armed;
    return when;
  }

  async crash(process: SimProcess): Promise<void> {
    this.#armed = undefined;
    await this.parts.service.crash(process);
  }

  #next(): void {
    const { kernel, chance } = this.parts;
    kernel.after(
      chance.pauseMs(this.parts.paceMs),
      'chaos',
      async () => {
        if (this.#isOver) return;
        this.counts.disturbances += 1;
        const own = this.parts.disturbance(this.counts.disturbances);
        if (own !== undefined) await this.#disturb(own);
        this.#next();
      },
      { scope: {} },
    );
  }

  async #disturb(chance: Chance): Promise<void> {
    const { service, server } = this.parts;
    const { processes } = service;
    switch (chance.below(4)) {
      case 0:
        if (processes.length > 0) await service.crash(chance.pick(processes));
        return;
      case 1:
      case 2:
        if (processes.length > 0) {
          const when = chance.pick(['before', 'after'] as const);
          this.#armed = { process: chance.pick(processes), left: 1 + chance.below(CRASH_WITHIN), when };
        }
        return;
      default:
        server.tasks.overlapOne();
    }
  }
}
