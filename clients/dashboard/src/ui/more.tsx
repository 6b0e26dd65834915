import { useEffect, useState } from 'react';
import { shellTexts } from '../texts/shell.js';
import { Button } from './button.js';
import { classes } from './classes.js';
import { ErrorNote } from './states.js';

/** What a list needs to know of the query that reads it page by page. */
export interface PagesQuery {
  readonly data: { readonly pages: readonly unknown[] } | undefined;
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isFetchNextPageError: boolean;
  readonly fetchNextPage: () => unknown;
  readonly refetch: () => unknown;
}

interface MoreProps {
  readonly pages: PagesQuery;
  readonly label?: string;
  /** At the foot of a card, rather than below one. */
  readonly isFoot?: boolean;
}

/** Leads to the next page of a list where there is one. A failure stands in its place, and can be tried again. */
export function More({ pages, label = shellTexts.more, isFoot = false }: MoreProps) {
  const { error, hasNextPage, isFetching, isFetchNextPageError, refetch } = pages;
  const { isAsked, ask } = useNextPage(pages);
  if (error !== null && !(isFetching && isAsked)) {
    const retry = isFetchNextPageError ? ask : refetch;
    return (
      <div className={isFoot ? 'p-4' : undefined}>
        <ErrorNote error={error} onRetry={() => void retry()} />
      </div>
    );
  }
  if (!hasNextPage) return null;
  return (
    <div className={classes('flex justify-center', isFoot && 'border-t border-line p-3')}>
      <Button isBusy={isAsked} onClick={ask}>
        {label}
      </Button>
    </div>
  );
}

/**
 * Reads the next page until it is there. An event that has the list read anew meanwhile gives up what was asked for, and
 * nobody presses a button twice for what they can't see.
 */
function useNextPage({ data, error, hasNextPage, isFetching, fetchNextPage }: PagesQuery): {
  readonly isAsked: boolean;
  readonly ask: () => void;
} {
  const shown = data?.pages.length ?? 0;
  const [wanted, setWanted] = useState(0);
  if (wanted > 0 && shown >= wanted) setWanted(0);
  const isGivenUp = wanted > shown && hasNextPage && !isFetching && error === null;
  useEffect(() => {
    if (isGivenUp) void fetchNextPage();
  }, [isGivenUp, fetchNextPage]);
  const ask = (): void => {
    setWanted(shown + 1);
    void fetchNextPage();
  };
  return { isAsked: wanted > shown, ask };
}
