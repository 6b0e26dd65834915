import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { argsToTest } from '../programs.js';
import type { DatabaseRole } from '../../../migrations/roles.js';
import type { TestOperator } from './operators.js';
import type { OpsRequest, OpsResult } from './ops-runner.js';

export type { OpsResult } from './ops-runner.js';

/** One runner for all tests of this process. The first command starts it; it ends with the process. */
let runner: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the operators' command line as from a script, without a terminal to ask at. One command at a time.
 * @param service without a namespace there is no Temporal
 */
export async function runOps(
  service: {
    readonly databaseUrl: string;
    readonly namespace?: { readonly address: string; readonly name: string };
    /** The operator who is logged in; default: Ada. */
    readonly operator?: TestOperator;
    /** The role to work as instead of an operator's. */
    readonly role?: DatabaseRole;
    /** How long a command waits for the outcome of an order; default: as operators do. */
    readonly waitMs?: number;
  },
  ...args: readonly string[]
): Promise<OpsResult> {
  const {
    databaseUrl,
    operator: login = 'ada',
    role,
    waitMs,
    namespace = { address: '127.0.0.1:1', name: 'default' },
  } = service;
  const request = {
    ...{ args, login, role, databaseUrl, waitMs },
    ...{ temporalAddress: namespace.address, namespace: namespace.name },
  };
  const result = last.then(() => ask(request));
  last = result.catch(() => undefined);
  return result;
}

async function ask(request: OpsRequest): Promise<OpsResult> {
  runner ??= await startRunner();
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    const answered = once(runner, 'message', { signal });
    const ended = once(runner, 'exit', { signal }).then(() => {
      throw new Error(`the command line ended during "ops ${request.args.join(' ')}"`);
    });
    runner.send(request);
    const [result] = (await Promise.race([answered, ended])) as [OpsResult];
    // The other promise is aborted, and nobody waits for it.
    ended.catch(() => undefined);
    answered.catch(() => undefined);
    return result;
  } finally {
    waiting.abort();
  }
}

async function startRunner(): Promise<ChildProcess> {
  const args = await argsToTest('test/support/ops/ops-runner.ts');
  const child = fork(args.at(-1) ?? '', {
    execArgv: args.slice(0, -1),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  // The process of the tests ends without waiting for the runner, and the runner ends with it.
  child.unref();
  child.channel?.unref();
  child.once('exit', () => (runner = undefined));
  return child;
}
