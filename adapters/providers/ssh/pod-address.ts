import { resolvePublicAddress, type CheckedAddress } from '../../public-address.js';

export type AddressRefusal = 'bad-port' | 'unresolved' | 'private-address';

/** An address that may be connected to, or the reason why there is none. */
export type PodAddress = CheckedAddress | { readonly refused: AddressRefusal };

export function isPort(port: number | null): boolean {
  return Number.isInteger(port) && port !== null && port >= 1 && port <= 65_535;
}

/**
 * Resolves a pod's host and checks it, as resolvePublicAddress does: host and port come from an upstream and must not
 * lead into our own network.
 * @param input.allowPrivate true only in the lab, whose pods live on loopback
 */
export async function resolvePodAddress(input: {
  readonly host: string;
  readonly port: number;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
}): Promise<PodAddress> {
  if (!isPort(input.port)) return { refused: 'bad-port' };
  return resolvePublicAddress(input);
}
