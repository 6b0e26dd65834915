import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { TelemetrySource, TelemetryTold } from '../../domain/machines/telemetry.js';
import {
  idleGuardLimits,
  ignorable,
  lookedAt,
  toldOf,
  type AskedTelemetry,
  type IdleGuard,
  type Ignorable,
} from '../../domain/rentals/idle-guard.js';
import { joi, manyOf, nullable, wholeFrom, wordOf } from '../http/fields.js';
import {
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  whole,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { fieldRefusal } from '../http/validation.js';

const { minutesMin, minutesMax, gpuPercent, cpuPercent, networkBytesPerSecond, warnMs } = idleGuardLimits;

const minutesField = wholeFrom(minutesMin, minutesMax).description(
  `Stops the machine once it was idle for so many minutes: every GPU below ${gpuPercent}%, and the processors below ${cpuPercent}% and the network below ${networkBytesPerSecond / 1_000_000} MB/s where they are told. A reporter does not run again after a restart: the machine then counts as used. You are warned ${warnMs / 60_000} minutes ahead. Everything on its disk is lost.`,
);
const ignoresField = manyOf(wordOf(ignorable))
  .unique()
  .description(
    'What of its use does not count. Only a reporter tells who is logged in; elsewhere send ["sessions"].',
  );

/** The wish that the use of a machine is told (decision 181, "A reporter of use"). */
export const telemetryField = joi
  .boolean()
  .strict()
  .description(
    'Tells how much the machine is used, whoever provides it: where its provider doesn’t, a small script on the machine reports it each minute. stopWhenIdleMinutes asks for that as well.',
  );

/** The guard with which a rental is asked for (decision 167, "The idle guard"). */
export const guardFields = { stopWhenIdleMinutes: minutesField, idleIgnores: ignoresField };

/** The guard that a change asks for: null takes it away. */
export const changedGuard = { ...guardFields, stopWhenIdleMinutes: nullable(minutesField) };

interface Asked {
  readonly stopWhenIdleMinutes?: number | null | undefined;
  readonly idleIgnores?: readonly Ignorable[] | undefined;
}

/**
 * Reads the guard that is asked for.
 * @returns null where it is to be taken away, undefined where nothing is said of it
 * @throws Refusal validation_failed naming the field
 */
export function readGuard({
  stopWhenIdleMinutes: minutes,
  idleIgnores: ignores,
}: Asked): IdleGuard | null | undefined {
  if (ignores !== undefined && (minutes === undefined || minutes === null)) {
    throw fieldRefusal('idleIgnores', 'idleIgnores needs stopWhenIdleMinutes');
  }
  return minutes === undefined || minutes === null ? minutes : { minutes, ignores: [...(ignores ?? [])] };
}

const ignored = listOf(named('IdleIgnored', oneOf(ignorable)));

/** What a quote says of a guard. */
export const quotedGuard = named(
  'QuotedIdleGuard',
  object({
    minutes: whole,
    looksAt: {
      ...listOf(named('IdleLooksAt', oneOf(['gpu', 'cpu', 'network', 'sessions']))),
      description: 'What is told of it. What is told there but not at a moment counts as use.',
    },
    ignores: ignored,
  }),
);

/** @param told what the upstream of the quoted machine tells */
export function presentQuotedGuard(
  guard: IdleGuard | undefined,
  told: TelemetryTold | null | undefined,
): ValueOf<typeof quotedGuard> | null {
  if (guard === undefined || !told) return null;
  return { minutes: guard.minutes, looksAt: lookedAt(told, guard), ignores: guard.ignores };
}

export const telemetrySource = named('TelemetrySource', oneOf(['upstream', 'reporter']));

/** Who will tell the use of a machine; null: nobody. @param told what is told of its upstream's machines */
export function sourceOf(asked: AskedTelemetry, told: TelemetryTold | undefined): TelemetrySource | null {
  const ofMachine = toldOf(asked, told);
  return ofMachine ? (ofMachine.source ?? 'upstream') : null;
}

/** The guard of a rental. */
export const shownGuard = named(
  'IdleGuard',
  object({
    minutes: whole,
    ignores: ignored,
    idleSince: orNull(instant, 'Null while it is used, or nobody tells.'),
    stopsAt: orNull(instant, 'When it stops unless it is used or kept alive. Null until you are warned.'),
    keepAliveUntil: orNull({ ...instant, description: 'Until then it does not stop for being idle.' }),
  }),
);

export const exampleGuard: ValueOf<typeof shownGuard> = {
  ...{ minutes: 30, ignores: ['sessions'], idleSince: '2026-11-01T10:02:00.000Z' },
  ...{ stopsAt: '2026-11-01T10:32:00.000Z', keepAliveUntil: null },
};

export function presentGuard(guard: RentalWithHealth['idle_guard']): ValueOf<typeof shownGuard> | null {
  if (guard === null) return null;
  const at = (text: string | null): string | null => (text === null ? null : new Date(text).toISOString());
  return {
    ...{ minutes: guard.minutes, ignores: guard.ignores, idleSince: at(guard.idle_since) },
    ...{ stopsAt: at(guard.stops_at), keepAliveUntil: at(guard.keep_alive_until) },
  };
}
