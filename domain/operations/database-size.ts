/** What a database server has to work with. */
export interface DatabaseMachine {
  /** The memory of the machine, or of the container that limits it. */
  readonly memoryBytes: number;
  readonly cores: number;
  /** What is free where the cluster's files are. */
  readonly freeBytes: number;
  /** Nothing else of weight runs within that memory, as in a container of its own. */
  readonly isAlone: boolean;
}

/** Settings of postgresql.conf by their names, as its `-c name=value` takes them. */
export type DatabaseSettings = Readonly<Record<string, string>>;

const MB = 2 ** 20;
const GB = 2 ** 30;

/** Beyond it the operating system's own cache does as well, and a stop has more to write. */
const mostBuffers = 8 * GB;
/** PostgreSQL's default; its own advice is never more than a quarter of the memory to begin with. */
const fewestBuffers = 128 * MB;
/** A checkpoint each so many bytes of log, at most. After a crash as much is read again. */
const mostLog = 16 * GB;
const fewestLog = GB;

/**
 * The environment of a sized server. Each tick sorts and joins in some megabytes; without these glibc gives them back to
 * the operating system after each one, which clears them again for the next (a thirtieth of a dense tick). The C library
 * of another system reads neither.
 */
export const allocatorSettings: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: String(32 * MB),
  MALLOC_TRIM_THRESHOLD_: String(256 * MB),
};

/**
 * The settings of PostgreSQL that follow from its machine (decision 119, "Sizes and starts"). `work_mem` is none of
 * them: each sort of each connection may take it, so that only who needs it sets it, for a transaction.
 */
export function sizeDatabase({ memoryBytes, cores, freeBytes, isAlone }: DatabaseMachine): DatabaseSettings {
  const buffers = within(memoryBytes / (isAlone ? 4 : 6), fewestBuffers, mostBuffers);
  const log = within(freeBytes / 4, fewestLog, mostLog);
  return {
    shared_buffers: megabytes(Math.min(buffers, memoryBytes / 4)),
    effective_cache_size: megabytes(memoryBytes * (isAlone ? 0.75 : 0.5)),
    // Each worker of autovacuum may take as much.
    maintenance_work_mem: megabytes(within(memoryBytes / 32, 64 * MB, GB)),
    max_wal_size: megabytes(log),
    min_wal_size: megabytes(log / 8),
    // The first change of a page after a checkpoint writes all of it: rarer checkpoints, less log.
    checkpoint_timeout: '15min',
    max_parallel_workers: String(within(cores, 1, 8)),
    // A tick changes the row of each wallet that owes a cent: at the default limit of 200 the dead versions of a large
    // fleet grow faster than they are removed.
    autovacuum_naptime: '15s',
    autovacuum_vacuum_cost_limit: '2000',
    autovacuum_max_workers: String(within(Math.floor(cores / 4), 3, 8)),
  };
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Rounded down: to 64 MB where it is more, as nobody reads 3918. */
function megabytes(bytes: number): string {
  const whole = Math.floor(bytes / MB);
  return `${whole > 128 ? whole - (whole % 64) : whole}MB`;
}
