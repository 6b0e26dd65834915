import type { Rental } from '@gpu-rental/client';
import {
  useInfiniteQuery,
  useQuery,
  type UseInfiniteQueryResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  liveRentals,
  liveStatuses,
  rentalCountsQuery,
  rentalsQuery,
  type RentalSought,
} from '../../data/rentals.js';
import { number } from '../../format/number.js';
import { rentalListTexts } from '../../texts/rental-list.js';
import { rentalTexts } from '../../texts/rentals.js';
import { shellTexts } from '../../texts/shell.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { More } from '../../ui/more.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote } from '../../ui/states.js';
import { Choosing, useChoice } from './choosing.js';
import { RentalFilters } from './rental-filters.js';
import { RentalList } from './rental-list.js';
import { rentalStatuses, type RentalsSearch } from './search.js';

const route = getRouteApi('/app/rentals');
const texts = rentalListTexts;

/** How many rentals were found, by status; undefined before the service told, null where it tells none. */
type Counts = Readonly<Record<string, number>> | null | undefined;

/** All rentals: what runs first, then what has ended. The service searches, sorts and counts. */
export function RentalsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: RentalsSearch): void => void navigate({ search: next, replace: true });
  const { status, sort } = search;
  const isSplit = status === undefined;
  const sought = soughtBy(search);
  const order = sort !== undefined && { sort };
  const counts = useQuery(rentalCountsQuery(sought)).data;
  const live = useQuery({ ...liveRentals({ ...sought, ...order }), enabled: isSplit });
  const part = isSplit ? { live: false } : { status };
  const pages = useInfiniteQuery(rentalsQuery({ ...sought, ...order, ...part }));
  return (
    <Page
      title={shellTexts.pages.rentals}
      actions={
        <Link to="/app/rent" className={buttonClasses('primary')}>
          {rentalTexts.rent}
        </Link>
      }
    >
      <RentalFilters search={search} counts={counts} onChange={change} />
      {isSplit && <LiveRentals search={search} live={live} />}
      {/* What stands below is not pushed down by what is still to come above. */}
      {(!isSplit || !live.isPending) && (
        <Rentals search={search} counts={counts} pages={pages} onClear={() => change({})} />
      )}
    </Page>
  );
}

function soughtBy({ q, label }: RentalsSearch): RentalSought {
  return { ...(q !== undefined && { search: q }), ...(label !== undefined && { label }) };
}

const isSought = (search: RentalsSearch): boolean => Object.keys(soughtBy(search)).length > 0;

interface LiveRentalsProps {
  readonly search: RentalsSearch;
  readonly live: UseQueryResult<readonly Rental[]>;
}

/** What runs now, all of it, from which several may be chosen and stopped. */
function LiveRentals({
  search,
  live: { data, error, isPending, isPlaceholderData, refetch },
}: LiveRentalsProps) {
  const choice = useChoice(data);
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <Card title={texts.live} isFlush aside={<Choosing choice={choice} />}>
      {data?.length === 0 ? (
        <p className="px-4 py-5 text-muted">{isSought(search) ? texts.noneLiveFit : texts.noneLiveTitle}</p>
      ) : (
        <RentalList
          label={texts.live}
          rentals={data}
          count={data?.length}
          isPending={isPending}
          isOld={isPlaceholderData}
          skeletons={1}
          choice={choice}
        />
      )}
    </Card>
  );
}

interface RentalsProps {
  readonly search: RentalsSearch;
  readonly counts: Counts;
  readonly pages: UseInfiniteQueryResult<{
    readonly pages: readonly { readonly rentals: readonly Rental[] }[];
  }>;
  readonly onClear: () => void;
}

/** The rentals of a status, page by page; without one, those that have ended. */
function Rentals({ search, counts, pages, onClear }: RentalsProps) {
  const { data, error, isPending, isPlaceholderData } = pages;
  if (error && !data) return <More pages={pages} />;
  const rentals = data?.pages.flatMap((page) => page.rentals);
  const title = titleOf(search);
  const count = countOf(counts, search) ?? rentals?.length;
  return (
    <Card title={title} isFlush aside={count !== undefined && count > 0 && <Count count={count} />}>
      {rentals?.length === 0 ? (
        <NoRentals search={search} counts={counts} onClear={onClear} />
      ) : (
        <RentalList
          label={title}
          rentals={rentals}
          count={count}
          isPending={isPending}
          isOld={isPlaceholderData}
          skeletons={5}
        />
      )}
      <More pages={pages} label={texts.more} isFoot />
    </Card>
  );
}

function titleOf({ status }: RentalsSearch): string {
  return status === undefined ? texts.ended : rentalTexts.status[status];
}

function Count({ count }: { readonly count: number }): ReactNode {
  return <span className="text-[13px] tabular text-muted">{number(count)}</span>;
}

/** How many rentals the lower list has in all, as far as the service has told. */
function countOf(counts: Counts, { status }: RentalsSearch): number | undefined {
  if (!counts) return undefined;
  if (status !== undefined) return counts[status];
  const isEnded = (name: string): boolean => !liveStatuses.some((live) => live === name);
  return rentalStatuses.filter(isEnded).reduce((sum, name) => sum + (counts[name] ?? 0), 0);
}

interface NoRentalsProps {
  readonly search: RentalsSearch;
  readonly counts: Counts;
  readonly onClear: () => void;
}

function NoRentals({ search, counts, onClear }: NoRentalsProps) {
  const hasAny = Object.values(counts ?? {}).some((count) => count > 0);
  const isFiltered = isSought(search) || search.status !== undefined;
  if (hasAny && search.status === undefined) {
    const none = isFiltered ? texts.noneEndedFit : texts.noneEnded;
    return <p className="px-4 py-5 text-muted">{none}</p>;
  }
  if (isFiltered) {
    return (
      <EmptyState
        title={texts.noneFitTitle}
        actions={<Button onClick={onClear}>{shellTexts.clearFilters}</Button>}
      >
        {texts.noneFit}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title={texts.noneTitle}
      actions={
        <Link to="/app/rent" className={buttonClasses('primary')}>
          {rentalTexts.rent}
        </Link>
      }
    >
      {texts.none}
    </EmptyState>
  );
}
