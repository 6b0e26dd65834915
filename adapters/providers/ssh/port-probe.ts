import { connect } from 'node:net';
import { machineLimits } from '../../../domain/machines/limits.js';
import { resolvePodAddress } from './pod-address.js';

/** Where a port of a machine is open: at a URL, or at host and port. */
export interface OpenPort {
  readonly url: string | null;
  readonly host: string | null;
  readonly port: number | null;
}

/** What proxies answer while nothing listens behind them. */
const NOBODY = [502, 503, 504, 520, 521, 522, 523, 524];

/** Tells whether somebody answers at a port. Never throws. */
export async function answersAt({ url, host, port }: OpenPort, allowPrivate: boolean): Promise<boolean> {
  if (url !== null) return answersHttp(url);
  if (host === null || port === null) return false;
  const timeoutMs = machineLimits.sshConnectMs;
  const resolved = await resolvePodAddress({ host, port, allowPrivate, timeoutMs });
  return 'refused' in resolved ? false : isConnected(resolved.address, port, timeoutMs);
}

/** The URL is one that an adapter has made on its upstream's own domain. */
async function answersHttp(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(machineLimits.sshIdentMs);
    const answer = await fetch(url, { redirect: 'manual', signal });
    await answer.body?.cancel();
    return !NOBODY.includes(answer.status);
  } catch {
    return false;
  }
}

function isConnected(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const done = (answers: boolean) => () => {
      socket.destroy();
      resolve(answers);
    };
    socket.once('connect', done(true)).once('error', done(false)).once('timeout', done(false));
  });
}
