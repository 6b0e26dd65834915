import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { newId } from '../adapters/ids.js';
import type { Database } from '../adapters/postgres/database.js';
import {
  getOrder,
  nameOfLogin,
  operatorsOf,
  readLogin,
  requestOrder,
  type OrderedItem,
} from '../adapters/postgres/operators/operator-orders.js';
import { readProgress, type OrderProgress } from '../adapters/postgres/operators/order-items.js';
import type { OperatorOrderRow } from '../adapters/postgres/rows/tables.js';
import type { OperationId } from '../domain/ids.js';
import type { OperationResult, OperatorAction, OrderedAction } from '../domain/operations/operation.js';
import { Refusal } from '../domain/refusal.js';
import type { OperationOutcome } from '../workflows/contracts/operation.js';
import { using, type OpsContext } from './context.js';
import type { OperatorOptions } from './options.js';
import { hasPassedDeadline, type TemporalClient } from '../adapters/temporal/client.js';
import { withTemporal } from '../adapters/temporal/command.js';
import { runOrder } from '../adapters/temporal/run-by-hand.js';

/** How long a command waits for the outcome. */
const WAIT_MS = 30_000;

/** The exit code of an order that waits for a second operator: it is neither done nor refused. */
const WAITS = 3;

/** The exit code of an outcome that is not known yet. */
const UNKNOWN = 2;

/**
 * Writes the order down, lets the workflow `operation` do it, and prints the outcome (decision 87, "Operator orders").
 * It prints the id first: an operator who loses the connection repeats the command with it.
 * @param action the action, or how to find it in the database
 */
export async function operate(
  context: OpsContext,
  action: OperatorAction | ((db: Database) => Promise<OperatorAction>),
  options: OperatorOptions,
): Promise<void> {
  await using(context, async (db) => {
    const asked = typeof action === 'function' ? await action(db) : action;
    const order = await placeOrder(db, asked, options);
    if (order) await carryOut(context, db, order.id, options);
  });
}

/**
 * Writes down who asks for what, unless it is a dry run or nobody consents.
 * @param items the rentals of an order of many
 * @returns undefined when there is nothing to carry out: that has been printed
 */
export async function placeOrder(
  db: Database,
  action: OrderedAction,
  options: OperatorOptions,
  items: readonly OrderedItem[] = [],
): Promise<OperatorOrderRow | undefined> {
  const saidBy = await operatorName(db, options);
  if (toldOnly(saidBy, action, options)) return undefined;
  await askConsent(action, options);
  const { reason, operation: id = newId('op') } = options;
  console.error(`Operation and workflow ${id}. If the connection breaks, repeat this with --operation ${id}`);
  try {
    return await requestOrder(db, { id, action, reason, saidBy, items });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printRefused({ operationId: id, action }, error, options);
    return undefined;
  }
}

/** Lets an order's workflow look at it, and prints how it stands then. @returns that */
export async function carryOut(
  context: OpsContext,
  db: Database,
  id: OperationId,
  options: Pick<OperatorOptions, 'json'>,
): Promise<OperatorOrderRow> {
  const before = await getOrder(db, id);
  const said =
    before.closed_at === null
      ? await withTemporal(context.temporal(), (client) => run(client, before, context.waitMs ?? WAIT_MS))
      : undefined;
  const after = await getOrder(db, id);
  if (said?.outcome === 'going_on' && after.closed_at === null) {
    printGoingOn(after, await readProgress(db, id), options);
  } else printOrder(after, options, said);
  return after;
}

/**
 * The name of the operator who acts: the login's owner, or the name of `--by` where several may share the login.
 * @throws Error when neither tells, or `--by` names somebody else than the login's owner
 */
export async function operatorName(db: Database, { by }: Pick<OperatorOptions, 'by'>): Promise<string> {
  const login = await readLogin(db);
  const owner = nameOfLogin(login);
  if (owner === undefined) {
    if (by !== undefined) return by;
    throw new Error(
      `Say who you are: --by <name>. The login ${login} is shared. Create your own with ops login add.`,
    );
  }
  if (by === undefined || by === owner) return owner;
  throw new Error(`You are logged in as ${owner}: leave out --by, or log in as ${by}.`);
}

/** Tells whether it was a dry run: then it has printed what would be done, and that is all. */
export function toldOnly(
  operator: string,
  action: object,
  { dryRun }: Pick<OperatorOptions, 'dryRun'>,
): boolean {
  if (dryRun !== true) return false;
  console.log(`Would do as ${operator}: ${JSON.stringify(action)}`);
  return true;
}

