import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError, type Client } from '@temporalio/client';
import { newId } from '../adapters/ids.js';
import type { Operation, OperatorAction } from '../domain/operation.js';
import { taskQueues } from '../domain/task-queues.js';
import { operationWorkflow, type OperationOutcome } from '../workflows/operation-contract.js';
import type { TemporalPlace } from './context.js';
import type { OperatorOptions } from './options.js';
import { withTemporal } from './temporal.js';

/** How long the outcome is waited for. */
const WAIT_MS = 30_000;

/**
 * Starts the workflow `operation` and tells what came of it. Its id is told first: whoever loses the connection
 * repeats the command with it.
 */
export async function operate(
  temporal: TemporalPlace,
  action: OperatorAction,
  options: OperatorOptions,
): Promise<void> {
  const operation = operationOf(action, options);
  if (toldOnly(operation, options)) return;
  await askConsent(action, options);
  console.error(
    `Operation and workflow ${operation.operationId}: if the connection breaks, repeat this with --operation ${operation.operationId}`,
  );
  const outcome = await withTemporal(temporal, (client) => run(client, operation));
  printOutcome(operation, outcome, options);
}

/** Who does what, and why, under the id that makes it happen once. */
export function operationOf<A extends object>(action: A, options: OperatorOptions): Operation<A> {
  const { by: operator, reason, operation = newId('op') } = options;
  return { operationId: operation, operator, reason, action };
}

/** Whether it was a dry run: then it has told what would be done, and that is all. */
export function toldOnly(
  { operator, action }: Operation<object>,
  { dryRun }: Pick<OperatorOptions, 'dryRun'>,
): boolean {
  if (dryRun !== true) return false;
  console.log(`Would do as ${operator}: ${JSON.stringify(action)}`);
  return true;
}

/** Tells what came of an operation; exit code 1 when it was refused. */
export function printOutcome(
  operation: Operation<object>,
  outcome: OperationOutcome,
  { json }: Pick<OperatorOptions, 'json'>,
): void {
  if (outcome.outcome === 'refused') process.exitCode = 1;
  console.log(json === true ? JSON.stringify({ ...operation, ...outcome }) : textOf(outcome));
}

/** Asks before something is done that can't be undone. @throws Error when nobody consents */
export async function askConsent(action: object, { yes }: Pick<OperatorOptions, 'yes'>): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY) {
    throw new Error(
      'This changes money, invoices or machines: say --yes, or run it at a terminal to be asked.',
    );
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // Whoever ends the input instead of answering does not consent.
  const ended = once(asking, 'close').then(() => '');
  const answer = await Promise.race([asking.question(`${JSON.stringify(action)}\nDo it? [y/N] `), ended]);
  asking.close();
  if (answer.trim().toLowerCase() !== 'y') throw new Error('Nothing was done.');
}

async function run(client: Client, operation: Operation): Promise<OperationOutcome> {
  try {
    return await client.connection.withDeadline(Date.now() + WAIT_MS, () => outcomeOf(client, operation));
  } catch (cause) {
    const { operationId } = operation;
    throw new Error(
      `It is not known what came of it (${String(cause)}). Look at the workflow ${operationId}, or repeat this with --operation ${operationId}: what was done is not done twice.`,
      { cause },
    );
  }
}

/** Runs the operation. What runs under its id may be another request: its record tells, once that has ended. */
async function outcomeOf(client: Client, operation: Operation): Promise<OperationOutcome> {
  const workflowId = operation.operationId;
  for (;;) {
    try {
      return (await client.workflow.execute(operationWorkflow, {
        workflowId,
        taskQueue: taskQueues.rentals,
        args: [operation],
        staticSummary: summaryOf(operation),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
      })) as OperationOutcome;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await ended(client, workflowId);
    }
  }
}

/** Waits until what runs under an id has ended, in whatever way. */
async function ended(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).result();
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
  }
}

/** One short line for the list of workflows; the workflow's details say all of it. */
function summaryOf({ action, operator, reason }: Operation): string {
  return `${action.kind} by ${operator}: ${reason}`.slice(0, 100);
}

function textOf(outcome: OperationOutcome): string {
  if (outcome.outcome === 'refused') return `Refused (${outcome.code}): ${outcome.message}`;
  const facts = Object.entries(outcome.result).map(([name, value]) => `${name} ${value}`);
  return `Done: ${facts.join(', ')}`;
}
