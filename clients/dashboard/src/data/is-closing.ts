import { useQuery } from '@tanstack/react-query';
import { meQuery } from './account.js';

/** Whether the account is being closed, so that nothing new can begin. */
export function useIsClosing(): boolean {
  const { data } = useQuery(meQuery);
  return (data?.closingSince ?? null) !== null;
}
