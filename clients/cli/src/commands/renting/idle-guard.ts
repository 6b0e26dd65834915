import type { NewRental } from '@gpu-rental/client';
import type { Command } from 'commander';
import { timeSpan } from '../../command.js';
import { usageFailure } from '../../failure.js';

/** The options of an idle guard. */
export interface GuardOptions {
  /** In seconds; false: --no-stop-when-idle, where that can be said. */
  readonly stopWhenIdle?: number | false;
  readonly ignoreSessions?: boolean;
}

/** What one is told of --stop-when-idle. */
export const stopWhenIdleHelp =
  'stop it once it has been idle for this long, such as 30m (after a reboot only if its provider reports usage)';

/** Adds them to a command. */
export function addGuard(command: Command): Command {
  return command
    .option('--stop-when-idle <time>', stopWhenIdleHelp, timeSpan)
    .option('--ignore-sessions', 'with --stop-when-idle: even while somebody is logged in');
}

/** What they ask for. */
export function guardOf({
  stopWhenIdle,
  ignoreSessions,
}: GuardOptions): Pick<NewRental, 'stopWhenIdleMinutes' | 'idleIgnores'> {
  if (stopWhenIdle === undefined || stopWhenIdle === false) {
    if (ignoreSessions === true) throw usageFailure('--ignore-sessions needs --stop-when-idle.');
    return {};
  }
  return {
    stopWhenIdleMinutes: Math.ceil(stopWhenIdle / 60),
    ...(ignoreSessions === true && { idleIgnores: ['sessions'] }),
  };
}
