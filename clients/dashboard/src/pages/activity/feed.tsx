import type { ReactNode } from 'react';
import { activityTexts } from '../../texts/activity.js';
import { shellTexts } from '../../texts/shell.js';
import { Card } from '../../ui/card.js';
import { More, type PagesQuery } from '../../ui/more.js';
import { EmptyState, Skeleton } from '../../ui/states.js';

interface FeedProps {
  readonly query: PagesQuery & { readonly isPending: boolean };
  readonly isFiltered: boolean;
  /** How many lines were read. */
  readonly count: number;
  readonly children: ReactNode;
}

/** Lines, the newest first, and what leads to older ones. */
export function Feed({ query, isFiltered, count, children }: FeedProps) {
  const { error, isPending, hasNextPage } = query;
  const isEmpty = !isPending && count === 0 && !hasNextPage;
  return (
    <Card isFlush>
      {isPending && error === null && <Waiting />}
      {isEmpty && error === null && <Nothing isFiltered={isFiltered} />}
      {count > 0 && <ol className="peer divide-y divide-line">{children}</ol>}
      {/* Until the names are read the list is empty, and what stands below would move. */}
      <div className="peer-empty:hidden">
        <Foot query={query} count={count} />
      </div>
    </Card>
  );
}

function Foot({ query, count }: Pick<FeedProps, 'query' | 'count'>) {
  if (query.error !== null || query.hasNextPage)
    return <More pages={query} label={activityTexts.more} isFoot />;
  if (count === 0) return null;
  return (
    <p className="border-t border-line px-4 py-3 text-center text-[13px] text-muted">{activityTexts.end}</p>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title={activityTexts.emptyFiltered} />;
  return <EmptyState title={activityTexts.empty}>{activityTexts.emptyText}</EmptyState>;
}

function Waiting() {
  return (
    <div role="status">
      <span className="sr-only">{shellTexts.loading}</span>
      {Array.from({ length: 10 }, (_, index) => (
        <div key={index} className="flex min-h-20 flex-col justify-center gap-2 border-b border-line px-4">
          <Skeleton className="h-4 w-2/3" />
          <Skeleton className="h-3 w-1/3" />
        </div>
      ))}
    </div>
  );
}
