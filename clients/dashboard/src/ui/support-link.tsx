import { useQuery, useQueryClient } from '@tanstack/react-query';
import { meQuery } from '../data/account.js';
import { supportHref } from '../data/support.js';
import { billingConfigQuery } from '../data/billing-config.js';

/** Where to get help, behind a text that sends people to support; nothing where the service names nobody. */
export function SupportLink({ contact }: { readonly contact?: string | undefined }) {
  const isSignedIn = useQueryClient().getQueryData(meQuery.queryKey) !== undefined;
  const { data } = useQuery({ ...billingConfigQuery, enabled: contact === undefined && isSignedIn });
  const named = contact ?? data?.supportContact ?? undefined;
  if (named === undefined) return null;
  return (
    <a href={supportHref(named)} className="underline [overflow-wrap:anywhere]">
      {named.replace(/^https:\/\//, '')}
    </a>
  );
}
