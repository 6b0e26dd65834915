import type { Logger as TemporalLogger, LogLevel, LogMetadata } from '@temporalio/common';
import type { Logger } from 'pino';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The SDK's fields by which operators search. Its other data (tokens of tasks) has no use. */
const kept = [
  'workflowId',
  'workflowType',
  'runId',
  'workflowRunId',
  'activityId',
  'activityType',
  'attempt',
  'taskQueue',
  'sdkComponent',
  'rentalId',
  'userId',
] as const;

/** Lets Temporal's SDK, its native core, its workflows and its activities write into the program's own log. */
export function temporalLogger(log: Logger): TemporalLogger {
  const write = (level: LogLevel, message: string, meta: LogMetadata = {}): void =>
    log[levels[level]](fieldsOf(meta), message);
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
}

function fieldsOf(meta: LogMetadata): Record<string, unknown> {
  const error: unknown = meta['error'] ?? meta['err'];
  return {
    ...Object.fromEntries(kept.filter((name) => name in meta).map((name) => [name, meta[name] as unknown])),
    ...(error instanceof Error ? { err: error } : {}),
  };
}
