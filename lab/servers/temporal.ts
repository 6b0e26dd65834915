import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Connection } from '@temporalio/client';
import { connectionTo, whyNot, type TemporalPlace } from '../../adapters/temporal/place.js';
import type { SearchAttributeType } from '@temporalio/common';
import { startProgram, type Program } from './program.js';

/** The same shape as the SDK's (`defineSearchAttributeKey`). */
export interface SearchAttribute {
  readonly name: string;
  readonly type: SearchAttributeType;
}

export interface TemporalOptions {
  readonly cliPath: string;
  readonly port: number;
  /** undefined: no UI. */
  readonly uiPort: number | undefined;
  /** undefined: in memory, and a restart forgets every workflow. */
  readonly dbFile: string | undefined;
  readonly namespace: string;
  readonly searchAttributes: readonly SearchAttribute[];
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
  /** Settings of the server by their names; none unless given. */
  readonly dynamicConfig?: Readonly<Record<string, string>> | undefined;
  /** Gives up a start that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** A Temporal server on loopback that ends with us. */
export interface TemporalServer extends Program {
  /** host:port of its gRPC front end. */
  readonly address: string;
}

const readyLimitMs = 120_000;

/** The types by the CLI's names and by the numbers of temporal.api.enums.v1.IndexedValueType, as on the wire. */
const attributeTypes: Record<SearchAttributeType, { cli: string; wire: number }> = {
  TEXT: { cli: 'Text', wire: 1 },
  KEYWORD: { cli: 'Keyword', wire: 2 },
  INT: { cli: 'Int', wire: 3 },
  DOUBLE: { cli: 'Double', wire: 4 },
  BOOL: { cli: 'Bool', wire: 5 },
  DATETIME: { cli: 'Datetime', wire: 6 },
  KEYWORD_LIST: { cli: 'KeywordList', wire: 7 },
};

/**
 * Starts the CLI's dev server on 127.0.0.1 and waits until a client can use the namespace. It reuses an existing
 * database file, with the attributes that the file already knows.
 * @throws ProgramError with the server's last lines
 */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  const place = { address: `127.0.0.1:${options.port}`, namespace: options.namespace };
  if (options.dbFile !== undefined) mkdirSync(dirname(options.dbFile), { recursive: true });
  const program = await startProgram({
    name: 'Temporal',
    command: options.cliPath,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(options.port)],
      ...(options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)]),
      ...(options.dbFile === undefined ? [] : ['--db-filename', options.dbFile]),
      ...['--namespace', options.namespace],
      ...Object.entries(options.dynamicConfig ?? {}).flatMap(([name, value]) => [
        '--dynamic-config-value',
        `${name}=${JSON.stringify(value)}`,
      ]),
      ...options.searchAttributes.flatMap(({ name, type }) => [
        '--search-attribute',
        `${name}=${attributeTypes[type].cli}`,
      ]),
    ],
    // The CLI takes TEMPORAL_* for options of its own: a remote address or a key does not belong here.
    env: Object.fromEntries(Object.entries(options.env).filter(([name]) => !name.startsWith('TEMPORAL_'))),
    cwd: '/',
    logFile: options.logFile,
    isReady: async () => await canUse(place),
    readyLimitMs,
    stopSignal: 'SIGTERM',
    stopLimitMs: 10_000,
    signal: options.signal,
  });
  try {
    await registerSearchAttributes(place, options.searchAttributes);
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { ...program, address: place.address };
}

/** @returns the reason why the namespace can't be used, or undefined when it can */
export async function findTemporalFault(place: TemporalPlace): Promise<string | undefined> {
  try {
    await describe(place);
    return undefined;
  } catch (error) {
    return whyNot(place, error);
  }
}

async function canUse(place: TemporalPlace): Promise<boolean> {
  return describe(place).then(
    () => true,
    () => false,
  );
}

async function describe(place: TemporalPlace): Promise<void> {
  const { namespace } = place;
  await withConnection(place, async (connection) => {
    await connection.workflowService.describeNamespace({ namespace });
  });
}

/**
 * Registers the product's search attributes with a server. It leaves existing ones alone, so that each start may call
 * it.
 * @throws Error when one exists under another type: a server can't change it, the database file must go
 */
export async function registerSearchAttributes(
  place: TemporalPlace,
  attributes: readonly SearchAttribute[],
): Promise<void> {
  const { address, namespace } = place;
  await withConnection(place, async (connection) => {
    const listed = await connection.operatorService.listSearchAttributes({ namespace });
    const known: Record<string, number> = listed.customAttributes;
    const wrong = attributes.find(
      ({ name, type }) => name in known && known[name] !== attributeTypes[type].wire,
    );
    if (wrong) {
      throw new Error(
        `Temporal at ${address} already has a search attribute ${wrong.name} of another type than ${attributeTypes[wrong.type].cli}. ` +
          'Run "npm run reset" (it removes all local data), or take another namespace (TEMPORAL_NAMESPACE).',
      );
    }
    const missing = attributes.filter(({ name }) => !(name in known));
    if (missing.length === 0) return;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map(({ name, type }) => [name, attributeTypes[type].wire]),
      ),
    });
  });
}

async function withConnection<T>(
  place: TemporalPlace,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  // It takes a while to load: meanwhile the server starts.
  const client = await import('@temporalio/client');
  const connection = await client.Connection.connect({ ...connectionTo(place), connectTimeout: 2000 });
  try {
    return await connection.withDeadline(Date.now() + 10_000, () => use(connection));
  } finally {
    await connection.close();
  }
}
