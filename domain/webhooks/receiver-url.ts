import { webhookLimits } from './limits.js';

/** What a receiver's address may be. */
export interface ReceiverRules {
  /** True only in the lab and in tests: http, any port and private addresses are allowed. */
  readonly allowPrivate: boolean;
  /** The hosts of the service itself, in lower case: nothing is sent to them. */
  readonly ownHosts: readonly string[];
}

/**
 * Reads the address of a receiver as its user wrote it (decision 102, "Webhooks out"). It judges the text alone: the
 * address behind a name is checked at each delivery.
 * @returns the address in its normal form, or what is wrong with it, as the end of a sentence
 */
export function readReceiverUrl(text: string, rules: ReceiverRules): { url: URL } | { fault: string } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['https:', 'http:'].includes(url.protocol)) {
    return { fault: 'must be an address such as https://example.com/hooks' };
  }
  const fault = faultOf(url, rules);
  return fault === undefined ? { url } : { fault };
}

function faultOf(url: URL, { allowPrivate, ownHosts }: ReceiverRules): string | undefined {
  if (url.href.length > webhookLimits.urlMaxChars) {
    return `must have at most ${webhookLimits.urlMaxChars} characters in its normal form`;
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not contain a user name or password: verify the signature instead';
  }
  if (url.hash !== '') return 'must not contain #';
  if (!allowPrivate && url.protocol !== 'https:') return 'must begin with https://';
  if (!allowPrivate && url.port !== '') return 'must use port 443';
  if (isOwn(url, ownHosts)) return 'must not be an address of this service';
  return undefined;
}

/** Tells whether a host is one of ours; a dot at its end changes nothing. */
function isOwn({ hostname, host }: URL, ownHosts: readonly string[]): boolean {
  return [hostname.replace(/\.$/, ''), host].some((name) => ownHosts.includes(name));
}
