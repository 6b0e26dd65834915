import { loopbackOrigins } from '../../api/http/middleware/hosts.js';
import { join } from 'node:path';
import { databaseRoles } from '../../migrations/roles.js';
import { answers, answersOk, type ProgramPlan } from '../servers/program.js';
import type { StackSecrets } from './secrets.js';
import { portVariables, temporalEnv, type StackPorts, type StackSettings } from './settings.js';
import { urlsOf } from './urls.js';

/** A TypeScript program of this project that the stack runs as a child process. */
export interface Child {
  readonly name: string;
  /** Below the project's folder. */
  readonly file: string;
  readonly args?: readonly string[];
  /** The database role that limits its rights. */
  readonly databaseRole?: string;
  readonly isReady: ProgramPlan['isReady'];
  readonly stopLimitMs: number;
  /** The port of its metrics. */
  readonly metricsPort?: number;
}

/** The children: what stands in for the outside needs nobody; the service needs all of it, and the servers. */
export function childrenOf(
  settings: StackSettings,
  secrets: StackSecrets,
): { readonly outside: readonly Child[]; readonly service: readonly Child[] } {
  const { ports, dataDir } = settings;
  const urls = urlsOf(settings);
  const outside: Child[] = [
    {
      name: 'GPU provider',
      file: 'lab/provider/main.ts',
      args: [
        ...['--port', String(ports.provider), '--data-dir', join(dataDir, 'provider')],
        ...['--api-key', secrets.providerKey],
      ],
      isReady: () => answers(urls.provider),
      stopLimitMs: 10_000,
    },
    {
      name: 'payment processor',
      file: 'lab/processor/main.ts',
      args: [
        ...['--port', String(ports.processor), '--data-dir', join(dataDir, 'processor')],
        ...['--secret-key', secrets.processorSecretKey, '--publishable-key', secrets.processorPublishableKey],
        ...['--webhook-url', `${urls.api}/v1/billing/processor/webhook`],
        ...['--webhook-secret', secrets.webhookSecret],
      ],
      isReady: () => answers(urls.processor),
      stopLimitMs: 5000,
    },
    {
      name: 'mail inbox',
      file: 'lab/mail/main.ts',
      isReady: () => answersOk(`${urls.mail}/mails`),
      stopLimitMs: 5000,
    },
  ];
  const worker: Child = {
    name: 'worker',
    file: 'worker/index.ts',
    databaseRole: databaseRoles.worker,
    isReady: (logged) => /"msg":\s*"worker ready"/.test(logged()),
    stopLimitMs: 20_000,
    metricsPort: ports.workerMetrics,
  };
  const api: Child = {
    name: 'API',
    file: 'api/index.ts',
    databaseRole: databaseRoles.api,
    isReady: () => answersOk(`${urls.api}/readyz`),
    stopLimitMs: 15_000,
    metricsPort: ports.apiMetrics,
  };
  const listener: Child = {
    name: 'listener',
    file: 'listener/index.ts',
    databaseRole: databaseRoles.machine,
    isReady: () => answersOk(`${urls.listener}/readyz`),
    stopLimitMs: 15_000,
    metricsPort: ports.listenerMetrics,
  };
  return { outside, service: [worker, api, listener] };
}

/** The plan of a child: by this Node, under tsx, with its output in a separate file. */
export function planOf(child: Child, settings: StackSettings, secrets: StackSecrets): ProgramPlan {
  return {
    name: `The ${child.name}`,
    command: process.execPath,
    args: ['--import', 'tsx', child.file, ...(child.args ?? [])],
    env: {
      ...childEnv(settings, secrets),
      DATABASE_ROLE: child.databaseRole ?? '',
      METRICS_PORT: String(child.metricsPort ?? ''),
    },
    cwd: settings.projectDir,
    logFile: logFileOf(child.name, settings),
    isReady: child.isReady,
    readyLimitMs: 120_000,
    stopSignal: 'SIGTERM',
    stopLimitMs: child.stopLimitMs,
  };
}

