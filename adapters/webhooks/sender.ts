import { request as requestPlain, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestTls, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { MINUTE } from '../../domain/durations.js';
import { readReceiverUrl, type ReceiverRules } from '../../domain/webhooks/receiver-url.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import { inTime, lookUpByDns, resolvePublicAddress, type Lookup } from '../public-address.js';

/** Why no answer came. The user of the endpoint is shown this word. */
export type SendFault =
  | 'url_refused'
  | 'unresolved'
  | 'private_address'
  | 'own_address'
  | 'timeout'
  | 'connection'
  | 'tls';

/** What became of one exchange. */
export interface Exchange {
  /** The answer; null when none came. */
  readonly status: number | null;
  readonly fault: SendFault | null;
  /** The beginning of the answer's body, of which no more was read. */
  readonly body: string;
  readonly durationMs: number;
}

export interface Message {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends one message and reads the beginning of its answer. It never fails: what went wrong is the result. */
export type SendWebhook = (message: Message) => Promise<Exchange>;

export interface SenderOptions extends ReceiverRules {
  /** The limit of a whole exchange, in milliseconds. Default: the product's. */
  readonly exchangeMs?: number;
  /** Default: DNS alone. */
  readonly lookUp?: Lookup;
  /** The limit of a look-up, in milliseconds. Default: the product's. */
  readonly lookUpMs?: number;
  /** How long the addresses of our own hosts count as known, in milliseconds; default: a minute. */
  readonly ownKnownMs?: number;
  /** Certificates to trust beside the system's, for tests. */
  readonly ca?: string;
}

/**
 * Makes the one way to receivers (decision 102, "Webhooks out"). Their addresses come from users, so nothing is taken on
 * trust: the host is looked up and checked at each exchange, and the connection goes to the very address that was
 * checked; no proxy, no redirect and no kept connection leads elsewhere; the answer is read to 4 KiB; the whole exchange
 * has one deadline.
 */
export function createWebhookSender(options: SenderOptions): SendWebhook {
  const { lookUpMs = webhookLimits.lookUpMs } = options;
  const lookUp = options.lookUp ?? lookUpByDns(lookUpMs);
  const found: Lookup = (host) => inTime(lookUp(host), lookUpMs);
  // In the lab all names lead to one machine.
  const listOwn = options.allowPrivate
    ? () => Promise.resolve([])
    : rememberingOwn(options.ownHosts, found, options.ownKnownMs ?? MINUTE);
  const exchangeMs = options.exchangeMs ?? webhookLimits.exchangeMs;
  return async (message) => {
    const startedMs = performance.now();
    const ended = (result: Partial<Exchange>): Exchange => ({
      ...{ status: null, fault: null, body: '', ...result },
      durationMs: Math.round(performance.now() - startedMs),
    });
    const read = readReceiverUrl(message.url, options);
    if ('fault' in read) return ended({ fault: 'url_refused' });
    const found = await findAddress(read.url, {
      allowPrivate: options.allowPrivate,
      lookUp,
      lookUpMs,
      listOwn,
    });
    if ('fault' in found) return ended({ fault: found.fault });
    const leftMs = Math.max(1, exchangeMs - (performance.now() - startedMs));
    return ended(await exchange(read.url, found.address, message, { leftMs, ca: options.ca }));
  };
}

interface Finding {
  readonly allowPrivate: boolean;
  readonly lookUp: Lookup;
  readonly lookUpMs: number;
  readonly listOwn: () => Promise<readonly string[]>;
}

async function findAddress(
  { hostname }: URL,
  { allowPrivate, lookUp, lookUpMs: timeoutMs, listOwn }: Finding,
): Promise<{ address: string } | { fault: SendFault }> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const found = await resolvePublicAddress({ host, allowPrivate, timeoutMs, lookUp });
  if ('refused' in found) {
    return { fault: found.refused === 'unresolved' ? 'unresolved' : 'private_address' };
  }
  // A name of somebody else's may lead to our own hosts as well.
  return (await listOwn()).includes(found.address) ? { fault: 'own_address' } : found;
}

/**
 * Looks our own hosts up, once in so many milliseconds at most. One that can't be found keeps its last addresses: nothing
 * is sent to it because its name failed for a moment.
 */
function rememberingOwn(
  hosts: readonly string[],
  lookUp: Lookup,
  knownMs: number,
): () => Promise<readonly string[]> {
  const known = new Map<string, readonly string[]>();
  let untilMs = -Infinity;
  let looking: Promise<unknown> = Promise.resolve();
  const look = async (host: string): Promise<void> => {
    const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(name) === 0 ? await lookUp(name) : [name];
    if (addresses.length > 0) known.set(host, addresses);
  };
  return async () => {
    if (performance.now() >= untilMs) {
      untilMs = performance.now() + knownMs;
      looking = Promise.all(hosts.map(look));
    }
    await looking;
    return [...known.values()].flat();
  };
}

/** Resolves with what came; all that may go wrong ends in one place, and the socket is never left open. */
function exchange(
  url: URL,
  address: string,
  { headers, body }: Message,
  { leftMs, ca }: { readonly leftMs: number; readonly ca: string | undefined },
): Promise<Partial<Exchange>> {
  return new Promise((resolve) => {
    const isTls = url.protocol === 'https:';
    const options: RequestOptions = {
      method: 'POST',
      // The address that was checked; the name is for the certificate and the Host header alone.
      host: address,
      port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
      path: url.pathname + url.search,
      agent: false,
      headers: {
        ...headers,
        host: url.host,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'gpu-rental-webhooks/1',
        connection: 'close',
      },
      ...(isTls && isIP(address) !== 0 && { servername: servernameOf(url) }),
      ...(ca !== undefined && { ca }),
    };
    const request = (isTls ? requestTls : requestPlain)(options);
    const finish = (result: Partial<Exchange>): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(result);
    };
    const answered: { status: number | null; chunks: Buffer[] } = { status: null, chunks: [] };
    const cut = (fault: SendFault): void =>
      // Who has answered has answered, whatever became of the rest of the body.
      finish(
        answered.status === null ? { fault } : { status: answered.status, body: textOf(answered.chunks) },
      );
    const timer = setTimeout(() => cut('timeout'), leftMs);
    watch(request, { answered, finish, cut });
    request.end(body);
  });
}

