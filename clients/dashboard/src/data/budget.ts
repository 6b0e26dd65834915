import type { Budget, PutBudget } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** What the rentals of this month may cost, and what they did. */
export const budgetQuery = queryOptions({
  queryKey: ['budget'],
  queryFn: ({ signal }) => api.wallet.budget({ signal }),
});

export function saveBudget(budget: PutBudget): Promise<Budget> {
  return api.wallet.saveBudget(budget);
}
