import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ledgerHeadQuery } from '../../data/ledger.js';
import { useBalance } from '../../live/hooks.js';

/** The newest entries, read again as soon as the stream tells that there are newer ones. */
export function useLedgerHead() {
  const head = useQuery(ledgerHeadQuery);
  const told = useBalance()?.ledgerSeq ?? 0;
  const { data, refetch, isError } = head;
  const isBehind = data !== undefined && told > data.newestSeq;
  useEffect(() => {
    // A read that is under way began before this word, but is enough where it comes back with it.
    if (isBehind && !isError) void refetch({ cancelRefetch: false });
  }, [isBehind, isError, told, refetch]);
  return head;
}
