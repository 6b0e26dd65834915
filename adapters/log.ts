import { writeSync } from 'node:fs';
import { pino, type DestinationStream, type LogFn, type Logger, type SerializedError } from 'pino';
import type { LevelsOfParts, LogPart } from '../domain/operations/log-parts.js';
import { countOutageLines, isOutage } from './outage-lines.js';

/**
 * Lines are written together, after a tenth of a second at the latest. As many wait for a slow reader as fit in
 * `maxLength` bytes; the ones beyond are dropped, because a hung reader must not stop the program.
 */
const writing = { minLength: 4_096, periodicFlush: 100, maxLength: 16 * 1024 * 1024 } as const;

export interface LogOptions {
  readonly level: string;
  /** The levels of parts that have one of their own. */
  readonly levels?: LevelsOfParts;
  /** The name of the program that writes. */
  readonly service: string;
  /** Further fields of each line, read when it is written. */
  readonly fields?: () => object;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/**
 * Makes the log of a program, as lines of JSON. Of an error it shows only what names it: the database, for one, puts
 * the whole row that it refused into an error, and with it codes and addresses. Lines are written beside the program's
 * work; a program that exits writes the rest first. Of lines that say that a peer is away, one a minute is written.
 */
export function createLog({ level, levels, service, fields, destination }: LogOptions): Logger {
  const countLine = countOutageLines();
  const options = {
    level,
    hooks: { logMethod },
    base: { service, pid: process.pid },
    serializers: { err: presentError },
    ...(fields && { mixin: fields }),
  };
  return Object.assign(pino(options, destination ?? standardOutput()), { [levelsOfParts]: levels });

  /** Writes a line, unless it is one of many that say that a peer is away. */
  function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, lineLevel: number): void {
    const [fields, message] = args as unknown as [unknown, unknown];
    const isRepeated = lineLevel >= WARN && isOutageLine(fields);
    const leftOut = isRepeated ? countLine(String(message).replace(/\d+/g, '#')) : 0;
    if (leftOut === 0) method.apply(this, args);
    else if (leftOut !== undefined) method.call(this, { ...(fields as object), leftOut }, String(message));
  }
}

/** The log of one part of a program: its lines name the part, and have its level where it has one of its own. */
export function logOfPart(log: Logger, part: LogPart): Logger {
  const { [levelsOfParts]: levels } = log as { readonly [levelsOfParts]?: LevelsOfParts };
  return log.child({ part }, { level: levels?.[part] ?? log.level });
}

/** A log's children have what it has. */
const levelsOfParts = Symbol('levels of parts');

/** As pino numbers its levels. */
const WARN = 40;

/** Lines of the SDK's native core have no error: it warns of calls that fail, and of nothing that happens often. */
function isOutageLine(fields: unknown): fields is { readonly err?: unknown } {
  if (typeof fields !== 'object' || fields === null) return false;
  if ('sdkComponent' in fields && fields.sdkComponent === 'core') return true;
  return 'err' in fields && isOutage(fields.err);
}

/**
 * Standard output, written beside the program's work. A write that fails, on a full disk for one, must neither end the
 * program nor hold up its end: the lines that wait are given up with the stream, and each further one is written by
 * itself or dropped, until one is written.
 */
function standardOutput(): DestinationStream {
  const { fd } = process.stdout;
  let output: ReturnType<typeof begin> | undefined;
  let isFailing = false;
  function begin() {
    const begun = pino.destination({ dest: fd, sync: false, ...writing });
    begun.on('error', (error: NodeJS.ErrnoException) => {
      // Nobody reads any more: pino itself writes no more.
      if (error.code === 'EPIPE') return;
      begun.destroy();
      output = undefined;
      isFailing = true;
    });
    return begun;
  }
  function writeAlone(line: string): void {
    try {
      writeSync(fd, line);
      isFailing = false;
    } catch {
      // It is dropped: the program goes on.
    }
  }
  return {
    write(line) {
      if (isFailing) writeAlone(line);
      else (output ??= begin()).write(line);
    },
  };
}

/**
 * The safe fields of PostgreSQL's errors, of Node's, and of HTTP clients'. Their `detail`, `where` and `raw` carry the
 * data itself.
 */
const shown = [
  'code',
  'errno',
  'syscall',
  'severity',
  'table',
  'column',
  'constraint',
  'status',
  'statusCode',
];

function presentError(error: Error): object {
  const {
    type,
    message,
    stack,
    aggregateErrors,
    ...rest
  }: SerializedError & {
    aggregateErrors?: SerializedError[];
  } = pino.stdSerializers.err(error);
  return {
    type,
    message,
    stack,
    ...Object.fromEntries(shown.filter((name) => name in rest).map((name) => [name, rest[name] as unknown])),
    ...(aggregateErrors && { errors: aggregateErrors.map((inner) => presentError(inner.raw)) }),
  };
}
