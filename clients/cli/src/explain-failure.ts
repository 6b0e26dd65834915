import { ApiError, ConnectionError, isApiError, type AnyApiError } from '@gpu-rental/client';
import { CommanderError } from 'commander';
import type { ExitKind } from './exit-codes.js';
import { Failure } from './failure.js';
import { adviceFor } from './refusals.js';

/** A failure as it is told: to people in sentences, to programs as JSON. */
export interface Told {
  readonly kind: ExitKind;
  /** The code to program against: the service's own where it refused, else the kind of failure. */
  readonly code: string;
  readonly message: string;
  readonly next: string | undefined;
  readonly requestId: string | undefined;
  readonly details: unknown;
}

/** Finds the words for whatever was thrown. */
export function explainFailure(error: unknown, url: string, givenUp: boolean): Told {
  if (error instanceof Failure) return explainOwn(error);
  if (isApiError(error)) return explainRefusal(error);
  if (givenUp) return told('givenUp', 'Given up.');
  if (error instanceof ConnectionError) return explainConnection(error, url);
  if (error instanceof CommanderError)
    return told('usage', sentence(error.message), 'See how it is used: --help');
  return told(
    'fault',
    `Something went wrong inside this command: ${error instanceof Error ? error.message : String(error)}`,
    'Please report it with what you typed.',
  );
}

function explainOwn({ kind, message, next, cause }: Failure): Told {
  return { ...told(kind, message, next), requestId: cause instanceof ApiError ? cause.requestId : undefined };
}

function explainRefusal(error: AnyApiError): Told {
  const { kind, next, message = withoutRoutes(error.message) } = adviceFor(error);
  return { kind, code: error.code, message, next, requestId: error.requestId, details: error.details };
}

function explainConnection(error: ConnectionError, url: string): Told {
  if (error.status !== undefined && error.status >= 500) {
    return told(
      'server',
      `${url} answers HTTP ${error.status}: the service is not reachable there now.`,
      later,
    );
  }
  if (error.status !== undefined)
    return told('network', error.message, 'Check the address, or name another: --url');
  if (error.timedOut) return told('network', `${url} does not answer in time.`, later);
  return told(
    'network',
    `No connection to ${url}${causeOf(error)}.`,
    'Check your network (and HTTPS_PROXY, if you use a proxy), or name another address with --url. Locally, "npm start" brings the service up.',
  );
}

/** Leaves out of the service's words what only whoever writes programs for it can use: GET /v1/… lists them. */
function withoutRoutes(message: string): string {
  const parts = message.split(/(?<=[.:;]) /).filter((part) => !part.includes('/v1/'));
  return parts.length === 0 ? message : parts.join(' ').replace(/[:;]$/, '.');
}

/** The words of the library that reads the command line, as a sentence of ours. */
function sentence(message: string): string {
  const [first = '', ...rest] = message.replace(/^error: /, '').split('\n');
  const text = `${first.charAt(0).toUpperCase()}${first.slice(1)}`;
  return [/[.?!]$/.test(text) ? text : `${text}.`, ...rest].join('\n');
}

const later = 'Try again in a moment.';

function told(kind: ExitKind, message: string, next?: string): Told {
  return { kind, code: kind, message, next, requestId: undefined, details: undefined };
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'names are not resolved',
  ENETUNREACH: 'the network is not reachable',
  EHOSTUNREACH: 'the host is not reachable',
  ECONNRESET: 'it was cut',
  UND_ERR_CONNECT_TIMEOUT: 'nobody answers',
};

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code !== undefined && words[code] !== undefined) return `: ${words[code]}`;
  return causeOf(error.cause);
}
