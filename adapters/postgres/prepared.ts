import { createHash } from 'node:crypto';
import type { Database, Transaction } from './database.js';
import { knexClientOf, type Connection, type KnexClient } from './knex-inside.js';
import { sqlStateOf } from './sql-state.js';

/** A statement that the server parses and plans once for each connection. */
export interface Prepared<Values extends readonly unknown[]> {
  /** Unique among all prepared statements. */
  readonly name: string;
  /** With $1, $2 … for its values, and no question mark. */
  readonly sql: string;
  /** Only types: the values that it takes. */
  readonly values?: Values;
}

/** How a pool names its statements now. */
interface Naming {
  /** Part of each name: one more after each change of the schema that a plan noticed. */
  generation: number;
  /** Statements go without a name: a pooler mixes up whose they are. */
  isOff: boolean;
}

/** By the statement: they are constants. */
const hashes = new Map<string, string>();
const namings = new WeakMap<KnexClient, Naming>();

/** SQLSTATE feature_not_supported: "cached plan must not change result type", after a migration. */
const planOutdated = '0A000';
/** SQLSTATEs of a statement that this connection lacks, or that it has from another client: behind a pooler. */
const misplaced: ReadonlySet<string | undefined> = new Set(['26000', '42P05']);

/** How long what was read ahead is as good as new, in milliseconds. */
const AHEAD_FRESH_MS = 100;

/**
 * What a request will probably read, sent along with another statement. Whoever reads the same statement with the same
 * values takes it, once, and soon; for all others it is not there.
 */
export class ReadAhead {
  #found: { readonly answer: PromiseSettledResult<unknown[]>; readonly untilMs: number } | undefined;

  constructor(
    readonly statement: Prepared<readonly unknown[]>,
    readonly values: readonly unknown[],
  ) {}

  /** Keeps the answer, also where it is a failure: the same statement would wait for the same thing once more. */
  keep(answer: PromiseSettledResult<unknown[]>): void {
    this.#found = { answer, untilMs: performance.now() + AHEAD_FRESH_MS };
  }

  /**
   * Hands the answer out; undefined for another statement or other values, the second time, and late.
   * @throws as the statement did
   */
  take({ name }: Prepared<readonly unknown[]>, values: readonly unknown[]): unknown[] | undefined {
    const found = this.#found;
    const isSame =
      name === this.statement.name &&
      values.length === this.values.length &&
      values.every((value, index) => value === this.values[index]);
    if (found === undefined || !isSame) return undefined;
    this.#found = undefined;
    if (performance.now() >= found.untilMs) return undefined;
    if (found.answer.status === 'rejected') throw found.answer.reason;
    return found.answer.value;
  }
}

/**
 * Runs a prepared statement without the work that knex has with each statement: for requests whose cost that would be.
 * Where the server's plan is of no use any more, it has run nothing, and the statement is sent once more (decision 121,
 * "Cost of a read"). Within a transaction, which an error would end, it is sent as a whole.
 * @param ahead where the answer may be already
 * @throws as knex does
 */
export async function runPrepared<Row, Values extends readonly unknown[]>(
  db: Database | Transaction,
  statement: Prepared<Values>,
  values: Values,
  ahead?: ReadAhead,
): Promise<Row[]> {
  const there = ahead?.take(statement, values);
  if (there !== undefined) return there as Row[];
  return onConnection(db, (connection) => send<Row>(db, connection, statement, values));
}

/**
 * Runs a prepared statement as `runPrepared` does, and sends another one along, in one go and on the same connection.
 * It is answered after the first one, and sees nothing older. Its failure is that of whoever takes its answer.
 */
export async function readPreparedWith<Row, Values extends readonly unknown[]>(
  db: Database,
  statement: Prepared<Values>,
  values: Values,
  ahead: ReadAhead | undefined,
): Promise<Row[]> {
  if (ahead === undefined) return runPrepared(db, statement, values);
  return onConnection(db, async (connection) => {
    const [first, second] = await together(connection, () => [
      send<Row>(db, connection, statement, values),
      send<unknown>(db, connection, ahead.statement, ahead.values),
    ]);
    ahead.keep(second);
    if (first.status === 'rejected') throw first.reason;
    return first.value;
  });
}

/** Sends both before an answer has come, as one piece, and waits for the answers of both. */
async function together<First, Second>(
  connection: Connection,
  sendBoth: () => [Promise<First>, Promise<Second>],
): Promise<[PromiseSettledResult<First>, PromiseSettledResult<Second>]> {
  const { stream } = connection.connection;
  connection.pipeline = true;
  stream.cork();
  let sent: [Promise<First>, Promise<Second>];
  try {
    sent = sendBoth();
  } finally {
    stream.uncork();
  }
  try {
    return await Promise.allSettled(sent);
  } finally {
    connection.pipeline = false;
  }
}

async function onConnection<Found>(
  db: Database | Transaction,
  work: (connection: Connection) => Promise<Found>,
): Promise<Found> {
  const client = knexClientOf(db);
  const connection = await client.acquireConnection();
  try {
    return await work(connection);
  } finally {
    await client.releaseConnection(connection);
  }
}

async function send<Row>(
  db: Database | Transaction,
  connection: Connection,
  { name, sql }: Prepared<readonly unknown[]>,
  values: readonly unknown[],
): Promise<Row[]> {
  const client = knexClientOf(db);
  const naming = namingOf(client);
  const { generation } = naming;
  const once = async (): Promise<Row[]> => {
    const isNamed = !naming.isOff && !db.isTransaction;
    const options = isNamed ? { name: `${name}_${hashOf(sql)}_${naming.generation}` } : {};
    const { response } = await client.query(connection, { sql, bindings: [...values], options });
    return response.rows as Row[];
  };
  try {
    return await once();
  } catch (error) {
    if (db.isTransaction || naming.isOff || !isOfName(error)) throw error;
    if (sqlStateOf(error) !== planOutdated) naming.isOff = true;
    else if (naming.generation === generation) naming.generation += 1;
    return await once();
  }
}

/**
 * Eight hexadecimal digits of a statement, part of its name: behind a pooler, a program of another release may have
 * prepared another statement by the same name.
 */
function hashOf(sql: string): string {
  const known = hashes.get(sql);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(sql).digest('hex').slice(0, 8);
  hashes.set(sql, hash);
  return hash;
}

function isOfName(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === planOutdated || misplaced.has(state);
}

function namingOf(client: KnexClient): Naming {
  const known = namings.get(client);
  if (known !== undefined) return known;
  const naming: Naming = { generation: 1, isOff: false };
  namings.set(client, naming);
  return naming;
}
