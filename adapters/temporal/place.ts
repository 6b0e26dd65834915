import { connect, isIP } from 'node:net';
import { connect as connectTls, type ConnectionOptions as ConnectionOptionsOfTls } from 'node:tls';
import { isGrpcDeadlineError, type ConnectionOptions } from '@temporalio/client';

/** Temporal's address and namespace, and what a connection shows and checks. */
export interface TemporalPlace {
  readonly address: string;
  readonly namespace: string;
  /** Undefined or false: nothing is encrypted. */
  readonly tls?: ConnectionOptions['tls'];
  readonly apiKey?: string | undefined;
  /** Headers of every call. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

const PROBE_MS = 3_000;

/** The options of a connection, of the client's library and of the worker's alike. */
export function connectionTo({ address, tls, apiKey, metadata }: TemporalPlace) {
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/**
 * Connects, or says in words why not.
 * @throws Error that names the address, the reason and what to look at
 */
export async function connectOrSay<T>(place: TemporalPlace, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (cause) {
    throw new Error(await whyNot(place, cause), { cause });
  }
}

/** A sentence about a server that can't be used. The libraries say "unavailable" of a refused certificate as well. */
export async function whyNot(place: TemporalPlace, cause: unknown): Promise<string> {
  const spoken = await speak(place);
  const at = `Temporal at ${place.address}`;
  if (spoken === undefined) {
    const told = cause instanceof Error ? cause.message : String(cause);
    if (isGrpcDeadlineError(cause)) {
      return `${at} takes calls, and answers none in time: ${told}. See whether it, its database or the proxy before it is overloaded.`;
    }
    return `${at} answers, and refuses this process: ${told}. Check TEMPORAL_API_KEY, TEMPORAL_NAMESPACE and what its certificate may do.`;
  }
  if (/^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|AI_AGAIN)|^ENOTFOUND|^ETIMEDOUT/.test(spoken)) {
    return `${at} can't be reached (${spoken}). Check TEMPORAL_ADDRESS, and that the server is up.`;
  }
  return place.tls
    ? `${at} can't be talked to over TLS (${spoken}). Check TEMPORAL_TLS_SERVER_CA_CERT_PATH and TEMPORAL_TLS_SERVER_NAME if its certificate is not accepted here, and TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH if ours is not accepted there.`
    : `${at} takes the connection and says nothing that we understand (${spoken}). If it speaks TLS, set TEMPORAL_TLS=true, or the paths of its certificates.`;
}

/** How a client begins HTTP/2, and an empty frame of settings (RFC 9113, 3.4): a server answers with its own. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const SETTINGS = 4;

/** Begins HTTP/2, which is below gRPC. @returns undefined once the server has spoken it, else the reason */
function speak({ address, tls }: TemporalPlace): Promise<string | undefined> {
  const [host = '', port] = address.split(':');
  const at = { host, port: Number(port) };
  return new Promise((resolve) => {
    const socket = tls ? connectTls({ ...at, ...shownTo(host, tls) }) : connect(at);
    const end = (reason?: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reason);
    };
    const timer = setTimeout(() => end(`no answer within ${PROBE_MS} ms`), PROBE_MS);
    socket.once(tls ? 'secureConnect' : 'connect', () => socket.write(preface));
    socket.once('data', (bytes: Buffer) => end(bytes[3] === SETTINGS ? undefined : 'it is no gRPC'));
    socket.once('close', () => end('the connection was closed'));
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

function shownTo(host: string, tls: NonNullable<TemporalPlace['tls']>): ConnectionOptionsOfTls {
  const {
    serverNameOverride,
    serverRootCACertificate: ca,
    clientCertPair: pair,
  } = tls === true ? {} : tls || {};
  // An address is no name that a client may tell.
  const servername = serverNameOverride ?? (isIP(host) ? '' : host);
  return {
    ...{ ALPNProtocols: ['h2'], servername },
    ...(ca ? { ca: Buffer.from(ca) } : {}),
    ...(pair ? { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) } : {}),
  };
}
