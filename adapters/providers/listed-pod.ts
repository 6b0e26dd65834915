import type { Oddity, Pod, PodStatus } from './provider.js';

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
  if (podId === null) {
    odd({ kind: 'malformed', subject: `pod without an id: ${tag}` });
    return undefined;
  }
  const status = words.statuses.get(upstreamStatus);
  if (status === undefined) odd({ kind: 'unknown_status', subject: upstreamStatus });
  // An unknown word decides nothing: the pod is looked at again, and its deadline still holds.
  return { podId, tag, status: status ?? 'pending', upstreamStatus, ...rest };
}

/** Keeps the last word about each pod: an upstream that answers page by page may list one twice. */
export function lastOfEach(pods: readonly Pod[]): Pod[] {
  return [...new Map(pods.map((pod) => [pod.podId, pod])).values()];
}
