import { isIP, isIPv6 } from 'node:net';
import { isPublicAddress } from '../../../adapters/public-address.js';

/**
 * The client that limits count: an IPv4 address, or the /64 of an IPv6 address, because one household or machine is
 * given a whole /64 (RFC 6177).
 */
export function clientOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  const gap = Math.max(0, 8 - left.length - right.length);
  const whole = [...left, ...Array<string>(gap).fill('0'), ...right];
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/**
 * Names a client by an address of the public internet; undefined for any other. A loopback or private address may be a
 * proxy's that is not trusted, before all clients there are.
 */
export function publicClientOf(ip: string): string | undefined {
  return isPublicAddress(plainAddress(ip)) ? clientOf(ip) : undefined;
}

/** Writes an address as people know it: IPv4 that came mapped into IPv6 as IPv4, and IPv6 without its zone. */
export function plainAddress(address: string): string {
  const unzoned = address.replace(/%.*$/, '');
  return isIPv6(unzoned) ? (mappedIn(unzoned) ?? unzoned) : unzoned;
}

/** The IPv4 address that an IPv6 address stands for (RFC 4291 2.5.5.2), however it is written. */
function mappedIn(address: string): string | undefined {
  if (!/ffff/i.test(address)) return undefined;
  // A URL writes each address in one way: [::ffff:c000:201].
  const [, high, low] =
    /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const bytes = [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255]);
  return bytes.join('.');
}

/** The client's address; undefined when a proxy sent a text that is no address. */
export function addressOf(ip: string): string | undefined {
  const address = plainAddress(ip);
  return isIP(address) === 0 ? undefined : address;
}

/** The 16-bit groups of a part; an embedded IPv4 address stands for two, which lie in the half that is cut off. */
function groupsOf(part: string): string[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
