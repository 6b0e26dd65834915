import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import {
  Client,
  Connection,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
} from '@temporalio/client';
import { InvalidArgumentError, type Command } from 'commander';
import { newId } from '../adapters/ids.js';
import type { Operation, OperatorAction } from '../domain/operation.js';
import { isId, type IdPrefix, type OperationId } from '../domain/ids.js';
import { taskQueues } from '../domain/task-queues.js';
import { operationWorkflow, type OperationOutcome } from '../workflows/operation-contract.js';
import type { TemporalPlace } from './context.js';

/** What every command that moves money or invoices by hand takes. */
export interface OperatorOptions {
  readonly by: string;
  readonly reason: string;
  readonly operation?: OperationId;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Adds the options of `OperatorOptions`. */
export function asOperator(command: Command): Command {
  return command
    .requiredOption('--by <name>', 'who does it; kept for good')
    .requiredOption('--reason <text>', 'why; kept for good, and told to the user where money moves')
    .option('--operation <id>', 'repeats an operation (op_…): what was done is not done twice', idOf('op'))
    .option('--yes', 'do not ask')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--json', 'print the outcome as JSON');
}

/** Reads an id with this prefix. @throws InvalidArgumentError telling what an id looks like */
export function idOf<P extends IdPrefix>(prefix: P): (text: string) => `${P}_${string}` {
  return (text) => {
    if (isId(prefix, text)) return text;
    throw new InvalidArgumentError(`An id such as ${prefix}_01J… is needed.`);
  };
}

/** Reads whole cents, signed. @throws InvalidArgumentError */
export function centsOf(text: string): number {
  const cents = Number(text);
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(cents)) return cents;
  throw new InvalidArgumentError('Whole cents are needed, such as 500 for $5.00.');
}

/** Reads how many are wanted. @throws InvalidArgumentError */
export function countOf(text: string): number {
  const count = Number(text);
  if (/^\d{1,4}$/.test(text) && count >= 1 && count <= 1_000) return count;
  throw new InvalidArgumentError('A number from 1 to 1000 is needed.');
}

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
  const operation: Operation = {
    operationId: options.operation ?? newId('op'),
    operator: options.by,
    reason: options.reason,
    action,
  };
  if (options.dryRun === true) {
    console.log(`Would do as ${operation.operator}: ${JSON.stringify(action)}`);
    return;
  }
  await askConsent(action, options);
  console.error(
    `Operation and workflow ${operation.operationId}: if the connection breaks, repeat this with --operation ${operation.operationId}`,
  );
  const outcome = await run(temporal, operation);
  printOutcome(operation, outcome, options);
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

async function run({ address, namespace }: TemporalPlace, operation: Operation): Promise<OperationOutcome> {
  const connection = await Connection.connect({ address }).catch((cause: unknown) => {
    throw new Error(
      `Nothing was started: Temporal can't be reached at ${address}. Try again when it is up.`,
      {
        cause,
      },
    );
  });
  try {
    const client = new Client({ connection, namespace });
    return await connection.withDeadline(Date.now() + WAIT_MS, () => outcomeOf(client, operation));
  } catch (cause) {
    const { operationId } = operation;
    throw new Error(
      `It is not known what came of it (${String(cause)}). Look at the workflow ${operationId}, or repeat this with --operation ${operationId}: what was done is not done twice.`,
      { cause },
    );
  } finally {
    await connection.close();
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
