import { newId } from '../adapters/ids.js';
import { actDirectly } from '../adapters/postgres/operators/direct-actions.js';
import type { Database } from '../adapters/postgres/database.js';
import type { DirectAction, Operation, OperationResult } from '../domain/operations/operation.js';
import { Refusal } from '../domain/refusal.js';
import { using, type OpsContext } from './context.js';
import { askConsent, operatorName, printDone, printRefused, toldOnly } from './operator.js';
import type { OperatorOptions } from './options.js';
import type { TemporalClient } from '../adapters/temporal/client.js';
import { withTemporalSoon } from '../adapters/temporal/command.js';

/** The longest time to tell Temporal: its workflows find the change by themselves as well. */
const SIGNAL_MS = 3_000;

export interface DirectOptions {
  /** A consequence that can't be undone: the command asks first, unless --yes is given. */
  readonly then?: string;
  /** Signals a workflow at once; without it the workflow finds the change by itself. */
  readonly signal?: (client: TemporalClient, result: OperationResult) => Promise<void>;
}

/**
 * Does an action that needs Postgres only, and records who and why (decision 65, "Explained cents"). Exit code 1 when
 * it is refused.
 */
export async function actByHand(
  context: OpsContext,
  asked: DirectAction | ((db: Database) => Promise<DirectAction>),
  options: OperatorOptions,
  { then, signal }: DirectOptions = {},
): Promise<void> {
  await using(context, async (db) => {
    const action = typeof asked === 'function' ? await asked(db) : asked;
    const operator = await operatorName(db, options);
    if (toldOnly(operator, action, options)) return;
    if (then !== undefined) await askConsent({ ...action, then }, options);
    const { reason, operation: operationId = newId('op') } = options;
    const operation = { operationId, operator, reason, action };
    const result = await done(db, operation, options);
    if (result && signal) await signalNow(context, (client) => signal(client, result));
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
): Promise<void> {
  try {
    await withTemporalSoon(context.temporal(), SIGNAL_MS, signal);
  } catch (error) {
    console.error(
      `It is recorded, but its workflow could not be signalled (${error instanceof Error ? error.message : String(error)}). It picks it up on its own once Temporal and a worker are up.`,
    );
  }
}
