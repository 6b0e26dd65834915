import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { startMock, type MockServer } from '../mock/server.js';
import { answersOk } from '../servers/program.js';
import { viteIn } from './build.js';

/**
 * `npm run dashboard:dev`: the dashboard from its sources, where a saved change is seen at once. What it asks for is
 * asked of a stack that runs, or of a mock of its own.
 */
const projectDir = fileURLToPath(new URL('../..', import.meta.url));

const program = new Command('dashboard:dev')
  .description('Serves the dashboard from its sources, with what a saved change does seen at once.')
  .option('--api <url>', 'a running service: "npm start", or "npm run mock"', origin, 'http://127.0.0.1:8080')
  .option('--mock', 'start a mock for it', false)
  .option('--port <number>', 'where to listen on loopback', wholeNumber, 5173)
  .addHelpText(
    'after',
    `
A payment page leads back to where the service sends it. To come back here from a running stack:
  DASHBOARD_URL=http://127.0.0.1:5173 npm start`,
  )
  .showHelpAfterError()
  .exitOverride();

interface Options {
  readonly api: string;
  readonly mock: boolean;
  readonly port: number;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0 && value <= 65_535) return value;
  throw new InvalidArgumentError('It must be a port, at most 65535.');
}

function origin(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return new URL(text).origin;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:8080.');
}

async function run(): Promise<number> {
  const { api, mock: wantsMock, port } = program.parse().opts<Options>();
  const url = `http://127.0.0.1:${port}`;
  const mock = wantsMock
    ? await startMock({ port: 0, dashboardUrl: url, allowedOrigins: [url], publicPrices: true })
    : undefined;
  const service = mock?.url ?? api;
  if (!(await answersOk(`${service}/healthz`))) {
    console.error(`Nothing answers at ${service}. Run "npm start" first, or add --mock.`);
    return 1;
  }
  console.log(`The dashboard is at ${url}/app, with the service at ${service}. Ctrl-C ends it.`);
  return serve(service, port, mock);
}

/** Runs Vite until it ends, which it does at the terminal's Ctrl-C or at a signal to this process. */
async function serve(service: string, port: number, mock: MockServer | undefined): Promise<number> {
  const args = [viteIn(projectDir), '--port', String(port), '--clearScreen', 'false'];
  const child = spawn(process.execPath, args, {
    cwd: join(projectDir, 'clients', 'dashboard'),
    stdio: 'inherit',
    env: { ...process.env, DASHBOARD_DEV_API: service },
  });
  const isAsked = { toEnd: false };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      isAsked.toEnd = true;
      child.kill(signal);
    });
  }
  const [code] = (await once(child, 'exit')) as [number | null];
  await mock?.stop();
  return isAsked.toEnd ? 0 : (code ?? 1);
}

try {
  process.exitCode = await run();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
