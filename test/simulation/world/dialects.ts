import type { TelemetryTold } from '../../../domain/machines/telemetry.js';
import type { SoftwareCapabilities } from '../../../domain/rentals/software.js';
import type { Chance } from '../kernel/chance.js';

/** What one of the real upstreams does otherwise than the others, as their published descriptions say. */
export interface Habits {
  readonly name: 'shadeform' | 'runpod' | 'lambda' | 'vast';
  /** The answer to a create tells what the machine costs; else a list does. */
  readonly tellsPrice: boolean;
  /** It ends a machine by itself at a date: the dead man's switch. */
  readonly endsBy: boolean;
  /** The smallest time between two creates, in milliseconds; an earlier one is refused. */
  readonly createEveryMs: number | undefined;
  /** Lists show a machine while it ends; else it is gone at once. */
  readonly showsEnding: boolean;
  /** A create that fails may have made a machine, which its answer names. */
  readonly failsWithMachine: boolean;
  /** What lists tell of the use of machines; undefined: nothing. */
  readonly telemetry: TelemetryTold | undefined;
  readonly software: SoftwareCapabilities | undefined;
  /** It gives the ports of machines other numbers, and its lists tell them. */
  readonly mapsPorts: boolean;
}

const software: SoftwareCapabilities = {
  ...{ image: 'machine', registryAuth: true, startScript: false, argsMaxChars: 4_096 },
  ...{ envValueMaxChars: 32_768, envMaxChars: 131_072, httpPorts: 10, tcpPorts: 10, keepsClosed: true },
  diskMaxGb: 200,
};
const usual = {
  ...{ tellsPrice: false, endsBy: false, createEveryMs: undefined, showsEnding: false },
  ...{ failsWithMachine: false, telemetry: undefined, software: undefined, mapsPorts: false },
} as const;
const use: TelemetryTold = { cpu: true, network: false, sessions: false };

export const dialects = {
  shadeform: {
    ...{ ...usual, name: 'shadeform', endsBy: true, showsEnding: true },
    software: { ...software, image: 'container', startScript: true, diskMaxGb: 0 },
  },
  runpod: { ...usual, name: 'runpod', tellsPrice: true, telemetry: use, software, mapsPorts: true },
  lambda: { ...usual, name: 'lambda', createEveryMs: 12_000, showsEnding: true },
  vast: { ...usual, name: 'vast', createEveryMs: 4_500, failsWithMachine: true, telemetry: use },
} as const satisfies Record<Habits['name'], Habits>;

/** Two that are not alike; one of them tells the use of machines, and one takes own software. */
const pairs = [
  ['shadeform', 'runpod'],
  ['runpod', 'lambda'],
  ['shadeform', 'vast'],
  ['runpod', 'vast'],
] as const;

/** Draws how the two upstreams of a run behave. */
export function drawHabits(chance: Chance): readonly [Habits, Habits] {
  const [one, other] = chance.pick(pairs);
  return [dialects[one], dialects[other]];
}