/** A refusal's code and its words for people. */
interface Refused {
  readonly code: string;
  readonly message: string;
}

/** Prints that something was refused; exit code 1. */
export function printRefused(
  asked: object,
  { code, message }: Refused,
  { json }: Pick<OperatorOptions, 'json'>,
): void {
  process.exitCode = 1;
  const told = { ...asked, outcome: 'refused', code, message };
  console.log(json === true ? JSON.stringify(told) : `Refused (${code}): ${message}`);
}

/** Prints what was done. */
export function printDone(
  asked: object,
  result: OperationResult,
  { json }: Pick<OperatorOptions, 'json'>,
): void {
  const facts = Object.entries(result).map(([name, value]) => `${name} ${value}`);
  console.log(
    json === true ? JSON.stringify({ ...asked, outcome: 'done', result }) : `Done: ${facts.join(', ')}`,
  );
}

/** Asks before something that can't be undone. @throws Error when nobody consents */
export async function askConsent(action: object, { yes }: Pick<OperatorOptions, 'yes'>): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY) {
    throw new Error('You may not be able to undo this. Add --yes, or run it in a terminal to confirm.');
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // An operator who ends the input instead of answering does not consent.
  const ended = once(asking, 'close').then(() => '');
  const answer = await Promise.race([asking.question(`${JSON.stringify(action)}\nDo it? [y/N] `), ended]);
  asking.close();
  if (answer.trim().toLowerCase() !== 'y') throw new Error('Cancelled. Nothing was done.');
}

/** Prints how far an order of many is: it takes longer than anybody waits for. */
function printGoingOn(
  { id, request: action }: OperatorOrderRow,
  progress: OrderProgress,
  { json }: Pick<OperatorOptions, 'json'>,
): void {
  process.exitCode = UNKNOWN;
  console.log(
    json === true
      ? JSON.stringify({ operationId: id, action, outcome: 'going_on', progress })
      : `Still running: ${progressText(progress)}. To check progress: ops orders show ${id}`,
  );
}

/** "4990 of 5000 rentals are done, 41250 cents; 10 failed and are tried again". */
export function progressText({ rentals, done, refundedCents, failing }: OrderProgress): string {
  const failed = failing === 0 ? '' : `; ${failing} failed and are tried again`;
  return `${done} of ${rentals} rentals are done, ${refundedCents} cents${failed}`;
}

function printOrder(
  order: OperatorOrderRow,
  options: Pick<OperatorOptions, 'json'>,
  said: Said | undefined,
): void {
  const { id, reason, request: action } = order;
  const asked = { operationId: id, operator: operatorsOf(order), reason, action };
  const refusal = whyNotDone(order, said);
  if (order.result !== null) printDone(asked, order.result, options);
  else if (refusal) printRefused(asked, refusal, options);
  else {
    process.exitCode = WAITS;
    console.log(
      options.json === true
        ? JSON.stringify({ ...asked, outcome: 'waiting' })
        : `Waiting for approval: with your other orders of 24 hours it is more than one operator may move alone. Another operator approves it with:\n  npm run ops -- orders approve ${id}`,
    );
  }
}

/** The reason why an order is not done: for good, by its row, or this time, by its workflow's word. */
function whyNotDone(
  { status, code, message, ...order }: OperatorOrderRow,
  said: Said | undefined,
): Refused | undefined {
  if (status === 'rejected') {
    const words = `${order.rejected_by ?? 'An operator'} rejected it: ${order.rejected_why ?? ''}`;
    return { code: 'rejected', message: words };
  }
  if (code !== null) return { code, message: message ?? '' };
  if (said?.outcome !== 'refused') return undefined;
  return { code: said.code, message: said.message ?? 'It was refused. You can try again.' };
}

/** The workflow's answer, or the fact that it had not ended when the wait was over. */
type Said = OperationOutcome | { readonly outcome: 'going_on' };

async function run(
  client: TemporalClient,
  { id: operationId, kind }: OperatorOrderRow,
  waitMs: number,
): Promise<Said> {
  try {
    return await client.withDeadline(Date.now() + waitMs, () => runOrder(client.workflow, operationId));
  } catch (cause) {
    if (kind === 'refund_rentals' && hasPassedDeadline(cause)) return { outcome: 'going_on' };
    throw new Error(
      `The result is unknown (${String(cause)}). Check the workflow ${operationId} and ops orders show ${operationId}, or repeat this with --operation ${operationId}: nothing happens twice.`,
      { cause },
    );
  }
}