export function logFileOf(name: string, settings: StackSettings): string {
  return join(settings.dataDir, 'logs', `${name.toLowerCase().replaceAll(' ', '-')}.log`);
}

/**
 * Makes the environment of the children: ours, with the stack's own parts in place of everything outside. Keys of real
 * upstreams that may lie in a developer's shell are removed: play money must not buy real machines, nor a real card pay
 * for play.
 */
function childEnv(settings: StackSettings, secrets: StackSecrets): NodeJS.ProcessEnv {
  const urls = urlsOf(settings);
  return {
    SUPPORT_CONTACT: 'support@example.com',
    ...settings.env,
    ...stackVariables(settings),
    DATABASE_URL: settings.databaseUrl ?? urls.database,
    ...temporalEnv(settings),
    ...(urls.temporalUi === null ? {} : { TEMPORAL_UI_URL: urls.temporalUi }),
    LOG_LEVEL: logLevelOf(settings),
    API_HOST: '127.0.0.1',
    METRICS_HOST: '127.0.0.1',
    ...browserVariables(settings),
    SMTP_URL: urls.smtp,
    STRIPE_SECRET_KEY: secrets.processorSecretKey,
    STRIPE_PUBLISHABLE_KEY: secrets.processorPublishableKey,
    STRIPE_WEBHOOK_SECRETS: secrets.webhookSecret,
    STRIPE_API_URL: urls.processor,
    WEBHOOK_PUBLIC_KEY: secrets.webhookKeys.publicKey,
    WEBHOOK_PRIVATE_KEYS: secrets.webhookKeys.privateKey,
    INSTALLATION_KEY: secrets.installationKey,
    MACHINE_HOST: '127.0.0.1',
    MACHINE_URL: urls.listener,
    ALLOW_PRIVATE_MACHINES: 'true',
    // Whoever tries the service out ends machines at once, and all their users pay with the same few cards.
    FREE_MACHINES_CENTS: '100000',
    ALLOW_PRIVATE_WEBHOOKS: 'true',
    PUBLIC_PRICES: 'true',
    LAB_PROVIDER_URL: urls.provider,
    LAB_PROVIDER_KEY: secrets.providerKey,
    SHADEFORM_API_KEY: '',
    RUNPOD_API_KEY: '',
    VAST_API_KEY: '',
    LAMBDA_API_KEY: '',
  };
}

/** The variables of the API that say where browsers reach it, and where they find the dashboard. */
export function browserVariables(settings: StackSettings) {
  const dashboardUrl = settings.dashboardUrl ?? urlsOf(settings).api;
  const origins = originsOf(settings);
  return {
    DASHBOARD_URL: dashboardUrl,
    ALLOWED_ORIGINS: origins.join(','),
    ALLOWED_HOSTS: [...origins, dashboardUrl].map((origin) => new URL(origin).host).join(','),
    SECURE_COOKIE: 'false',
  };
}

/** Where browsers may reach the stack's API: by this machine's own names, and by those that the environment adds. */
function originsOf({ ports, env }: StackSettings): string[] {
  const added = (env['ALLOWED_ORIGINS'] ?? '').split(',').map((origin) => origin.trim());
  return [...loopbackOrigins(ports.api), ...added.filter((origin) => URL.canParse(origin))];
}

/** Writes the settings as variables again, so that a child reads the same values, whatever their source. */
function stackVariables(settings: StackSettings): NodeJS.ProcessEnv {
  const names = Object.keys(portVariables) as (keyof StackPorts)[];
  return {
    LAB_DATA_DIR: settings.dataDir,
    ...Object.fromEntries(names.map((name) => [portVariables[name].variable, String(settings.ports[name])])),
  };
}

/** A quieter level would hide the line by which the worker says that it is ready. */
function logLevelOf(settings: StackSettings): string {
  const level = settings.env['LOG_LEVEL'] ?? '';
  return ['debug', 'trace'].includes(level) ? level : 'info';
}
