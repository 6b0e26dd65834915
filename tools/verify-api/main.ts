import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi, type Api } from '../demo/api.js';
import { signIn } from '../demo/sign-in.js';
import type { Stage } from '../demo/stage.js';
import { topUp } from '../demo/top-up.js';
import { LEFT_OUT } from '../../lab/servers/script-run.js';
import { removeStackData } from '../../lab/stack/data.js';
import { findStackPorts } from '../../lab/stack/ports.js';
import { readStackSettings, type StackSettings } from '../../lab/stack/settings.js';
import { startStack, type Stack } from '../../lab/stack/start.js';
import { playRun, type Run, type RunEnd } from './runs.js';
import { findPythonPackage } from './python-package.js';
import { countWalked } from './walks.js';

/**
 * Lets schemathesis make up requests from the API's description, send them to the running service, and compare the
 * answers with the description. Ends with 1 when anything differs.
 */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopping.abort(new Error('Given up.')));
}

const log = (line: string) => console.log(line);

/**
 * The settings of a stack beside other running ones: in its own folder, on free ports, with its own database and
 * Temporal.
 */
async function readOwnSettings(folder: string): Promise<StackSettings> {
  return readStackSettings({
    ...process.env,
    ...(await findStackPorts()),
    LAB_DATA_DIR: folder,
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: '',
    TEMPORAL_NAMESPACE: '',
    // One session sends in a minute what people send in an hour.
    API_READS_PER_MINUTE: '1000000000',
    API_USER_READS_PER_MINUTE: '1000000000',
    API_CHANGES_PER_MINUTE: '1000000000',
    API_STRANGERS_PER_MINUTE: '1000000000',
  });
}

/** Enough for a few machines at a time; further creates are refused for lack of money. */
const WALLET_CENTS = 500;

async function startSession({ urls }: Stack, name: string): Promise<Api> {
  const stage: Stage = {
    urls,
    api: createApi(urls.api),
    email: `${name}@example.com`,
    log: () => undefined,
    signal: stopping.signal,
    startedAtMs: Date.now(),
  };
  await signIn(stage);
  await topUp(stage, WALLET_CENTS);
  return stage.api;
}

/** From what is on offer to the stop of a machine. */
const WALKED = [
  ...['listListings', 'createQuote', 'createRental', 'listRentals', 'showRental', 'showMeter', 'showCharges'],
  ...['changeRental', 'stopRental'],
];

/** The number of made-up requests for each endpoint of the signed-in user; the runs beside it make up two thirds of it. */
const examples = Number(process.env['VERIFY_EXAMPLES'] ?? '6');
const fewer = Math.ceil((examples * 2) / 3);

/** The run of the signed-in user must not sign them out, so that one endpoint is tried with a separate session. */
async function runsOn(stack: Stack, walking: Api): Promise<Run[]> {
  const logOut = 'logOut';
  const all = ['examples', 'coverage', 'fuzzing'] as const;
  return [
    {
      name: 'signed in',
      sid: (await startSession(stack, 'verified')).sid(),
      phases: all,
      examples,
      without: logOut,
    },
    { name: 'signed out', phases: ['examples', 'fuzzing'], examples: fewer },
    {
      name: 'walking',
      sid: walking.sid(),
      phases: ['stateful'],
      examples: Number(process.env['VERIFY_WALKS'] ?? '600'),
      // Walks begin anywhere: among all operations few of them come to a rental.
      only: WALKED,
    },
    {
      name: 'signing out',
      sid: (await startSession(stack, 'leaving')).sid(),
      phases: all,
      examples: fewer,
      only: logOut,
    },
  ];
}

function tell({ run, passed, output }: RunEnd): void {
  const summary = output.slice(Math.max(0, output.lastIndexOf('= SUMMARY =')));
  const counted = /^ +\d+ generated.*$/m.exec(summary)?.[0].trim() ?? 'no request was made';
  if (!passed) log(output);
  log(`verify:api, ${run.name}: ${passed ? 'as described' : 'NOT as described'} (${counted})`);
}

async function verify(python: string, settings: StackSettings): Promise<boolean> {
  const stack = await startStack({ settings, log, signal: stopping.signal });
  try {
    const folder = join(settings.dataDir, 'verify');
    const walking = await startSession(stack, 'walking');
    const runs = await runsOn(stack, walking);
    const at = { python, apiUrl: stack.urls.api, folder, signal: stopping.signal };
    const ends = await Promise.all(runs.map((run) => playRun(run, at)));
    for (const end of ends) tell(end);
    const { opened, stopped } = await countWalked(walking);
    log(`verify:api: walks opened ${opened} rentals, and stopped ${stopped} of them`);
    // How many of them chance stops is told; a dozen are opened.
    return ends.every(({ passed }) => passed) && opened > 0;
  } finally {
    await stack.stop();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-verify-api-'));
// When root runs this, the postgres user must reach its own folder below.
chmodSync(folder, 0o711);
const settings = await readOwnSettings(folder);
try {
  const { searchPath, cacheDir } = settings.cliPlaces;
  const python = await findPythonPackage('schemathesis', { searchPath, cacheDir }, log);
  if (python === undefined) {
    log(
      'verify:api was left out: there is no Python 3.10 or newer with venv on the PATH. Install it and run it again.',
    );
    process.exitCode = LEFT_OUT;
  } else if (!(await verify(python, settings))) {
    process.exitCode = 1;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  removeStackData(settings);
  rmSync(folder, { recursive: true, force: true });
}
