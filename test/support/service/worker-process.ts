import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../../lab/servers/program.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { API_KEY } from '../../lab/provider/living-lab.js';
import { argsToTest } from '../programs.js';
import { webhookSecret } from '../http/api.js';
import { freeCents, publishableKey, secretKey, type TestService } from './living-service.js';

/** The product's worker as a process of its own, which can be killed. */
export interface WorkerProcess {
  /** Sends SIGKILL, which leaves no moment to end anything. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and waits until the process is gone. */
  stop(): Promise<void>;
  /** All log lines, parsed. */
  logged(): Record<string, unknown>[];
}

/** Starts api/index.ts in the same way, on a free port. */
export function startApiProcess(service: TestService, env: NodeJS.ProcessEnv): Promise<WorkerProcess> {
  return startProcess(service, { name: 'The API', file: 'api/index.ts', ready: 'api ready', env });
}

/** Starts listener/index.ts in the same way, with its own role. */
export function startListenerProcess(service: TestService, env: NodeJS.ProcessEnv): Promise<WorkerProcess> {
  const role = { DATABASE_ROLE: databaseRoles.machine };
  const what = { name: 'The listener', file: 'listener/index.ts', ready: 'listener ready' };
  return startProcess(service, { ...what, env: { ...role, ...env } });
}

/** Starts worker/index.ts for a service that runs without one in this process, and waits until it is ready. */
export function startWorkerProcess(
  service: TestService,
  env: NodeJS.ProcessEnv = {},
): Promise<WorkerProcess> {
  return startProcess(service, { name: 'The worker', file: 'worker/index.ts', ready: 'worker ready', env });
}

async function startProcess(
  service: TestService,
  what: { name: string; file: string; ready: string; env: NodeJS.ProcessEnv },
): Promise<WorkerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'process-test-'));
  const logFile = join(folder, 'process.log');
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const program = await startProgram({
      name: what.name,
      command: process.execPath,
      args: await argsToTest(what.file),
      env: { ...process.env, ...variablesOf(service), ...what.env },
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      logFile,
      isReady: (logged) => logged().includes(`"msg":"${what.ready}"`),
      readyLimitMs: 60_000,
      stopSignal: 'SIGTERM',
      stopLimitMs: 10_000,
    });
    return {
      async kill() {
        program.kill();
        await program.exited;
        remove();
      },
      async stop() {
        await program.stop();
        remove();
      },
      logged: () => readLines(logFile),
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function readLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function variablesOf(service: TestService): NodeJS.ProcessEnv {
  return {
    DEPLOYMENT: 'test',
    LOG_LEVEL: 'info',
    DATABASE_URL: service.databaseUrl,
    DATABASE_ROLE: 'gpu_rental_worker',
    TEMPORAL_ADDRESS: service.namespace.address,
    TEMPORAL_NAMESPACE: service.namespace.name,
    DASHBOARD_URL: 'http://127.0.0.1',
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_PUBLISHABLE_KEY: publishableKey,
    STRIPE_WEBHOOK_SECRETS: webhookSecret,
    STRIPE_API_URL: service.processor.url,
    SMTP_URL: service.inbox.smtpUrl,
    FREE_MACHINES_CENTS: String(freeCents),
    ALLOW_PRIVATE_MACHINES: 'true',
    ALLOW_PRIVATE_WEBHOOKS: 'true',
    LAB_PROVIDER_URL: service.gpus.url(),
    LAB_PROVIDER_KEY: API_KEY,
    SHADEFORM_API_KEY: '',
    RUNPOD_API_KEY: '',
  };
}
