import type { Statements } from './kernel/statements.js';
import { willing } from './world/bank.js';
import type { World } from './world/world.js';

/** Kinds of faults that have no numbers, as they may strike anything: each is left out as a whole. */
const kinds = ['slow', 'cuts', 'calls', 'events', 'declines', 'upstreams', 'mailboxes'] as const;

/**
 * What is left out of a run. Acts of users and disturbances are counted, such as `user1.3` and `chaos.5`, and each draws
 * from a stream of its own: without one of them the others draw as before.
 */
export class Without {
  /** All that came up and could be left out, in the order in which it came up. */
  readonly met: string[] = [];
  readonly #left: ReadonlySet<string>;

  constructor(left: readonly string[]) {
    this.#left = new Set(left);
  }

  /** Notes that something comes up. @returns whether it is done */
  does(what: string): boolean {
    this.met.push(what);
    return !this.#left.has(what);
  }

  /** Takes those kinds of faults away that are left out. */
  calm({ world, statements }: { world: World; statements: Statements }): void {
    const calms: Record<(typeof kinds)[number], () => void> = {
      slow: () => (statements.isNeverSlow = true),
      cuts: () => (statements.isNeverCut = true),
      calls: () => (world.outside.faults = {}),
      events: () => (world.eventFaults = none(world.eventFaults)),
      declines: () => (world.processor.bank.faults = willing),
      mailboxes: () => world.refusing.clear(),
      upstreams: () => {
        for (const upstream of world.upstreams) upstream.faults = none(upstream.faults);
      },
    };
    for (const kind of kinds) if (!this.does(kind)) calms[kind]();
  }
}

function none<T extends object>(faults: T): T {
  return Object.fromEntries(Object.keys(faults).map((name) => [name, 0])) as T;
}
