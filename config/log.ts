import {
  logLevels,
  logParts,
  type LevelsOfParts,
  type LogLevel,
  type LogPart,
} from '../domain/operations/log-parts.js';
import { itemsOf, text, withDefault, type ValuesOf } from './variables.js';

const isOneOf = <Name extends string>(names: readonly Name[], name: string): name is Name =>
  (names as readonly string[]).includes(name);

const choiceOf = (names: readonly string[]) => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

const levels = text
  .allow('')
  .custom((value: string) => {
    for (const item of itemsOf(value)) refusePair(item);
    return value;
  })
  .messages({ 'any.custom': '{{#label}} {{#error.message}}' });

/** The log, by the name that pino has for each level. */
export const logVariables = {
  LOG_LEVEL: withDefault(text.valid(...logLevels), 'info'),
  LOG_LEVELS: withDefault(levels, ''),
};

/** The log's part of the configuration: the level of the program, and those of parts that have one of their own. */
export function logOf(env: ValuesOf<typeof logVariables>) {
  const pairs = itemsOf(env.LOG_LEVELS).map(pairOf) as [LogPart, LogLevel][];
  return { level: env.LOG_LEVEL, levels: Object.fromEntries(pairs) as LevelsOfParts };
}

function pairOf(item: string): [string, string | undefined] {
  const [part = '', level] = item.split('=').map((word) => word.trim());
  return [part, level];
}

function refusePair(item: string): void {
  const [part, level] = pairOf(item);
  if (level === undefined) {
    throw new Error(
      `has "${item}", which is no pair of a part and its level: write upstream=debug, or set LOG_LEVEL for all of the log`,
    );
  }
  if (!isOneOf(logParts, part)) {
    throw new Error(`names "${part}", which is no part of the log: take ${choiceOf(logParts)}`);
  }
  if (!isOneOf(logLevels, level)) {
    throw new Error(`gives "${part}" the level "${level}": take ${choiceOf(logLevels)}`);
  }
}
