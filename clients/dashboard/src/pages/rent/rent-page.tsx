import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { familiesQuery, listingsQuery } from '../../data/catalog.js';
import { rentTexts } from '../../texts/rent.js';
import { shellTexts } from '../../texts/shell.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote } from '../../ui/states.js';
import { familyRows, isOffered, listingFilterOf, type FamilyRow } from './families.js';
import { FamilyColumns, FamilyItem, FamilySkeleton } from './family-item.js';
import { Filters } from './filters.js';
import type { RentSearch } from './search.js';

const route = getRouteApi('/app/rent');

/** What can be rented: the families, by what is looked for. */
export function RentPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const families = useQuery(familiesQuery);
  const everything = useQuery(listingsQuery());
  const listings = useQuery({
    ...listingsQuery(listingFilterOf(search)),
    placeholderData: keepPreviousData,
  });
  const change = (next: RentSearch): void => void navigate({ search: next, replace: true });
  const countries = [...new Set(everything.data?.map(({ regionCode }) => regionCode))];
  const failed = [families, listings].find(({ isError }) => isError);
  const rows = families.data && listings.data && familyRows(families.data, listings.data, search);
  return (
    <Page title={shellTexts.pages.rent} lead={rentTexts.lead}>
      <Filters search={search} onChange={change} countries={countries} />
      {failed && <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} />}
      {!failed && (
        <Card isFlush className={classes('transition-opacity', listings.isPlaceholderData && 'opacity-60')}>
          <p role="status" className="border-b border-line px-4 py-2 text-[13px] text-muted">
            {rows === undefined ? shellTexts.loading : rentTexts.found(rows.filter(isOffered).length)}
          </p>
          <FamilyList rows={rows} search={search} onClear={() => change({})} />
        </Card>
      )}
    </Page>
  );
}

interface FamilyListProps {
  /** Undefined while they are on their way. */
  readonly rows: readonly FamilyRow[] | undefined;
  readonly search: RentSearch;
  readonly onClear: () => void;
}

function FamilyList({ rows, search, onClear }: FamilyListProps) {
  if (rows?.length === 0)
    return <NothingFits isFiltered={Object.keys(search).length > 0} onClear={onClear} />;
  const isByPrice = search.sort === undefined && Object.keys(search).length > 0;
  const absent = rows?.filter((row) => !isOffered(row)) ?? [];
  return (
    <>
      <FamilyColumns />
      <ul aria-label={rentTexts.families} className="divide-y divide-line">
        {rows
          ? rows
              .filter(isOffered)
              .map((row, index) => (
                <FamilyItem key={row.id} row={row} search={search} isFirst={isByPrice && index === 0} />
              ))
          : [1, 2, 3, 4, 5, 6].map((place) => <FamilySkeleton key={place} />)}
      </ul>
      {absent.length > 0 && (
        <p className="border-t border-line px-4 py-3 text-[13px] text-muted">
          {rentTexts.notOffered(absent.map(({ name }) => name).join(', '))}
        </p>
      )}
    </>
  );
}

function NothingFits({
  isFiltered,
  onClear,
}: {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}) {
  if (!isFiltered)
    return <EmptyState title={rentTexts.emptyCatalogTitle}>{rentTexts.emptyCatalog}</EmptyState>;
  return (
    <EmptyState
      title={rentTexts.emptyTitle}
      actions={<Button onClick={onClear}>{shellTexts.clearFilters}</Button>}
    >
      {rentTexts.empty}
    </EmptyState>
  );
}
