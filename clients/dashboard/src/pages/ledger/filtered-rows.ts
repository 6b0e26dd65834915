import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { filteredLedgerQuery, filteredNewsQuery, type LedgerFilter } from '../../data/ledger.js';
import { joinEntries } from '../../data/ledger-join.js';
import type { LedgerRows, Window } from './rows.js';
import { useLedgerHead } from './use-ledger-head.js';

/** How near to the end of what was read the next page is asked for. */
const AHEAD = 100;

interface FilteredOptions {
  readonly filter: LedgerFilter;
  readonly looked: Window;
  readonly isFollowing: boolean;
}

/** Entries of a type or a rental: their numbers have gaps, so that they are read one page after the other. */
export function useFilteredRows({ filter, looked, isFollowing }: FilteredOptions): LedgerRows {
  const pages = useInfiniteQuery(filteredLedgerQuery(filter));
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = pages;
  const read = useMemo(() => pages.data?.pages.flatMap(({ entries }) => entries) ?? [], [pages.data]);
  const news = useNews(filter);
  const client = useQueryClient();
  const entries = useMemo(() => joinEntries(news, read), [news, read]);
  const isTorn = entries === undefined && read.length > 0 && news.length > 0;
  useEffect(() => {
    // More came at once than was asked for: the list begins anew.
    if (isTorn) void client.resetQueries({ queryKey: filteredLedgerQuery(filter).queryKey });
  }, [isTorn, client, filter]);
  const list = entries ?? (read.length > 0 ? read : news);
  const isNear = looked.last >= list.length - AHEAD;
  useEffect(() => {
    if (isNear && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage();
  }, [isNear, hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  const [shownId, setShownId] = useState<string>();
  const topId = list[0]?.id;
  if ((isFollowing || shownId === undefined) && shownId !== topId) setShownId(topId);
  const newer = Math.max(
    0,
    list.findIndex(({ id }) => id === shownId),
  );
  return {
    count: list.length - newer,
    isWhole: !hasNextPage,
    at: (index) => list[index + newer],
    newer,
    showNewer: () => setShownId(topId),
    isPending: pages.isPending,
    error: pages.error,
    retry: () => void (pages.data ? fetchNextPage() : pages.refetch()),
    olderThan: undefined,
  };
}

const nothing: readonly never[] = [];

/** What was written under a filter since; read when the ledger has grown. */
function useNews(filter: LedgerFilter) {
  const head = useLedgerHead();
  const { data = nothing, refetch } = useQuery(filteredNewsQuery(filter));
  const newestSeq = head.data?.newestSeq;
  useEffect(() => {
    void refetch({ cancelRefetch: false });
  }, [newestSeq, refetch]);
  return data;
}
