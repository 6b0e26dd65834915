/** What the address of the sign-in tells. */
export interface LoginSearch {
  /** Where to go afterwards: a path of the dashboard. */
  readonly returnTo?: string;
  /** Why a sign-in by a provider failed, or that a session has ended. */
  readonly error?: string;
}

/** Reads the search part of the address; what is none of it is left out. */
export function readLoginSearch(search: Readonly<Record<string, unknown>>): LoginSearch {
  const { returnTo, error } = search;
  return {
    // Only paths of the dashboard: an address that somebody else wrote must not lead away.
    ...(typeof returnTo === 'string' && /^\/app(?:[/?#]|$)/.test(returnTo) && { returnTo }),
    ...(typeof error === 'string' && { error }),
  };
}
