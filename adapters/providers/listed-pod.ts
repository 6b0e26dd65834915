import type { Oddity, Pod, PodStatus } from './provider.js';

/** One pod of an upstream's list, in the upstream's own words. */
export interface ListedPod extends Pick<Pod, 'host' | 'port' | 'username' | 'pricePerHourCents'> {
  readonly podId: string | null;
  /** Where the tag may be. */
  readonly names: readonly string[];
  readonly upstreamStatus: string | null;
}

/** What an upstream's words for a pod's status mean to us; `gone` is the one for a pod that is no more. */
export interface StatusWords {
  readonly statuses: ReadonlyMap<string, PodStatus>;
  readonly gone: string;
}

/**
 * Makes a Pod of one that was listed. undefined for a pod that is gone, or is not ours: none of its names begins with
 * the prefix (shared accounts; decision 22, "Machines of nobody").
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
  // A word that we don't know is no decision: the pod is looked at again, and its deadline still holds.
  return { podId, tag, status: status ?? 'pending', upstreamStatus, ...rest };
}
