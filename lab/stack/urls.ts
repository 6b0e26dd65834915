import type { StackSettings } from './settings.js';

/** The addresses of a stack's parts. */
export interface StackUrls {
  readonly api: string;
  readonly temporal: string;
  /** null when the Temporal server is not the stack's own. */
  readonly temporalUi: string | null;
  readonly mail: string;
  readonly smtp: string;
  readonly processor: string;
  readonly provider: string;
  readonly listener: string;
  /** Without the password when the database is not the stack's own. */
  readonly database: string;
}

/** @returns the addresses of the stack's parts; they follow from the settings alone */
export function urlsOf(settings: StackSettings): StackUrls {
  const { ports } = settings;
  const http = (port: number) => `http://127.0.0.1:${port}`;
  return {
    api: http(ports.api),
    temporal: settings.temporal?.address ?? `127.0.0.1:${ports.temporal}`,
    temporalUi: settings.temporal === null ? http(ports.temporalUi) : null,
    mail: http(ports.mail),
    smtp: `smtp://127.0.0.1:${ports.smtp}`,
    processor: http(ports.processor),
    provider: http(ports.provider),
    listener: http(ports.listener),
    database:
      settings.databaseUrl === null
        ? `postgres://gpu_rental:gpu_rental@127.0.0.1:${ports.postgres}/gpu_rental`
        : withoutPassword(settings.databaseUrl),
  };
}

function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  if (url.password !== '') url.password = '***';
  return url.toString();
}
