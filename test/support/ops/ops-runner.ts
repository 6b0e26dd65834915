import { openDatabase } from '../../../adapters/postgres/database.js';
import { urlAs, type TestOperator } from './operators.js';
import { databaseRoles, type DatabaseRole } from '../../../migrations/roles.js';
import { runCommand } from '../../../ops/program.js';

/**
 * The operators' command line as a program that runs one command after the other: its start takes longer than any
 * command. Each command has an output of its own and no terminal to ask at. test/ops/money/ledger.test.ts starts the
 * program itself.
 */
export interface OpsRequest {
  readonly args: readonly string[];
  readonly databaseUrl: string;
  /** The operator who is logged in. */
  readonly login: TestOperator;
  /** The role to work as instead of the operator's. */
  readonly role?: DatabaseRole | undefined;
  readonly temporalAddress: string;
  readonly namespace: string;
  /** How long it waits for the outcome of an order; default: as operators do. */
  readonly waitMs?: number | undefined;
}

export interface OpsResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run({ args, databaseUrl, login, role, waitMs, ...to }: OpsRequest): Promise<OpsResult> {
  const written = { out: '', err: '' };
  const restore = [
    capture('stdout', (text) => (written.out += text)),
    capture('stderr', (text) => (written.err += text)),
  ];
  try {
    const place = { address: to.temporalAddress, namespace: to.namespace, uiUrl: 'http://127.0.0.1:8233' };
    const code = await runCommand(args, {
      open: () =>
        role
          ? openDatabase(databaseUrl, 2, 'ops', databaseRoles[role])
          : openDatabase(urlAs(login, databaseUrl), 2, 'ops'),
      openAsOwner: () => openDatabase(databaseUrl, 1, 'ops'),
      temporal: () => place,
      ui: () => place,
      shards: () => 1,
      ...(waitMs !== undefined && { waitMs }),
    });
    return { code, ...written };
  } finally {
    for (const undo of restore) undo();
    process.exitCode = 0;
  }
}

function capture(name: 'stdout' | 'stderr', take: (text: string) => void): () => void {
  const stream = process[name];
  const original = stream.write.bind(stream);
  stream.write = (chunk: string | Uint8Array) => {
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    return true;
  };
  return () => {
    stream.write = original;
  };
}

process.on('message', (request: OpsRequest) => {
  void run(request).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
