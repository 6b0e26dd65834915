import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import Joi from 'joi';
import type { TemporalPlace } from '../../adapters/temporal/place.js';
import { ConfigError, readTemporal, temporalVariables } from '../../config.js';
import type { TemporalCliPlaces } from '../servers/temporal-cli-binary.js';

/** The ports of the stack, all on 127.0.0.1. */
export interface StackPorts {
  readonly api: number;
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly provider: number;
  readonly processor: number;
  readonly mail: number;
  readonly smtp: number;
  readonly apiMetrics: number;
  readonly workerMetrics: number;
  readonly listenerMetrics: number;
  readonly listener: number;
}

/** The settings of the local stack, from the environment. */
export interface StackSettings {
  readonly projectDir: string;
  /** Absolute. The folder of the stack's data and logs. */
  readonly dataDir: string;
  readonly ports: StackPorts;
  /** null: the stack brings its own PostgreSQL. */
  readonly databaseUrl: string | null;
  /** null: the stack brings its own Temporal. */
  readonly temporal: TemporalPlace | null;
  readonly temporalNamespace: string;
  readonly cliPlaces: TemporalCliPlaces;
  /** null: the API serves it at its own address. */
  readonly dashboardUrl: string | null;
  /** The environment that the children inherit. */
  readonly env: NodeJS.ProcessEnv;
}

/** The variable that sets each port, its default, and the likely holder of a taken port. */
export const portVariables: {
  readonly [name in keyof StackPorts]: { variable: string; port: number; service: string; holder: string };
} = {
  api: { variable: 'API_PORT', port: 8080, service: 'the API', holder: 'another web server' },
  postgres: {
    variable: 'LAB_POSTGRES_PORT',
    port: 54329,
    service: 'PostgreSQL',
    holder: 'another PostgreSQL',
  },
  temporal: {
    variable: 'LAB_TEMPORAL_PORT',
    port: 7233,
    service: 'Temporal',
    holder: 'another Temporal server (TEMPORAL_ADDRESS makes the stack use it)',
  },
  temporalUi: {
    variable: 'LAB_TEMPORAL_UI_PORT',
    port: 8233,
    service: "Temporal's UI",
    holder: 'another Temporal dev server',
  },
  provider: {
    variable: 'LAB_PROVIDER_PORT',
    port: 9100,
    service: 'the GPU provider',
    holder: 'an exporter of metrics',
  },
  processor: {
    variable: 'LAB_PROCESSOR_PORT',
    port: 9200,
    service: 'the payment processor',
    holder: 'a search server',
  },
  mail: { variable: 'LAB_MAIL_PORT', port: 9300, service: 'the mail inbox', holder: 'a search server' },
  smtp: { variable: 'LAB_SMTP_PORT', port: 9325, service: 'the mail server', holder: 'another mail catcher' },
  apiMetrics: {
    variable: 'LAB_API_METRICS_PORT',
    port: 9464,
    service: 'the API’s metrics',
    holder: 'an exporter of metrics',
  },
  workerMetrics: {
    variable: 'LAB_WORKER_METRICS_PORT',
    port: 9465,
    service: 'the worker’s metrics',
    holder: 'an exporter of metrics',
  },
  listenerMetrics: {
    variable: 'LAB_LISTENER_METRICS_PORT',
    port: 9466,
    service: 'the listener’s metrics',
    holder: 'an exporter of metrics',
  },
  listener: {
    variable: 'MACHINE_PORT',
    port: 8090,
    service: 'the listener of machines',
    holder: 'another web server',
  },
};

const projectDir = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const port = Joi.number().integer().min(1).max(65_535);

const schema = Joi.object({
  ...Object.fromEntries(Object.values(portVariables).map((item) => [item.variable, port.default(item.port)])),
  LAB_DATA_DIR: Joi.string().default('.data'),
  DATABASE_URL: Joi.string().uri({ scheme: ['postgres', 'postgresql'] }),
  TEMPORAL_NAMESPACE: Joi.string().default('default'),
  TEMPORAL_CLI_PATH: Joi.string(),
  XDG_CACHE_HOME: Joi.string(),
  DASHBOARD_URL: Joi.string().uri({ scheme: ['http', 'https'] }),
  PATH: Joi.string().allow('').default(''),
}).options({ abortEarly: false, stripUnknown: true, convert: true });

