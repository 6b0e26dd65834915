import { lookup, Resolver } from 'node:dns/promises';
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

/** Finds the addresses of a name. A name without any gives none or fails: both are the same. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** An address that may be connected to, or the reason why there is none. */
export type CheckedAddress =
  | { readonly address: string }
  | { readonly refused: 'unresolved' | 'private-address' };

/**
 * Resolves a host that somebody else named and checks it, so that the caller connects to the very address that was
 * checked: it must not lead into our own network, nor do so at a second look-up. One private address among several
 * refuses them all, because a name that mixes them is not to be trusted.
 * @param input.allowPrivate true only in the lab, where all live on loopback
 * @param input.lookUp default: the system's own way
 */
export async function resolvePublicAddress(input: {
  readonly host: string;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly lookUp?: Lookup;
}): Promise<CheckedAddress> {
  const { host, timeoutMs, lookUp = lookUpBySystem } = input;
  const addresses = isIP(host) === 0 ? await inTime(lookUp(host), timeoutMs) : [host];
  const [address] = addresses;
  if (address === undefined) return { refused: 'unresolved' };
  return input.allowPrivate || addresses.every(isPublicAddress)
    ? { address }
    : { refused: 'private-address' };
}

async function lookUpBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** The addresses that a look-up finds in time; none where it fails. */
export async function inTime(
  looking: Promise<readonly string[]>,
  timeoutMs: number,
): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  // A look-up can't be cancelled; a late answer is dropped.
  const tooLate = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), timeoutMs);
  });
  const found = looking.catch((): readonly string[] => []);
  try {
    return await Promise.race([found, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes a look-up of names over the network alone. The system's own takes threads that the whole process shares, and
 * names of strangers whose servers do not answer would hold all of them.
 * @param timeoutMs how long one server may take
 */
export function lookUpByDns(timeoutMs: number): Lookup {
  return async (host) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  };
}
