import { isIP } from 'node:net';
import { bitsOf } from '../../domain/accounts/address-ranges.js';
import { plainAddress } from '../http/middleware/client-address.js';

/** What a text says of a range of addresses: the range as PostgreSQL takes it, or what is wrong. */
export type ReadCidr = { readonly cidr: string } | { readonly fault: string };

/** Of an IPv4 address that is mapped into IPv6, these bits are the same for all (RFC 4291 2.5.5.2). */
const MAPPED_BITS = 96;

/**
 * Reads a range of addresses, such as 192.0.2.0/24 or 2001:db8::/32; one address alone is a range of itself. Clients
 * that come by IPv4 mapped into IPv6 are known as IPv4, and so is a range of such.
 */
export function readCidr(text: string): ReadCidr {
  const [, given = '', length] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  if (isIP(given) === 0)
    return { fault: 'must be an IP address or a range such as 192.0.2.0/24 or 2001:db8::/32' };
  const address = plainAddress(given);
  const bits = bitsOf(address);
  if (length === undefined) return { cidr: `${address}/${bits.length}` };
  const least = address === given ? 0 : MAPPED_BITS;
  const prefix = Number(length) - least;
  if (prefix < 0 || prefix > bits.length) {
    return { fault: `must have a length from ${least} to ${least + bits.length}` };
  }
  // A range whose address lies within it is a mistake of one or the other.
  if (bits.slice(prefix).includes('1')) {
    return {
      fault: `must start with the first address of its range: no bit may be set beyond /${length}`,
    };
  }
  return { cidr: `${address}/${prefix}` };
}
