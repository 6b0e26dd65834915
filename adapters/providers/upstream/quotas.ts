/** One window of an upstream's quotas, as its answers tell it; null where they do not tell. */
export interface QuotaWindow {
  readonly name: string;
  /** The requests that one window allows. */
  readonly quota: number | null;
  readonly windowMs: number | null;
  /** The requests that are left of the present window, and when it ends, counted from the answer. */
  readonly remaining: number | null;
  readonly resetMs: number | null;
}

/**
 * The share of a quota that lists may use up; the rest is for buying and ending pods (decision 50, "Upstreams off
 * sale").
 */
export const READING_SHARE = 0.75;
const MAX_HEADER_LENGTH = 2_000;
const MAX_WINDOWS = 10;
const MAX_SECONDS = 31 * 24 * 3_600;
const MAX_REQUESTS = 1_000_000_000;

/** A member of the list: its name, a quoted string or a token, and its parameters. */
const MEMBER =
  /\s*(?:"([^"\\]{1,64})"|([A-Za-z*][\w:./*-]{0,63}))((?:\s*;\s*[a-z*][\w.*-]*=(?:"[^"\\]*"|[^;,"\s]+))*)\s*(?:,|$)/y;
const PARAMETER = /;\s*([a-z*][\w.*-]*)=("[^"\\]*"|[^;,"\s]+)/g;

/**
 * Reads `RateLimit-Policy` (each window's quota `q` and length `w`) and `RateLimit` (its remaining requests `r` and
 * seconds to its end `t`): draft-ietf-httpapi-ratelimit-headers, lists of structured fields (RFC 9651). A member that
 * can't be understood is left out; the others count.
 * @param onMalformed gets the name of a header that was not understood whole
 * @returns nothing when the answer tells of no quota
 */
export function readQuotas(headers: Headers, onMalformed: (header: string) => void): QuotaWindow[] {
  const policies = membersOf(headers, 'RateLimit-Policy', { count: 'q', seconds: 'w' }, onMalformed);
  const states = membersOf(headers, 'RateLimit', { count: 'r', seconds: 't' }, onMalformed);
  const names = [...new Set([...policies.keys(), ...states.keys()])].slice(0, MAX_WINDOWS);
  return names.map((name) => {
    const [policy, state] = [policies.get(name), states.get(name)];
    return {
      name,
      quota: policy?.count ?? null,
      windowMs: policy?.ms ?? null,
      remaining: state?.count ?? null,
      resetMs: state?.ms ?? null,
    };
  });
}

interface Member {
  readonly name: string;
  readonly count: number;
  readonly ms: number;
  /** A quota of bytes or of anything else says nothing of requests. */
  readonly isOfRequests: boolean;
}

/** The parameters of a member that hold the count and the seconds. */
interface Names {
  readonly count: string;
  readonly seconds: string;
}

function membersOf(
  headers: Headers,
  header: string,
  names: Names,
  onMalformed: (header: string) => void,
): Map<string, Member> {
  const text = headers.get(header)?.trim() ?? '';
  const members = new Map<string, Member>();
  const isReadable = text.length <= MAX_HEADER_LENGTH;
  if (!isReadable) onMalformed(header);
  for (let at = 0; isReadable && at < text.length;) {
    MEMBER.lastIndex = at;
    const found = MEMBER.exec(text);
    const member = found === null ? undefined : findMember(found, names);
    if (member === undefined) onMalformed(header);
    else if (member.isOfRequests) members.set(member.name, member);
    at = found === null ? nextMember(text, at) : MEMBER.lastIndex;
  }
  return members;
}

function findMember([, quoted, token, tail = '']: RegExpExecArray, names: Names): Member | undefined {
  const parameters = new Map([...tail.matchAll(PARAMETER)].map(([, key, value]) => [key, value]));
  const name = quoted ?? token;
  const count = wholeOf(parameters.get(names.count), MAX_REQUESTS);
  const seconds = wholeOf(parameters.get(names.seconds), MAX_SECONDS);
  if (name === undefined || count === null || seconds === null) return undefined;
  const isOfRequests = ['"requests"', undefined].includes(parameters.get('qu'));
  return { name, count, ms: seconds * 1000, isOfRequests };
}

/** Returns the position behind the next comma: there a list goes on after an unreadable member. */
function nextMember(text: string, at: number): number {
  const comma = text.indexOf(',', at);
  return comma === -1 ? text.length : comma + 1;
}

function wholeOf(text: string | undefined, most: number): number | null {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return null;
  return Number(text) <= most ? Number(text) : null;
}

/**
 * Returns how far apart reads must lie so that no window is used up, but for the reserve, before its end: the rest of
 * the tightest window, spread over its remaining time. That leaves room for other users of the account.
 * @param ageMs since the windows were told
 * @returns milliseconds; 0 when nothing holds back
 */
export function readIntervalMs(windows: readonly QuotaWindow[], ageMs: number): number {
  return Math.max(0, ...windows.map((window) => intervalOf(window, ageMs)));
}

function intervalOf({ quota, windowMs, remaining, resetMs }: QuotaWindow, ageMs: number): number {
  if (remaining !== null && resetMs !== null && resetMs > ageMs) {
    const leftMs = resetMs - ageMs;
    const reserve = Math.ceil((quota ?? remaining) * (1 - READING_SHARE));
    return leftMs / Math.max(1, remaining - reserve);
  }
  // The figures of a window that is over hold no more; the next one begins with the whole quota.
  if (quota === null || windowMs === null) return 0;
  return windowMs / Math.max(1, Math.floor(quota * READING_SHARE));
}
