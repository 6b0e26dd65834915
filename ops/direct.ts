import { Client, Connection } from '@temporalio/client';
import { newId } from '../adapters/ids.js';
import { actDirectly } from '../adapters/postgres/direct-actions.js';
import type { Database } from '../adapters/postgres/database.js';
import type { DirectAction, Operation, OperationResult } from '../domain/operation.js';
import { Refusal } from '../domain/refusal.js';
import { using, type OpsContext } from './context.js';
import { askConsent, printOutcome, type OperatorOptions } from './operator.js';

/** How long Temporal may take to be told: what it is told of, it finds by itself as well. */
const TELL_MS = 3_000;

export interface DirectOptions {
  /** What can't be undone is asked for first, unless --yes is said. */
  readonly ask?: boolean;
  /** Tells a workflow at once; it finds the change by itself otherwise. */
  readonly tell?: (client: Client, result: OperationResult) => Promise<void>;
}

/** Does what needs Postgres only, and leaves who and why (decision 65). Exit code 1 when it is refused. */
export async function actByHand(
  context: OpsContext,
  action: DirectAction,
  options: OperatorOptions,
  { ask = false, tell }: DirectOptions = {},
): Promise<void> {
  const operation: Operation<DirectAction> = {
    operationId: options.operation ?? newId('op'),
    operator: options.by,
    reason: options.reason,
    action,
  };
  if (options.dryRun === true) {
    console.log(`Would do as ${operation.operator}: ${JSON.stringify(action)}`);
    return;
  }
  if (ask) await askConsent(action, options);
  await using(context, async (db) => {
    const result = await done(db, operation, options);
    if (result && tell) await tellNow(context, (client) => tell(client, result));
  });
}

async function done(
  db: Database,
  operation: Operation<DirectAction>,
  options: OperatorOptions,
): Promise<OperationResult | undefined> {
  try {
    const result = await actDirectly(db, operation);
    printOutcome(operation, { outcome: 'done', result }, options);
    return result;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printOutcome(operation, { outcome: 'refused', code: error.code, message: error.message }, options);
    return undefined;
  }
}

async function tellNow(context: OpsContext, tell: (client: Client) => Promise<void>): Promise<void> {
  const { address, namespace } = context.temporal();
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: TELL_MS });
    const client = new Client({ connection, namespace });
    await connection.withDeadline(Date.now() + TELL_MS, () => tell(client));
  } catch (error) {
    console.error(
      `It is written down, but its workflow could not be told (${error instanceof Error ? error.message : String(error)}). It looks by itself as soon as Temporal and a worker are up.`,
    );
  } finally {
    await connection?.close();
  }
}
