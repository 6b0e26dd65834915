import { newId } from '../adapters/ids.js';
import { actDirectly } from '../adapters/postgres/operators/direct-actions.js';
import type { Database } from '../adapters/postgres/database.js';
import type { DirectAction, Operation, OperationResult } from '../domain/operations/operation.js';
import type { OperationId } from '../domain/ids.js';
import { Refusal } from '../domain/refusal.js';
import { using, type OpsContext } from './context.js';
import { askConsent, operatorName, printDone, printRefused, toldOnly } from './operator.js';
import type { OperatorOptions } from './options.js';
import type { TemporalClient } from '../adapters/temporal/client.js';
import { withTemporalSoon } from '../adapters/temporal/command.js';

/** The longest time to tell Temporal: its workflows find the change by themselves as well. */
const SIGNAL_MS = 3_000;

/** The exit code where Temporal had a part in it, and nobody knows whether it did that. */
const UNKNOWN = 2;

export interface DirectOptions {
  /** A consequence that can't be undone: the command asks first, unless --yes is given. */
  readonly then?: string | undefined;
  /** Signals a workflow at once; without it the workflow finds the change by itself. */
  readonly signal?: (client: TemporalClient, result: OperationResult) => Promise<void>;
  /** How long `signal` may take; default: 3 seconds. */
  readonly limitMs?: number;
  /**
   * What to tell when `signal` fails; default: the workflow picks it up on its own. Where it says so, the command's work was
   * not done, and its exit code says that, too.
   */
  readonly undone?: string;
}

/**
 * Does an action that needs Postgres only, and records who and why (decision 65, "Explained cents"). Exit code 1 when
 * it is refused.
 */
export async function actByHand(
  context: OpsContext,
  asked: DirectAction | ((db: Database) => Promise<DirectAction>),
  options: OperatorOptions,
  { then, signal, ...rest }: DirectOptions = {},
): Promise<void> {
  await using(context, async (db) => {
    const action = typeof asked === 'function' ? await asked(db) : asked;
    const operator = await operatorName(db, options);
    if (toldOnly(operator, action, options)) return;
    if (then !== undefined) await askConsent({ ...action, then }, options);
    const { reason, operation: operationId = newId('op') } = options;
    console.error(
      `Operation ${operationId}. If the connection breaks, repeat this with --operation ${operationId}`,
    );
    const operation = { operationId, operator, reason, action };
    const result = await done(db, operation, options);
    if (result && signal) {
      await signalNow(context, (client) => signal(client, result), { ...rest, operationId });
    }
  });
}

async function done(
  db: Database,
  operation: Operation<DirectAction>,
  options: OperatorOptions,
): Promise<OperationResult | undefined> {
  try {
    const result = await actDirectly(db, operation);
    printDone(operation, result, options);
    return result;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printRefused(operation, error, options);
    return undefined;
  }
}

async function signalNow(
  context: OpsContext,
  signal: (client: TemporalClient) => Promise<void>,
  {
    limitMs = SIGNAL_MS,
    undone,
    operationId,
  }: Pick<DirectOptions, 'limitMs' | 'undone'> & { readonly operationId: OperationId },
): Promise<void> {
  try {
    await withTemporalSoon(context.temporal(), limitMs, signal);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (undone === undefined) {
      console.error(
        `It is recorded, but its workflow could not be signalled (${why}). It picks it up on its own once Temporal and a worker are up. To signal it again: --operation ${operationId}`,
      );
      return;
    }
    process.exitCode = UNKNOWN;
    console.error(`${undone} (${why}). Repeat the command with --operation ${operationId}`);
  }
}
