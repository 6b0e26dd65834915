import { isPort } from './ssh/pod-address.js';
import type { Oddity, Pod, PodStatus } from './provider.js';

/** The longest name of a machine or an offer that an index holds. */
export const mostIdChars = 500;
/** The dearest price that a row holds; whatever is above it, it is dearer than anything that is sold. */
const MOST_CENTS = 2 ** 31 - 1;

/** One pod of an upstream's list, in the upstream's own words. */
export interface ListedPod extends Pick<
  Pod,
  'host' | 'port' | 'username' | 'pricePerHourCents' | 'ports' | 'use' | 'hardware' | 'startedAt'
> {
  readonly podId: string | null;
  /** The names in which the tag may be. */
  readonly names: readonly string[];
  readonly upstreamStatus: string | null;
}

/** Maps an upstream's words for a pod's status to ours; `gone` is the word for a pod that no longer exists. */
export interface StatusWords {
  readonly statuses: ReadonlyMap<string, PodStatus>;
  readonly gone: string;
}

/**
 * Makes a Pod of a listed one. undefined for a pod that is gone, or is not ours: none of its names begins with the
 * prefix (shared accounts; decision 22, "Machines of nobody").
 */
export function findOurPod(
  { names, podId, upstreamStatus: said, ...rest }: ListedPod,
  words: StatusWords,
  tagPrefix: string,
  odd: (oddity: Oddity) => void,
): Pod | undefined {
  const tag = names.find((name) => name.startsWith(tagPrefix));
  const upstreamStatus = said ?? 'unknown';
  if (tag === undefined || upstreamStatus === words.gone) return undefined;
  if (podId === null || podId.length > mostIdChars) {
    odd({ kind: 'malformed', subject: `pod without an id: ${tag}` });
    return undefined;
  }
  const status = words.statuses.get(upstreamStatus);
  if (status === undefined) odd({ kind: 'unknown_status', subject: upstreamStatus });
  // An unknown word decides nothing: the pod is looked at again, and its deadline still holds.
  return { podId, tag, status: status ?? 'pending', upstreamStatus, ...rest, ...keepable(rest, tag, odd) };
}

/** What a row can hold of a pod's numbers: one bad machine must not keep the others from being watched. */
function keepable(
  { host, port, pricePerHourCents }: Pick<Pod, 'host' | 'port' | 'pricePerHourCents'>,
  tag: string,
  odd: (oddity: Oddity) => void,
): Partial<Pod> {
  const isWhole = host === null || (isPort(port) && host.length <= mostIdChars);
  const isDear = pricePerHourCents !== null && pricePerHourCents > MOST_CENTS;
  if (!isWhole) odd({ kind: 'malformed', subject: `address of ${tag}` });
  if (isDear) odd({ kind: 'malformed', subject: `price of ${tag}` });
  return { ...(!isWhole && { host: null, port: null }), ...(isDear && { pricePerHourCents: MOST_CENTS }) };
}

/** Keeps the last word about each pod: an upstream that answers page by page may list one twice. */
export function lastOfEach(pods: readonly Pod[]): Pod[] {
  return [...new Map(pods.map((pod) => [pod.podId, pod])).values()];
}
