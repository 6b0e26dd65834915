import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Special-purpose IPv4 ranges (RFC 6890 and its registry), multicast and reserved space. */
const NOT_PUBLIC_IPV4 = blockListOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);

/** Only global unicast is public in IPv6 … */
const GLOBAL_IPV6 = blockListOf('ipv6', [['2000::', 3]]);

/** … but for its special ranges; 6to4 and Teredo carry an IPv4 address that could be any. */
const NOT_PUBLIC_IPV6 = blockListOf('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);

function blockListOf(family: 'ipv4' | 'ipv6', ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of ranges) list.addSubnet(net, prefix, family);
  return list;
}

/** Tells whether an IP address is one of the public internet. False for a text that is no address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC_IPV4.check(address, 'ipv4');
  if (isIP(address) === 6) {
    return GLOBAL_IPV6.check(address, 'ipv6') && !NOT_PUBLIC_IPV6.check(address, 'ipv6');
  }
  return false;
}

export type AddressRefusal = 'bad-port' | 'unresolved' | 'private-address';

/** An address that may be connected to, or the reason why there is none. */
export type PodAddress = { readonly address: string } | { readonly refused: AddressRefusal };

/**
 * Resolves a pod's host and checks it, so that the caller connects to the very address that was checked: the host and
 * port come from an upstream and must not lead into our own network. One private address among several refuses them
 * all, because a name that mixes them is not to be trusted.
 * @param input.allowPrivate true only in the lab, whose pods live on loopback
 */
export async function resolvePodAddress(input: {
  readonly host: string;
  readonly port: number;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
}): Promise<PodAddress> {
  if (!Number.isInteger(input.port) || input.port < 1 || input.port > 65_535) return { refused: 'bad-port' };
  const addresses = isIP(input.host) === 0 ? await namesAddresses(input.host, input.timeoutMs) : [input.host];
  const [address] = addresses;
  if (address === undefined) return { refused: 'unresolved' };
  return input.allowPrivate || addresses.every(isPublicAddress)
    ? { address }
    : { refused: 'private-address' };
}

async function namesAddresses(host: string, timeoutMs: number): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  // A look-up can't be cancelled; a late answer is dropped.
  const tooLate = new Promise<string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), timeoutMs);
  });
  const found = lookup(host, { all: true }).then(
    (results) => results.map((result) => result.address),
    () => [],
  );
  try {
    return await Promise.race([found, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