type Env = Record<string, string | number | undefined> & {
  LAB_DATA_DIR: string;
  DATABASE_URL?: string;
  TEMPORAL_NAMESPACE: string;
  TEMPORAL_CLI_PATH?: string;
  XDG_CACHE_HOME?: string;
  DASHBOARD_URL?: string;
  PATH: string;
};

/**
 * Reads the local stack's settings from the environment. The lab reads the environment only here. An empty variable
 * counts as not set.
 * @throws Error naming every fault at once
 */
export function readStackSettings(env: NodeJS.ProcessEnv = process.env): StackSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { error, value } = schema.validate(given) as { error?: Joi.ValidationError; value: Env };
  const { place, faults: temporalFaults } = findTemporal(given);
  const faults = [
    ...(error ? error.details.map((detail) => detail.message) : portFaults(readPorts(value))),
    ...temporalFaults,
  ];
  if (faults.length > 0) {
    throw new Error(
      [
        'The stack can not start with these environment variables:',
        ...faults.map((fault) => `  - ${fault}`),
      ].join('\n'),
    );
  }
  return {
    projectDir,
    dataDir: resolve(projectDir, value.LAB_DATA_DIR),
    ports: readPorts(value),
    databaseUrl: value.DATABASE_URL ?? null,
    temporal: place,
    temporalNamespace: namespaceOf(place, value),
    cliPlaces: {
      explicit: value.TEMPORAL_CLI_PATH,
      searchPath: value.PATH,
      cacheDir: join(value.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gpu-rental', 'bin'),
    },
    dashboardUrl: value.DASHBOARD_URL ?? null,
    env,
  };
}

/** @returns a server that runs already; null where none is named, or where its variables have faults */
function findTemporal(env: NodeJS.ProcessEnv): { place: TemporalPlace | null; faults: readonly string[] } {
  if (!env['TEMPORAL_ADDRESS'] && !env['TEMPORAL_CONFIG_FILE']) return { place: null, faults: [] };
  try {
    return { place: readTemporal(env), faults: [] };
  } catch (error) {
    if (error instanceof ConfigError) return { place: null, faults: error.faults };
    throw error;
  }
}

function namespaceOf(place: TemporalPlace | null, value: Env): string {
  return place?.namespace ?? value.TEMPORAL_NAMESPACE;
}

/**
 * The variables by which a process finds the stack's Temporal. Those that a developer's shell has for another server
 * count as not set.
 */
export function temporalEnv({ temporal, temporalNamespace, ports, env }: StackSettings): NodeJS.ProcessEnv {
  const own = Object.keys(temporalVariables).filter((name) => name !== 'TEMPORAL_UI_URL');
  return {
    ...Object.fromEntries(own.map((name) => [name, (temporal && env[name]) ?? ''])),
    TEMPORAL_ADDRESS: temporal?.address ?? `127.0.0.1:${ports.temporal}`,
    TEMPORAL_NAMESPACE: temporalNamespace,
  };
}

function readPorts(value: Env): StackPorts {
  const read = (name: keyof StackPorts) => Number(value[portVariables[name].variable]);
  return {
    api: read('api'),
    postgres: read('postgres'),
    temporal: read('temporal'),
    temporalUi: read('temporalUi'),
    provider: read('provider'),
    processor: read('processor'),
    mail: read('mail'),
    smtp: read('smtp'),
    apiMetrics: read('apiMetrics'),
    workerMetrics: read('workerMetrics'),
    listenerMetrics: read('listenerMetrics'),
    listener: read('listener'),
  };
}

function portFaults(ports: StackPorts): string[] {
  const names = Object.keys(portVariables) as (keyof StackPorts)[];
  return names.flatMap((name, index) => {
    const twin = names.slice(0, index).find((other) => ports[other] === ports[name]);
    if (twin === undefined) return [];
    return [
      `${portVariables[name].variable} and ${portVariables[twin].variable} are both ${ports[name]}: give each its own`,
    ];
  });
}
