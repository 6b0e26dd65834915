import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import ssh2 from 'ssh2';
import { resolvePodAddress, type AddressRefusal } from './pod-address.js';

/** RFC 4253 section 4.2: the identification line, with its CR LF, is at most 255 bytes. */
const MAX_IDENT_BYTES = 255;
/** The most that a server may send up to the end of its identification line. */
const MAX_BYTES = 4096;
/** RFC 4253 sections 4.2 and 5.1: version 2.0; 1.99 is treated as 2.0. */
const IDENT = /^SSH-(?:2\.0|1\.99)-[\x21-\x7e]/;

export type ProbeResult =
  | { readonly answered: true }
  | { readonly answered: false; readonly reason: ProbeReason };

/** Why there was no answer; a system error is its code, for example ECONNREFUSED. */
export type ProbeReason =
  | AddressRefusal
  | 'connect-timeout'
  | 'ident-timeout'
  | 'closed-before-ident'
  | 'bad-ident'
  | 'too-long'
  | `E${string}`;

export interface ProbeTarget {
  /** An address or a name, as the upstream gave it. */
  readonly host: string;
  readonly port: number;
  /** True only in the lab: elsewhere private, loopback and link-local addresses are never connected to. */
  readonly allowPrivate: boolean;
}

/**
 * Tells whether an SSH daemon answers: a TCP connection, then a complete identification line, after any number of
 * other lines, within 4 KiB. A connection alone is not enough, because upstreams' proxies accept before the daemon
 * is up. Never throws. Probe one pod from one place and no more often than every 2 s: OpenSSH 9.8 shuts out
 * sources that leave without logging in too often.
 */
export async function probeSsh(
  target: ProbeTarget & { readonly connectTimeoutMs: number; readonly identTimeoutMs: number },
): Promise<ProbeResult> {
  const startedMs = performance.now();
  const resolved = await resolvePodAddress({ ...target, timeoutMs: target.connectTimeoutMs });
  if ('refused' in resolved) return { answered: false, reason: resolved.refused };
  const leftMs = Math.max(1, target.connectTimeoutMs - (performance.now() - startedMs));
  return readIdent({
    address: resolved.address,
    port: target.port,
    connectTimeoutMs: leftMs,
    identTimeoutMs: target.identTimeoutMs,
  });
}

function readIdent(target: {
  address: string;
  port: number;
  connectTimeoutMs: number;
  identTimeoutMs: number;
}): Promise<ProbeResult> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ host: target.address, port: target.port });
    const finish = (reason?: ProbeReason): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reason === undefined ? { answered: true } : { answered: false, reason });
    };
    let timer = setTimeout(() => finish('connect-timeout'), target.connectTimeoutMs);
    socket.on('connect', () => {
      clearTimeout(timer);
      timer = setTimeout(() => finish('ident-timeout'), target.identTimeoutMs);
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const verdict = judgeIdent(received);
      if (verdict === 'answered') finish();
      else if (verdict !== 'more') finish(verdict);
    });
    socket.on('end', () => finish('closed-before-ident'));
    socket.on('close', () => finish('closed-before-ident'));
    socket.on('error', (error) => finish(reasonOf(error)));
  });
}

/** Judges the bytes received so far; `more` while the line may still come. */
export function judgeIdent(received: string): 'answered' | 'more' | 'bad-ident' | 'too-long' {
  const lines = received.slice(0, MAX_BYTES).split('\n');
  const unfinished = lines.pop() ?? '';
  const ident = lines.find((line) => line.startsWith('SSH-'));
  if (ident !== undefined) {
    // The line feed was split off; CR LF and a bare LF are both accepted.
    return IDENT.test(ident) && ident.length + 1 <= MAX_IDENT_BYTES ? 'answered' : 'bad-ident';
  }
  if (unfinished.startsWith('SSH-') && unfinished.length >= MAX_IDENT_BYTES) return 'bad-ident';
  return received.length >= MAX_BYTES ? 'too-long' : 'more';
}

function reasonOf(error: Error): ProbeReason {
  const code = (error as NodeJS.ErrnoException).code;
  return code?.startsWith('E') === true ? (code as `E${string}`) : 'closed-before-ident';
}

/**
 * Reads the fingerprint of a pod's host key, `SHA256:…` as OpenSSH prints it, without a login: the key exchange proves
 * that the daemon holds the key. It is the pod's identity, because upstreams reuse addresses.
 * @returns undefined when no key could be read within the limit
 */
export async function captureHostKey(
  target: ProbeTarget & { readonly timeoutMs: number },
): Promise<string | undefined> {
  const startedMs = performance.now();
  const resolved = await resolvePodAddress(target);
  if ('refused' in resolved) return undefined;
  const leftMs = Math.max(1, target.timeoutMs - (performance.now() - startedMs));
  return new Promise((resolve) => {
    const client = new ssh2.Client();
    let fingerprint: string | undefined;
    const finish = (proven?: string): void => {
      clearTimeout(timer);
      client.destroy();
      resolve(proven);
    };
    const timer = setTimeout(finish, leftMs);
    client.on('error', () => finish());
    client.on('close', () => finish());
    // The daemon's signature over the exchange is checked only after the verifier was called: only then does the key
    // count.
    client.on('handshake', () => finish(fingerprint));
    client.connect({
      host: resolved.address,
      port: target.port,
      // Never used: the connection ends before a login.
      username: 'host-key',
      readyTimeout: leftMs,
      hostVerifier: (key: Buffer): boolean => {
        fingerprint = `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
        return true;
      },
    });
  });
}
