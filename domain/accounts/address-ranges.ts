/** Ranges of addresses, such as 192.0.2.0/24 or 2001:db8::/32. An IPv4 address is none of IPv6, however it is written. */

/** Returns an address bit by bit: 32 of IPv4, 128 of IPv6. */
export function bitsOf(address: string): string {
  const isIpv6 = address.includes(':');
  return (isIpv6 ? groupsOf(address) : address.split('.').map(Number))
    .map((part) => part.toString(2).padStart(isIpv6 ? 16 : 8, '0'))
    .join('');
}

/** The eight groups of an IPv6 address. A URL writes its last two in numbers, however they were written. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...gap, ...right].map((group) => Number.parseInt(group, 16));
}

/** Tells whether an address or a range lies within one of these ranges. */
export function isWithin(range: string, ranges: readonly string[]): boolean {
  return ranges.some(
    (outer) => range.includes(':') === outer.includes(':') && prefixOf(range).startsWith(prefixOf(outer)),
  );
}

/** Tells whether a change lets an address in that was not in before. null: all addresses are in. */
export function widens(before: readonly string[] | null, after: readonly string[] | null): boolean {
  if (before === null) return false;
  return after === null || after.some((range) => !isWithin(range, before));
}

/** The bits that all addresses of a range begin with. */
function prefixOf(range: string): string {
  const [address = '', length] = range.split('/');
  return bitsOf(address).slice(0, length === undefined ? undefined : Number(length));
}
