import { ApiError, ConnectionError, isApiError, type AnyApiError } from '@gpu-rental/client';
import { CommanderError } from 'commander';
import type { ExitKind } from './exit-codes.js';
import { Failure } from './failure.js';
import { inOptions } from './fields.js';
import { adviceFor } from './refusals.js';

/** A failure as it is told: to people in sentences, to programs as JSON. */
export interface Told {
  readonly kind: ExitKind;
  /** The code to program against: the service's own where it refused, else the kind of failure. */
  readonly code: string;
  readonly message: string;
  readonly next: string | undefined;
  readonly requestId: string | undefined;
  /** Where to get help: a mail address or a page. */
  readonly support?: string | undefined;
  readonly details: unknown;
}

/** What was asked: the service's address, and how long it had for an answer where --timeout says so. */
export interface Asked {
  readonly url: string;
  readonly timeoutSeconds?: number | undefined;
}

/** Finds the words for whatever was thrown. */
export function explainFailure(error: unknown, asked: Asked, givenUp: boolean): Told {
  if (error instanceof Failure) return explainOwn(error);
  if (isApiError(error)) return explainRefusal(error);
  if (givenUp) return told('givenUp', 'Cancelled.');
  if (error instanceof ConnectionError) return explainConnection(error, asked);
  if (error instanceof CommanderError) return explainUsage(error);
  return (
    explainSystem(error) ??
    told(
      'fault',
      `Something went wrong inside this command: ${error instanceof Error ? error.message : String(error)}`,
      'Please report it, with what you typed.',
    )
  );
}

function explainUsage({ code, message }: CommanderError): Told {
  const text = code === 'commander.help' ? 'Name a command.' : sentence(message);
  return told('usage', text);
}

/** What the system refuses is mended by whoever owns the machine: a file that can't be read, a disk that is full. */
function explainSystem(error: unknown): Told | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  const known = systemWords[error.code];
  if (known === undefined || !('syscall' in error)) return undefined;
  const [why, next] = known;
  const file = 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  const what = file === undefined ? 'This computer refused' : `${file} can't be used`;
  return told('fault', `${what}: ${why}.`, next);
}

const chooseFolder =
  'Or choose folders that you can write to, with XDG_CONFIG_HOME, XDG_DATA_HOME and XDG_STATE_HOME.';
const systemWords: Readonly<Record<string, readonly [why: string, next: string]>> = {
  EACCES: ['you can’t read or write it', `Change its permissions. ${chooseFolder}`],
  EPERM: ['you can’t change it', `Change its permissions. ${chooseFolder}`],
  EROFS: ['its disk is read-only', chooseFolder.replace('Or choose', 'Choose')],
  ENOSPC: ['the disk is full', `Free some space. ${chooseFolder}`],
  EDQUOT: ['your disk quota is full', `Free some space. ${chooseFolder}`],
  EFBIG: ['it is larger than files may be here', `Raise the limit. ${chooseFolder}`],
  EISDIR: ['it is a folder', 'Move it away, and try again.'],
  ENOTDIR: ['part of its path is not a folder', `Move that away. ${chooseFolder}`],
  ENOENT: ['it does not exist', 'Check whether it was moved, and try again.'],
  EEXIST: ['something else is in its place', 'Move it away, and try again.'],
  ELOOP: ['its links lead in a circle', 'Fix the link, or remove it.'],
  EMFILE: ['too many files are open', 'Close other programs, and try again.'],
  EIO: ['the disk does not answer', 'Check the disk.'],
};

function explainOwn({ kind, code = kind, message, next, cause, details }: Failure): Told {
  const requestId = cause instanceof ApiError ? cause.requestId : undefined;
  return { kind, code, message, next, requestId, details };
}

function explainRefusal(error: AnyApiError): Told {
  const { kind, next, message = inOptions(withoutRoutes(error.message)) } = adviceFor(error);
  const { code, requestId, support, details } = error;
  return { kind, code, message, next, requestId, support, details };
}

function explainConnection(error: ConnectionError, { url, timeoutSeconds }: Asked): Told {
  if (error.status !== undefined && error.status >= 500) {
    return told(
      'server',
      `${url} answers HTTP ${error.status}: the service is not available there now.`,
      later,
    );
  }
  if (error.status !== undefined)
    return told('network', error.message, 'Check the address, or use another: --url');
  if (error.timedOut && timeoutSeconds !== undefined) {
    const more = `Try again, or allow more time: --timeout ${Math.min(120, Math.max(40, timeoutSeconds * 2))}`;
    return told('network', `${url} did not answer within ${timeoutSeconds} s (--timeout).`, more);
  }
  if (error.timedOut) return told('network', `${url} does not answer in time.`, later);
  return told(
    'network',
    `No connection to ${url}${causeOf(error)}.`,
    'Check your network (and HTTPS_PROXY, if you use a proxy), or use another address with --url. On your own computer, "npm start" starts the service.',
  );
}

/** Leaves out of the service's words what only whoever writes programs for it can use: GET /v1/… lists them. */
export function withoutRoutes(message: string): string {
  const parts = message.split(/(?<=[.:;]) /);
  const kept = parts.flatMap((part, at) => {
    if (part.includes('/v1/')) return [];
    return [parts[at + 1]?.includes('/v1/') ? part.replace(/[:;]$/, '.') : part];
  });
  return kept.length === 0 ? message : kept.join(' ');
}

/** The words of the library that reads the command line, as a sentence of ours. */
function sentence(message: string): string {
  // A value that stands where none belongs may be a secret.
  const told = message.replace(/^error: /, '').replace(/(unknown option '--[^=']*=).*'/, "$1…'");
  const [first = '', ...rest] = told.split('\n');
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
  UND_ERR_CONNECT_TIMEOUT: 'no answer',
};

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code !== undefined && words[code] !== undefined) return `: ${words[code]}`;
  return causeOf(error.cause);
}
