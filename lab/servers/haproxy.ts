import { join } from 'node:path';
import { connect } from 'node:net';
import { findOnPath } from './temporal-cli-binary.js';
import { startProgram, type Program } from './program.js';
import type { Authority, Identity } from './certificates.js';

/** The folder of the gate's configuration, as it is deployed. */
const configuration = join(import.meta.dirname, '..', '..', 'ops', 'temporal');

/** The file that says which methods a certificate may call. */
export const methodsFile = join(configuration, 'methods.lst');

export interface GateOptions {
  readonly command: string;
  readonly port: number;
  /** Its own certificate, and whose clients it lets in. */
  readonly outer: { readonly authority: Authority; readonly identity: Identity };
  /** The server: its address and name, its authority, and what is shown to it. */
  readonly server: {
    readonly address: string;
    readonly name: string;
    readonly authority: Authority;
    readonly identity: Identity;
  };
  readonly logFile: string;
}

/** @returns the path of HAProxy; undefined where it is not installed */
export function findHaproxy(searchPath: string): string | undefined {
  return findOnPath('haproxy', `${searchPath}:/usr/sbin`);
}

/** Starts the gate that stands before Temporal (ops/temporal/haproxy.cfg). @throws ProgramError with its last lines */
export function startGate({ command, port, outer, server, logFile }: GateOptions): Promise<Program> {
  return startProgram({
    name: 'HAProxy',
    command,
    args: ['-f', join(configuration, 'haproxy.cfg')],
    env: {
      GATE_BIND: `127.0.0.1:${port}`,
      GATE_CERT: outer.identity.certPath,
      GATE_CLIENT_CA: outer.authority.certPath,
      GATE_METHODS: methodsFile,
      TEMPORAL_SERVER: server.address,
      TEMPORAL_SERVER_NAME: server.name,
      TEMPORAL_SERVER_CA: server.authority.certPath,
      TEMPORAL_SERVER_CERT: server.identity.certPath,
    },
    cwd: '/',
    logFile,
    isReady: () => listens(port),
    readyLimitMs: 20_000,
    stopSignal: 'SIGTERM',
    stopLimitMs: 5_000,
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.end();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
