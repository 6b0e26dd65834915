import type { ApiKey, AutoTopup, Budget, Card, Rental, Standing, Webhook } from '@gpu-rental/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { apiKeysQuery } from '../../data/api-keys.js';
import { autoTopupQuery } from '../../data/auto-topup.js';
import { budgetQuery } from '../../data/budget.js';
import { cardQuery } from '../../data/card.js';
import { keysQuery } from '../../data/keys.js';
import { liveRentalsQuery, rentalsQuery } from '../../data/rentals.js';
import { standingQuery } from '../../data/standing.js';
import { billingConfigQuery } from '../../data/billing-config.js';
import { balanceQuery } from '../../data/wallet.js';
import { webhooksQuery } from '../../data/webhooks.js';

/** What the overview shows besides the wallet; undefined where the service did not tell it. */
export interface HomeFacts {
  /** Machines that there are now, newest first. */
  readonly rentals: readonly Rental[] | undefined;
  /** There never was one. */
  readonly isNew: boolean;
  readonly keyCount: number | undefined;
  readonly autoTopup: AutoTopup | undefined;
  readonly card: Card | undefined;
  readonly budget: Budget | undefined;
  readonly standing: Standing | undefined;
  readonly supportContact: string | undefined;
  readonly webhooks: readonly Webhook[] | undefined;
  /** The newest ones. */
  readonly apiKeys: readonly ApiKey[] | undefined;
}

interface Home {
  /** Undefined until each answer is there, or has failed: what comes late would move what is being read. */
  readonly facts: HomeFacts | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** Reads what the overview shows. */
export function useHome(): Home {
  const rentals = useQuery(liveRentalsQuery);
  const balance = useQuery(balanceQuery);
  const autoTopup = useQuery(autoTopupQuery);
  const card = useQuery(cardQuery);
  const budget = useQuery(budgetQuery);
  const warned = useWarned();
  // Whether there ever was one matters only while there is none.
  const isIdle = rentals.data?.length === 0;
  const ever = useInfiniteQuery({ ...rentalsQuery(), enabled: isIdle });
  const isNew = isIdle && ever.data?.pages[0]?.rentals.length === 0;
  const keys = useQuery({ ...keysQuery, enabled: isNew });
  const isComing = [rentals, balance, autoTopup, card, budget, ever, keys].some(isFirstComing);
  const facts = {
    rentals: rentals.data,
    isNew,
    keyCount: keys.data?.length,
    autoTopup: autoTopup.data,
    card: card.data,
    budget: budget.data,
    ...warned.facts,
  };
  return {
    facts: isComing || warned.isComing ? undefined : facts,
    error: rentals.error,
    retry: () => void rentals.refetch(),
  };
}

/** What is asked for only to warn of it. */
function useWarned() {
  const standing = useQuery(standingQuery);
  const config = useQuery(billingConfigQuery);
  const webhooks = useQuery(webhooksQuery);
  const apiKeys = useInfiniteQuery(apiKeysQuery);
  const facts = {
    standing: standing.data,
    supportContact: config.data?.supportContact ?? undefined,
    webhooks: webhooks.data,
    apiKeys: apiKeys.data?.pages[0]?.apiKeys,
  };
  return { facts, isComing: [standing, config, webhooks, apiKeys].some(isFirstComing) };
}

/** Not what is asked for again after a failure: it would take what stands there away. */
const isFirstComing = ({ isLoading, isFetched }: { isLoading: boolean; isFetched: boolean }): boolean =>
  isLoading && !isFetched;
