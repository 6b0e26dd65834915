import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleOf } from '../mutations/sample.js';

/** One command, in its shortest form where it has several. */
export interface SlowRun {
  /** The npm script. */
  readonly script: string;
  /** The arguments after `--`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The time after which it is ended, in seconds: some four times as long as it takes on two cores. */
  readonly limitSeconds: number;
  /** It counts its tests itself, through mocha's reporter. Any other run counts as one. */
  readonly counts?: boolean;
}

function run(
  script: string,
  env: Readonly<Record<string, string>>,
  limitSeconds: number,
  args: readonly string[] = [],
): SlowRun {
  return { script, args, env, limitSeconds };
}

const faults = (file: string): readonly string[] => [`test/faults/${file}.fault.ts`];

/**
 * The runs that are too long for each commit: the test files that end in `.slow.ts`, and each campaign, verification and
 * benchmark in its shortest form, since a command that nobody runs breaks unnoticed. Benchmarks then measure nothing:
 * they must only end.
 */
export const slowRuns: readonly SlowRun[] = [
  {
    ...run('campaign', {}, 2_400, [
      '--parallel',
      '--jobs',
      process.env['TEST_JOBS'] ?? '3',
      'test/**/*.slow.ts',
    ]),
    counts: true,
  },
  // The longest ones first: the others run beside them. What the verifications, the matrix and the containers run on is
  // installed or built at their first run on a machine, and they say so where it can't be had.
  run('test:compose', {}, 1_800),
  run('verify:api', { VERIFY_EXAMPLES: '2', VERIFY_WALKS: '100' }, 1_200),
  run('campaign', { FAULT_RENTALS: '60', FAULT_SECONDS: '40', FAULT_KILLS: '1' }, 420, faults('meter-kills')),
  run('campaign', { FAULT_PAYMENTS: '150' }, 420, faults('payments')),
  run('campaign', { FAULT_RENTALS: '27' }, 420, faults('upstreams')),
  run('campaign', { FAULT_CREATES: '40', FAULT_KILLS: '2' }, 300, faults('caps')),
  run(
    'campaign',
    { FAULT_CLIENTS: '8', FAULT_CUTS: '60', FAULT_KILLS: '1', FAULT_STREAMS: '60' },
    300,
    faults('events'),
  ),
  run(
    'test:prod-like',
    {
      PROD_LIKE_USERS: '4',
      PROD_LIKE_QUIET_SECONDS: '4',
      PROD_LIKE_PAUSE_SECONDS: '3',
      PROD_LIKE_RESTARTS: 'worker 1:kill,listener:kill,Temporal:kill,primary:kill',
      // Release 0.2.
      PROD_LIKE_FROM: '914a6ef0',
    },
    900,
  ),
  // The first ones, until all others were seen to be found in the copy that the command plants them in.
  run('mutate:money', {}, 900, ['2', '--from', '1']),
  // The first one, which the first seeds show: how soon another one is found is a matter of luck.
  run('simulate:mutants', {}, 1_000, ['1', '--from', '1', '--days', '0.003', '--minutes', '14']),
  // A later --minutes goes before the command's own. Its one seed is the same each time.
  run('simulate:campaign', {}, 2_000, [
    '--minutes',
    '0.01',
    '--jobs',
    '1',
    '--seed',
    '3',
    '--twice-each',
    '1',
  ]),
  // On the oldest PostgreSQL and the newest Node, which `npm test` does not run on, what executes most of the statements at
  // the least cost. The image of test:compose brings the Node between.
  run('test:matrix', { MATRIX_POSTGRES: '17' }, 900, [
    'test/migrations/migrate.test.ts',
    'test/stories/upkeep/traces.test.ts',
    'test/contract/contract.test.ts',
    'test/stories/webhooks/webhooks.test.ts',
  ]),
  run('verify:processor', {}, 900),
  run('verify:alerts', {}, 300),
  run('bench:probe', { BENCH_PODS: '10', BENCH_SECONDS: '4' }, 400),
  run('bench:telemetry', { BENCH_MACHINES: '10', BENCH_MINUTES: '3' }, 200),
  run('bench:meter', { BENCH_RENTALS: '500', BENCH_SECONDS: '2', BENCH_ROUNDS: '3' }, 300),
  run('bench:shards', { BENCH_RENTALS: '500', BENCH_ROUNDS: '1' }, 200),
  run('bench:ledger', { BENCH_ENTRIES: '1000,10000', BENCH_PAGES: '20' }, 180),
  run('bench:sealed-reads', { BENCH_ENTRIES: '20000', BENCH_PAGES: '3' }, 180),
  run('bench:seals', { BENCH_RENTALS: '50', BENCH_HOURS: '1', BENCH_HOUR_SECONDS: '60' }, 300),
  run(
    'bench:create',
    { BENCH_ROUNDS: '1', BENCH_CREATES: '4', BENCH_CALLERS: '2', BENCH_SERVERS: 'postgres' },
    400,
  ),
  run('bench:read', { BENCH_ROUNDS: '1', BENCH_SECONDS: '1' }, 180),
  run('bench:api', { BENCH_CLIENTS: '5', BENCH_SECONDS: '8' }, 180),
  run('bench:events', { BENCH_CLIENTS: '20', BENCH_IDLE: '40', BENCH_SECONDS: '4' }, 180),
  run('bench:webhook', { BENCH_PAYMENTS: '3', BENCH_EVENTS: '100' }, 180),
  run(
    'bench:dashboard',
    { BENCH_ROUNDS: '1', BENCH_ENTRIES: '2000', BENCH_SECONDS: '2', BENCH_PAYMENTS: '2' },
    240,
  ),
  run('bench:start', { BENCH_ROUNDS: '1', BENCH_DEMOS: '0' }, 160),
  run('bench:catalog', { BENCH_LISTINGS: '1000', BENCH_ROUNDS: '10' }, 240),
  run('bench:soak', { BENCH_MINUTES: '0.3', BENCH_RENTALS: '500', BENCH_RATE: '10' }, 240),
  run('bench:blnk', { BENCH_RENTALS: '100', BENCH_SECONDS: '3', BENCH_ROUNDS: '1' }, 1_500),
  // One benchmark is enough for a table; the figures that were measured in earnest stay where they are.
  run('bench:all', { BENCH_ENTRIES: '1000', BENCH_PAGES: '2' }, 180, [
    ...['--out', join(tmpdir(), 'gpu-rental-bench-table')],
    'bench:ledger',
  ]),
];

/** A commit tries one benchmark of so many: they take a third of the time, and a broken one harms nobody who rents. */
const BENCHMARKS_OF_EACH = 3;

/** Chooses what runs: by name, else all, with a part of the benchmarks that is another one with each commit. */
export function chooseRuns(wanted: readonly string[]): readonly SlowRun[] {
  if (wanted.length > 0) return slowRuns.filter(({ script }) => wanted.includes(script));
  const benchmarks = slowRuns.filter(({ script }) => script.startsWith('bench:'));
  const count = Math.ceil(benchmarks.length / BENCHMARKS_OF_EACH);
  const tried = sampleOf(benchmarks, String(count), undefined).map(({ one }) => one);
  return slowRuns.filter((slow) => !benchmarks.includes(slow) || tried.includes(slow));
}
