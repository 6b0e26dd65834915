import type { Rental } from '@gpu-rental/client';
import {
  useInfiniteQuery,
  useQuery,
  type UseInfiniteQueryResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { isLive, liveRentalsQuery, rentalsQuery, type RentalFilter } from '../../data/rentals.js';
import { rentalTexts } from '../../texts/rentals.js';
import { shellTexts } from '../../texts/shell.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { More } from '../../ui/more.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote } from '../../ui/states.js';
import { fits } from './matching.js';
import { RentalFilters } from './rental-filters.js';
import { RentalColumns, RentalItem, RentalSkeleton } from './rental-item.js';
import type { RentalsSearch } from './search.js';

const route = getRouteApi('/app/rentals');
const texts = rentalTexts.list;

/** All rentals: what runs first, then what has ended. */
export function RentalsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: RentalsSearch): void => void navigate({ search: next, replace: true });
  const isSplit = search.status === undefined;
  const live = useQuery({ ...liveRentalsQuery, enabled: isSplit });
  const pages = useInfiniteQuery(rentalsQuery(filterOf(search)));
  return (
    <Page
      title={shellTexts.pages.rentals}
      actions={
        <Link to="/app/rent" className={buttonClasses('primary')}>
          {rentalTexts.rent}
        </Link>
      }
    >
      <RentalFilters search={search} onChange={change} />
      {isSplit && <LiveRentals search={search} live={live} />}
      {/* What stands below is not pushed down by what is still to come above. */}
      {(!isSplit || !live.isPending) && <Rentals search={search} pages={pages} onClear={() => change({})} />}
    </Page>
  );
}

interface LiveRentalsProps {
  readonly search: RentalsSearch;
  readonly live: UseQueryResult<readonly Rental[]>;
}

/** What runs now: few, and perhaps older than all of the first page. */
function LiveRentals({ search, live }: LiveRentalsProps) {
  const { data, error, isPending, refetch } = live;
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const rentals = data?.filter((rental) => fits(rental, search));
  return (
    <Card title={texts.live} isFlush>
      {rentals?.length === 0 ? (
        <p className="px-4 py-5 text-muted">{texts.noneLiveTitle}</p>
      ) : (
        <RentalList label={texts.live} rentals={rentals} isPending={isPending} skeletons={1} />
      )}
    </Card>
  );
}

interface RentalsProps {
  readonly search: RentalsSearch;
  readonly pages: UseInfiniteQueryResult<{
    readonly pages: readonly { readonly rentals: readonly Rental[] }[];
  }>;
  readonly onClear: () => void;
}

/** The rentals of a status, page by page; without one, those that have ended. */
function Rentals({ search, pages, onClear }: RentalsProps) {
  const { status } = search;
  const { data, error, isPending, hasNextPage } = pages;
  if (error && !data) return <More pages={pages} />;
  const read = data?.pages.flatMap(({ rentals }) => rentals);
  const rentals = read?.filter((rental) => fits(rental, search) && isOfList(rental, status));
  const title = status === undefined ? texts.ended : rentalTexts.status[status];
  return (
    <Card title={title} isFlush>
      {read && rentals?.length === 0 ? (
        <NoRentals
          isFiltered={Object.keys(search).length > 0}
          hasAny={read.length > 0}
          readSoFar={hasNextPage ? read.length : undefined}
          onClear={onClear}
        />
      ) : (
        <RentalList label={title} rentals={rentals} isPending={isPending} skeletons={5} />
      )}
      <More pages={pages} label={texts.more} isFoot />
    </Card>
  );
}

/** The part of the filters that the service knows. */
function filterOf({ status, label }: RentalsSearch): RentalFilter {
  return { ...(status !== undefined && { status }), ...(label !== undefined && { label }) };
}

/** Without a status, what runs has a list of its own. */
const isOfList = (rental: Rental, status: RentalsSearch['status']): boolean =>
  status !== undefined || !isLive(rental);

interface RentalListProps {
  readonly label: string;
  /** Undefined while they are on their way. */
  readonly rentals: readonly Rental[] | undefined;
  readonly isPending: boolean;
  readonly skeletons: number;
}

function RentalList({ label, rentals, isPending, skeletons }: RentalListProps) {
  return (
    <>
      <p role="status" className="sr-only">
        {isPending ? shellTexts.loading : texts.found(rentals?.length ?? 0)}
      </p>
      <RentalColumns />
      <ul aria-label={label} className="divide-y divide-line">
        {rentals
          ? rentals.map((rental) => <RentalItem key={rental.id} rental={rental} />)
          : Array.from({ length: skeletons }, (_, place) => <RentalSkeleton key={place} />)}
      </ul>
    </>
  );
}

interface NoRentalsProps {
  readonly isFiltered: boolean;
  /** There are rentals, which all still run. */
  readonly hasAny: boolean;
  /** How many were looked through, where there are older ones. */
  readonly readSoFar: number | undefined;
  readonly onClear: () => void;
}

function NoRentals({ isFiltered, hasAny, readSoFar, onClear }: NoRentalsProps) {
  if (isFiltered) {
    return (
      <EmptyState title={texts.noneFitTitle} actions={<Button onClick={onClear}>{texts.clear}</Button>}>
        {readSoFar === undefined ? texts.noneFit : texts.noneFitYet(readSoFar)}
      </EmptyState>
    );
  }
  if (hasAny) return <p className="px-4 py-5 text-muted">{texts.noneEnded}</p>;
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
