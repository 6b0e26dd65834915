/** How often a fault still strikes: a number of times, or until it is cleared. */
export type Times = number | 'until_cleared';

/** What the lab can be told to do wrong. Kept in memory: a restarted lab is in good health. */
export interface LabFaults {
  /** Creates are refused for lack of capacity; `types` limits that to some instance types. */
  noCapacity: { times: Times; types: readonly string[] | null } | null;
  /** The pod is made and the create is never answered. */
  loseCreateAnswer: Times;
  /** The pod is made and the create is answered with a 500. */
  failCreateAfterMake: Times;
  /** Creates are refused by a rate limit. */
  rateLimitCreate: { times: Times; retryAfterSeconds: number | null } | null;
  /** The pod never gets beyond `pending`. */
  bootNever: Times;
  /** The pod costs this much more than was listed. */
  priceChange: { times: Times; percent: number } | null;
  /** Deletes are answered with a 500 and change nothing. */
  failDelete: Times;
}

/** No fault at all. */
export function noFaults(): LabFaults {
  return {
    noCapacity: null,
    loseCreateAnswer: 0,
    failCreateAfterMake: 0,
    rateLimitCreate: null,
    bootNever: 0,
    priceChange: null,
    failDelete: 0,
  };
}

type Counted = 'loseCreateAnswer' | 'failCreateAfterMake' | 'bootNever' | 'failDelete';

/** Uses up one of a counted fault; tells whether it strikes. */
export function strikes(faults: LabFaults, name: Counted): boolean {
  const [hit, left] = used(faults[name]);
  faults[name] = left;
  return hit;
}

/** Uses up one of a fault with settings; gives them when it strikes. */
export function findStrike<N extends 'noCapacity' | 'rateLimitCreate' | 'priceChange'>(
  faults: LabFaults,
  name: N,
): NonNullable<LabFaults[N]> | undefined {
  const fault = faults[name];
  if (fault === null) return undefined;
  const [hit, left] = used(fault.times);
  fault.times = left;
  return hit ? fault : undefined;
}

function used(times: Times): [boolean, Times] {
  if (times === 'until_cleared') return [true, times];
  return times > 0 ? [true, times - 1] : [false, 0];
}
