/** The settings of a running database server that decide how safe and how fast it is. */
export interface CheckedSettings {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly autovacuum: string;
  readonly track_counts: string;
  readonly sharedBuffersBytes: number;
  readonly maxWalBytes: number;
  readonly checkpointTimeoutS: number;
  readonly autovacuumCostLimit: number;
}

/** A setting that should be another. */
export interface SettingFault {
  readonly setting: string;
  /** What it is. */
  readonly is: string;
  /** unsafe: what was committed may be lost, or the server comes to a stop. slow: a default too small for this fleet. */
  readonly kind: 'unsafe' | 'slow';
  /** What comes of it. */
  readonly why: string;
}

const MB = 2 ** 20;

/** From this many running rentals on the defaults of PostgreSQL are too small (bench/README.md). */
export const manyRentals = 10_000;

const mustBeOn: readonly (readonly [keyof CheckedSettings, string])[] = [
  ['fsync', 'a power failure may lose or break the whole cluster'],
  ['full_page_writes', 'a power failure may leave pages half written, which nothing mends'],
  ['synchronous_commit', 'a crash may lose payments and charges that were already answered'],
  ['autovacuum', 'tables grow without end, and the server stops before its transaction numbers run out'],
  ['track_counts', 'autovacuum does not know which tables to clean'],
];

/** @returns what should be set otherwise on a server with this many running rentals, unsafe settings first */
export function checkSettings(found: CheckedSettings, runningRentals: number): SettingFault[] {
  const unsafe = mustBeOn
    // `local`, `remote_write` and `remote_apply` write the own log before they answer, as `on` does.
    .filter(([setting]) => found[setting] === 'off')
    .map(([setting, why]): SettingFault => ({ setting, is: 'off', kind: 'unsafe', why }));
  return runningRentals < manyRentals ? unsafe : [...unsafe, ...findSmall(found)];
}

function findSmall(found: CheckedSettings): SettingFault[] {
  const { sharedBuffersBytes, maxWalBytes, checkpointTimeoutS, autovacuumCostLimit } = found;
  const small: [boolean, string, string, string][] = [
    [
      sharedBuffersBytes <= 128 * MB,
      'shared_buffers',
      inMegabytes(sharedBuffersBytes),
      'the rows of a tick do not fit: it reads and writes them again and again',
    ],
    [
      maxWalBytes <= 1024 * MB,
      'max_wal_size',
      inMegabytes(maxWalBytes),
      'a checkpoint each few seconds, after which each page is written whole to the log',
    ],
    [
      checkpointTimeoutS <= 300,
      'checkpoint_timeout',
      `${checkpointTimeoutS}s`,
      'checkpoints come more often than the log needs them',
    ],
    [
      autovacuumCostLimit <= 200,
      'autovacuum_vacuum_cost_limit',
      String(autovacuumCostLimit),
      'dead versions of wallets grow faster than autovacuum removes them',
    ],
  ];
  return small
    .filter(([isSmall]) => isSmall)
    .map(([, setting, is, why]): SettingFault => ({ setting, is, kind: 'slow', why }));
}

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / MB)}MB`;
}
