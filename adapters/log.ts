import { pino, type DestinationStream, type Logger, type SerializedError } from 'pino';

export interface LogOptions {
  readonly level: string;
  /** The name of the program that writes. */
  readonly service: string;
  /** Further fields of each line, read when it is written. */
  readonly fields?: () => object;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/**
 * Makes the log of a program, as lines of JSON. Of an error it shows only what names it: the database, for one, puts
 * the whole row that it refused into an error, and with it codes and addresses.
 */
export function createLog({ level, service, fields, destination }: LogOptions): Logger {
  const options = {
    level,
    base: { service, pid: process.pid },
    serializers: { err: presentError },
    ...(fields && { mixin: fields }),
  };
  return destination ? pino(options, destination) : pino(options);
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
