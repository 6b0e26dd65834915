import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../lab/servers/program.js';
import { API_KEY } from '../lab/provider/living-lab.js';
import { webhookSecret } from './api.js';
import { publishableKey, secretKey, type TestService } from './living-service.js';

/** The product's worker as a process of its own, which can be killed. */
export interface WorkerProcess {
  /** SIGKILL: it gets no moment to end what it does. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts worker/index.ts for a service that runs without one in this process, and waits until it is ready. */
export async function startWorkerProcess(service: TestService): Promise<WorkerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'worker-test-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const program = await startProgram({
      name: 'The worker',
      command: process.execPath,
      args: ['--import', 'tsx', 'worker/index.ts'],
      env: { ...process.env, ...variablesOf(service) },
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      logFile: join(folder, 'worker.log'),
      isReady: (logged) => logged().includes('"msg":"worker ready"'),
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
    };
  } catch (error) {
    remove();
    throw error;
  }
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
    LAB_PROVIDER_URL: service.gpus.url(),
    LAB_PROVIDER_KEY: API_KEY,
    SHADEFORM_API_KEY: '',
    RUNPOD_API_KEY: '',
  };
}
