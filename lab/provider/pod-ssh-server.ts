import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import ssh2, { type AuthContext, type Connection, type PublicKeyAuthContext, type ServerChannel } from 'ssh2';
import { serveSession } from './pod-session.js';
import type { PodProcesses } from './pod-processes.js';

/**
 * The limit of one pod's connections at once, and of the time that each may take to log in (OpenSSH's LoginGraceTime).
 */
const MAX_CONNECTIONS = 32;
const LOGIN_LIMIT_MS = 10_000;
const MAX_LOGIN_TRIES = 12;
const MAX_SESSIONS = 10;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

export interface PodSshServer {
  readonly port: number;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/**
 * Starts a pod's SSH daemon: public keys only, one user only, with the keys in the pod's own authorized_keys at that
 * moment. No passwords; forwards lead to the pod's own loopback alone.
 * @param options.port 0 for a free one
 * @throws when the port is not available
 */
export async function startPodSshServer(options: {
  readonly host: string;
  readonly port: number;
  readonly hostKey: string;
  readonly userName: string;
  readonly processes: PodProcesses;
  readonly readKeys: () => Promise<readonly string[]>;
  /** Where a port of the pod's loopback is. */
  readonly portInside?: (port: number) => number;
  /** The time limit of a client's login. */
  readonly loginLimitMs?: number;
}): Promise<PodSshServer> {
  const sockets = new Set<Socket>();
  /** By the client's port, the only fact about a connection that the SSH layer gives. */
  const loginLimits = new Map<number, NodeJS.Timeout>();
  const ssh = new ssh2.Server({ hostKeys: [options.hostKey], ident: 'lab-pod' }, (connection, info) => {
    serveConnection(connection, options, () => clearTimeout(loginLimits.get(info.port)));
  });
  const listener = createServer((socket) => {
    const clientPort = socket.remotePort ?? 0;
    sockets.add(socket);
    // The limit begins at the connection: it also ends a client that connects and stays silent.
    const limit = setTimeout(() => socket.destroy(), options.loginLimitMs ?? LOGIN_LIMIT_MS);
    loginLimits.set(clientPort, limit);
    socket.once('close', () => {
      clearTimeout(limit);
      if (loginLimits.get(clientPort) === limit) loginLimits.delete(clientPort);
      sockets.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    ssh.injectSocket(socket);
  });
  listener.maxConnections = MAX_CONNECTIONS;
  await listen(listener, options.host, options.port);
  return {
    port: (listener.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function serveConnection(
  connection: Connection,
  pod: {
    host: string;
    userName: string;
    processes: PodProcesses;
    readKeys: () => Promise<readonly string[]>;
    portInside?: (port: number) => number;
  },
  loggedIn: () => void,
): void {
  let tries = 0;
  let sessions = 0;
  // A client that leaves at any point is not a fault of the lab.
  connection.on('error', () => connection.end());
  connection.on('authentication', (context) => {
    tries += 1;
    if (tries > MAX_LOGIN_TRIES) {
      connection.end();
      return;
    }
    void opens(context, pod).then((open) => {
      if (open) context.accept();
      else context.reject(['publickey']);
    });
  });
  connection.on('ready', () => {
    loggedIn();
    connection.on('session', (accept, reject) => {
      if (sessions >= MAX_SESSIONS) {
        reject();
        return;
      }
      sessions += 1;
      const session = accept();
      session.on('close', () => (sessions -= 1));
      serveSession(session, pod.processes);
    });
    connection.on('tcpip', (accept, reject, { destIP, destPort }) => {
      if (!LOOPBACK.includes(destIP)) {
        reject();
        return;
      }
      forward(connect(pod.portInside?.(destPort) ?? destPort, pod.host), accept, reject);
    });
  });
}

/** The channel is accepted once somebody answers inside. */
function forward(inside: Socket, accept: () => ServerChannel, reject: () => void): void {
  let channel: ServerChannel | undefined;
  inside.once('connect', () => {
    channel = accept();
    channel.on('error', () => inside.destroy());
    channel.on('close', () => inside.destroy());
    channel.pipe(inside).pipe(channel);
  });
  inside.on('error', () => {
    if (channel === undefined) reject();
    else channel.end();
  });
}

async function opens(
  context: AuthContext,
  pod: { userName: string; readKeys: () => Promise<readonly string[]> },
): Promise<boolean> {
  if (context.method !== 'publickey' || context.username !== pod.userName) return false;
  const lines = await pod.readKeys();
  return lines.some((line) => proves(context, line));
}

/** Tells whether the offered key is the one of this line and, when it signs, whether the signature is its own. */
function proves(context: PublicKeyAuthContext, line: string): boolean {
  // Lines with options are not supported, so they open nothing.
  if (!/^(ssh|ecdsa|sk)-/.test(line)) return false;
  const parsed = ssh2.utils.parseKey(line);
  if (parsed instanceof Error) return false;
  if (!parsed.getPublicSSH().equals(context.key.data)) return false;
  // Without a signature the client only asks whether the key would be accepted.
  if (context.signature === undefined || context.blob === undefined) return true;
  // For a malformed signature the library returns an Error and not false, contrary to its types.
  const verified: unknown = parsed.verify(context.blob, context.signature, context.hashAlgo);
  return verified === true;
}