/** Names have a servername; the certificate of an address is compared with the address. */
function servernameOf({ hostname }: URL): string {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? host.replace(/\.$/, '') : '';
}

function watch(
  request: ClientRequest,
  {
    answered,
    finish,
    cut,
  }: {
    readonly answered: { status: number | null; chunks: Buffer[] };
    readonly finish: (result: Partial<Exchange>) => void;
    readonly cut: (fault: SendFault) => void;
  },
): void {
  request.on('response', (response: IncomingMessage) => {
    const { statusCode = 0 } = response;
    // There is no such status, though the parser takes three digits of any kind.
    if (statusCode < 100) {
      cut('connection');
      return;
    }
    answered.status = statusCode;
    const done = (): void => finish({ status: answered.status, body: textOf(answered.chunks) });
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      answered.chunks.push(chunk.subarray(0, webhookLimits.answerBytes - bytes));
      bytes += chunk.length;
      if (bytes >= webhookLimits.answerBytes) done();
    });
    response.on('end', done);
    response.on('error', done);
  });
  request.on('error', (error: NodeJS.ErrnoException) => cut(faultOf(error)));
  // Such as the answer to a wish to speak another protocol, which nobody had.
  request.on('close', () => cut('connection'));
}

function faultOf({ code = '' }: NodeJS.ErrnoException): SendFault {
  if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH)/.test(code))
    return 'tls';
  return code === 'ETIMEDOUT' ? 'timeout' : 'connection';
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8');
}
