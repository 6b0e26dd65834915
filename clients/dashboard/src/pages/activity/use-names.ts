import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { apiKeysQuery } from '../../data/api-keys.js';
import { keysQuery } from '../../data/keys.js';
import { rentalsByIds } from '../../data/rentals.js';
import { webhooksQuery } from '../../data/webhooks.js';
import { rentalTitle } from '../rentals/matching.js';

/** The name of a thing by its id; undefined of what has none, or is gone. */
export type NameOf = (id: string) => string | undefined;

const MOST = 100;

/**
 * Reads the names of what is told of: only of the kinds that are among it.
 * @param ids of rentals, keys and webhooks, and of anything else
 * @returns undefined until each answer is there, or has failed: what comes late would change what is being read
 */
export function useNames(ids: readonly string[]): NameOf | undefined {
  const kind = (prefix: string): string[] =>
    [...new Set(ids.filter((id) => id.startsWith(prefix)))].sort().slice(0, MOST);
  const [rentalIds, hasKeys, hasHooks] = [kind('rent_'), kind('key_').length > 0, kind('wh_').length > 0];
  const rentals = useQuery({ ...rentalsByIds(rentalIds), enabled: rentalIds.length > 0 });
  const keys = useQuery({ ...keysQuery, enabled: hasKeys });
  const apiKeys = useInfiniteQuery({ ...apiKeysQuery, enabled: hasKeys });
  const hooks = useQuery({ ...webhooksQuery, enabled: hasHooks });
  if ([rentals, keys, apiKeys, hooks].some(({ isLoading }) => isLoading)) return undefined;
  return (id) => {
    const rental = rentals.data?.get(id);
    if (rental) return rentalTitle(rental);
    const key = [...(keys.data ?? []), ...(apiKeys.data?.pages.flatMap((page) => page.apiKeys) ?? [])].find(
      (one) => one.id === id,
    );
    if (key) return key.name;
    const hook = hooks.data?.find((one) => one.id === id);
    return hook && (hook.description === '' ? new URL(hook.url).host : hook.description);
  };
}

/** All ids that something tells of: of itself, and in what it holds. */
export function idsIn(entityId: string | null, data: Readonly<Record<string, unknown>> | null): string[] {
  const held = Object.values(data ?? {}).flat();
  return [entityId, ...held].filter((id) => typeof id === 'string');
}
