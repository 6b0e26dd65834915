import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface OpsResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the operators' command line as from a script: there is nobody to ask. */
export async function runOps(
  at: { readonly databaseUrl: string; readonly temporalAddress?: string; readonly namespace?: string },
  ...args: readonly string[]
): Promise<OpsResult> {
  const env = {
    ...process.env,
    DATABASE_URL: at.databaseUrl,
    DATABASE_ROLE: 'gpu_rental_ops',
    TEMPORAL_ADDRESS: at.temporalAddress ?? '127.0.0.1:1',
    TEMPORAL_NAMESPACE: at.namespace ?? 'default',
    DASHBOARD_URL: 'http://127.0.0.1',
    SMTP_URL: 'smtp://127.0.0.1:1',
  };
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  try {
    const call = run(process.execPath, ['--import', 'tsx', 'ops/index.ts', ...args], { env, cwd });
    call.child.stdin?.end();
    const { stdout, stderr } = await call;
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}
