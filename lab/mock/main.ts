import { fileURLToPath } from 'node:url';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { refusalStatus } from '../../domain/refusal.js';
import { buildDashboardIfChanged, dashboardFolderOf } from '../dashboard/build.js';
import { rentalFates } from './account.js';
import { untoldEvents } from './events.js';
import { cardHeader, failureHeader, rentalHeader } from './on-demand.js';
import { startMock } from './server.js';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));

/** The usual origins of dashboards' development servers. */
const usualOrigins = [3000, 4173, 4200, 5173, 8081].flatMap((port) => [
  `http://localhost:${port}`,
  `http://127.0.0.1:${port}`,
]);

const program = new Command('mock')
  .description('Serves the whole API from memory: for whoever builds a client. Nothing is kept.')
  .option('--port <number>', 'where to listen on loopback', wholeNumber(65_535), 8080)
  .option('--latency <ms>', 'how long each answer takes at least', wholeNumber(60_000), 0)
  .option('--dashboard <url>', 'where browsers return after a payment (default: the mock itself)', origin)
  .option('--origin <origin...>', 'pages that may call with cookies, besides the usual ports of localhost')
  .option('--no-public-prices', 'tell prices only to who has signed in, as the service does by default')
  .option(
    '--machines',
    'rentals have machines that answer SSH on loopback: a shell for everybody on this computer',
    false,
  )
  .option('--log', 'print each request', false)
  .addHelpText('after', helpOnHeaders())
  .showHelpAfterError()
  .exitOverride();

interface Options {
  readonly port: number;
  readonly latency: number;
  readonly dashboard?: string;
  readonly origin?: readonly string[];
  readonly publicPrices: boolean;
  readonly machines: boolean;
  readonly log: boolean;
}

function wholeNumber(max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number, at most ${max}.`);
  };
}

function origin(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text.replace(/\/$/, '');
  throw new InvalidArgumentError('It must be an address such as http://localhost:3000.');
}

function helpOnHeaders(): string {
  return `
Any e-mail address and any six digits sign in. What else would happen by chance is asked for by a request's headers:
  ${failureHeader}: <code>  the request is refused so; one of
    ${Object.keys(refusalStatus).join(', ')}
  ${rentalHeader}: ${rentalFates.join(' | ')}  on POST /v1/rentals: what becomes of the machine
  ${cardHeader}: pays | declines  on POST /v1/billing/setup-intent: how the card's bank answers
It never tells the events ${untoldEvents.join(', ')}.`;
}

/** @returns its folder; undefined when it can't be built, which keeps nobody from the API */
async function buildDashboard(): Promise<string | undefined> {
  try {
    await buildDashboardIfChanged({ projectDir });
    return dashboardFolderOf(projectDir);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}

async function run(): Promise<void> {
  const {
    port,
    latency,
    dashboard,
    origin: origins = [],
    publicPrices,
    machines,
    log,
  } = program.parse().opts<Options>();
  const dashboardFolder = await buildDashboard();
  const mock = await startMock({
    port,
    latencyMs: latency,
    dashboardFolder,
    ...(dashboard !== undefined && { dashboardUrl: dashboard }),
    allowedOrigins: [
      ...usualOrigins,
      ...origins,
      ...(dashboard === undefined ? [] : [new URL(dashboard).origin]),
    ],
    withMachines: machines,
    publicPrices,
    logLevel: log ? 'info' : 'silent',
  });
  console.log(`The mock API is at ${mock.url}, its description at ${mock.url}/docs. Ctrl-C ends it.`);
  if (dashboardFolder !== undefined) console.log(`The dashboard is at ${mock.url}/app.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void mock.stop());
}

try {
  await run();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    console.error(isTaken ? 'The port is taken. Choose another one with --port.' : error);
    process.exitCode = 1;
  }
}
