import { isApiError, type LedgerEntry } from '@gpu-rental/client';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useCallback, useMemo, useState } from 'react';
import { ledgerCsvAddress } from '../../data/ledger.js';
import { number as written } from '../../format/number.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { shellTexts } from '../../texts/shell.js';
import { Callout } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { DownloadIcon } from '../../ui/icons.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Money } from '../../ui/money.js';
import { Page } from '../../ui/page.js';
import { Segmented } from '../../ui/segmented.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { useHeld } from '../../ui/use-held.js';
import { useFilteredRows } from './filtered-rows.js';
import { LedgerFilters } from './filters.js';
import { LedgerList, type Following } from './ledger-list.js';
import { NoEntries } from './no-entries.js';
import { useNumberedRows } from './numbered-rows.js';
import { useRentalLabels } from './use-rental-labels.js';
import type { LedgerRows, Window } from './rows.js';
import { betweenOf, entriesSearch, filterOf, isFiltered, isOfEntries, without } from './filter.js';
import { type LedgerSearch } from './search.js';
import { SpendingView } from './spending.js';
import { useLedgerHead } from './use-ledger-head.js';
import { useThrottled } from './use-throttled.js';

// Loaded when an entry is first explained.
const ExplainDialog = lazyPart(() => import('./overlays/explain-dialog.js'), 'ExplainDialog');

const views = [
  { value: 'spending', label: ledgerTexts.views.spending },
  { value: 'entries', label: ledgerTexts.views.entries },
] as const;

/** What was spent, day by day, and every change of the wallet. */
export function LedgerPage() {
  const search = useSearch({ from: '/app/ledger' });
  const navigate = useNavigate({ from: '/app/ledger' });
  const isSparse = search.type !== undefined || search.rental !== undefined;
  return (
    <Page
      title={shellTexts.pages.ledger}
      lead={ledgerTexts.lead}
      actions={
        <a
          href={ledgerCsvAddress(betweenOf(search))}
          download="ledger.csv"
          title={isSparse ? ledgerTexts.csvOfSpan : undefined}
          className={buttonClasses()}
        >
          <DownloadIcon />
          {ledgerTexts.csv}
        </a>
      }
    >
      <Segmented
        label={ledgerTexts.view}
        value={isOfEntries(search) ? 'entries' : 'spending'}
        options={views}
        onChange={(value) =>
          void navigate({ search: value === 'entries' ? { view: value } : {}, resetScroll: false })
        }
        className="w-full sm:w-80"
      />
      {isOfEntries(search) ? <EntriesView search={search} /> : <SpendingView search={search} />}
    </Page>
  );
}

function EntriesView({ search }: { readonly search: LedgerSearch }) {
  const navigate = useNavigate({ from: '/app/ledger' });
  const { type, rental, from, to, before } = search;
  const isSparse = type !== undefined || rental !== undefined;
  const List = isSparse ? FilteredList : NumberedList;
  const close = (): void => {
    void navigate({ search: entriesSearch(without(search, 'entry')), replace: true, resetScroll: false });
  };
  return (
    <>
      <LedgerFilters search={search} />
      {before !== undefined && !isSparse && <OlderNote search={search} />}
      <List key={[type, rental, from, to, before].join(' ')} search={search} />
      <Suspense>{search.entry !== undefined && <ExplainDialog id={search.entry} onClose={close} />}</Suspense>
    </>
  );
}

function OlderNote({ search }: { readonly search: LedgerSearch }) {
  return (
    <Callout
      tone="neutral"
      title={ledgerTexts.olderNote}
      actions={
        <Link
          to="/app/ledger"
          search={entriesSearch(without(search, 'before'))}
          className={buttonClasses('secondary', 'small')}
        >
          {ledgerTexts.newest}
        </Link>
      }
    />
  );
}

const top: Window = { first: 0, last: 0 };

/** How often the lines that are looked at may change what is read. */
const READ_EVERY_MS = 120;

function NumberedList({ search }: { readonly search: LedgerSearch }) {
  const [looked, look] = useThrottled(top, READ_EVERY_MS);
  const { isFollowing, following } = useFollowing(search);
  const between = betweenOf(search);
  const rows = useNumberedRows({ between, before: search.before, looked, isFollowing });
  return <Entries {...{ search, rows, following }} onLook={look} />;
}

function FilteredList({ search }: { readonly search: LedgerSearch }) {
  const [looked, look] = useThrottled(top, READ_EVERY_MS);
  const { isFollowing, following } = useFollowing(search);
  const filter = useMemo(() => filterOf(search), [search]);
  const rows = useFilteredRows({ filter, looked, isFollowing });
  return <Entries {...{ search, rows, following }} onLook={look} />;
}

/** Tells whether new entries move the list. The focus comes back to it from an entry that is explained. */
function useFollowing({ entry }: LedgerSearch): {
  readonly isFollowing: boolean;
  readonly following: Following;
} {
  const [isAtTop, onAtTop] = useState(true);
  const { isHeld, hold } = useHeld();
  return {
    isFollowing: isAtTop && !isHeld && entry === undefined,
    following: { isAtTop, onAtTop, hold },
  };
}

interface EntriesProps {
  readonly search: LedgerSearch;
  readonly rows: LedgerRows;
  readonly following: Following;
  readonly onLook: (looked: Window) => void;
}

function Entries({ search, rows, ...listening }: EntriesProps) {
  if (isApiError(rows.error, 'rental_not_found')) {
    return (
      <Card>
        <EmptyState title={ledgerTexts.noRental} />
      </Card>
    );
  }
  return (
    <Card isFlush>
      <Summary rows={rows} />
      {rows.error !== null && (
        <div className="p-3">
          <ErrorNote error={rows.error} onRetry={rows.retry} />
        </div>
      )}
      <Lines {...listening} search={search} rows={rows} />
    </Card>
  );
}

function Lines({ search, rows, ...listening }: EntriesProps) {
  const { labels } = useRentalLabels(search.rental);
  const navigate = useNavigate({ from: '/app/ledger' });
  // Of lasting identity, so that lines that stay are not drawn anew.
  const open = useCallback(
    ({ id }: LedgerEntry): void => {
      void navigate({ search: (now) => ({ ...now, entry: id }), resetScroll: false });
    },
    [navigate],
  );
  const hasFailed = rows.error !== null;
  if (rows.isPending) return hasFailed ? null : <Pending />;
  if (rows.count === 0) return hasFailed ? null : <Empty search={search} />;
  return (
    <LedgerList
      {...listening}
      rows={rows}
      labels={labels}
      onOpen={open}
      foot={rows.olderThan !== undefined && <Older search={search} olderThan={rows.olderThan} />}
    />
  );
}

function Empty({ search }: { readonly search: LedgerSearch }) {
  return isFiltered(search) ? <EmptyState title={ledgerTexts.emptyFiltered} /> : <NoEntries />;
}

/** What is in the wallet now, and how long the list is. */
function Summary({ rows }: { readonly rows: LedgerRows }) {
  const { data } = useLedgerHead();
  const { count, newer, isWhole, isPending } = rows;
  const all = count + newer;
  return (
    <div className="flex min-h-12 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line px-4 py-2">
      <p className="text-muted tabular">
        {!isPending &&
          (isWhole ? ledgerTexts.entryCount(written(all), all) : ledgerTexts.shownCount(written(all)))}
      </p>
      <p className="flex items-baseline gap-2 text-muted">
        {ledgerTexts.balanceNow}
        {data ? (
          <Money cents={data.balanceCents} className="text-base font-semibold text-ink" />
        ) : (
          <Skeleton className="h-5 w-20" />
        )}
      </p>
    </div>
  );
}

function Pending() {
  return (
    <div role="status" className="h-[calc(100dvh-9rem)] min-h-80 overflow-hidden lg:h-[calc(100dvh-21rem)]">
      <span className="sr-only">{shellTexts.loading}</span>
      {Array.from({ length: 24 }, (_, index) => (
        <div key={index} className="flex h-10.25 items-center gap-6 border-b border-line px-4 max-sm:h-15.25">
          <Skeleton className="h-3.5 w-40" />
          <Skeleton className="h-3.5 w-24 max-sm:hidden" />
          <Skeleton className="ml-auto h-3.5 w-16" />
        </div>
      ))}
    </div>
  );
}

/** Goes on below the last line that one list can hold. */
function Older({ search, olderThan }: { readonly search: LedgerSearch; readonly olderThan: number }) {
  const navigate = useNavigate({ from: '/app/ledger' });
  return (
    <div className="flex justify-center p-3">
      <Button onClick={() => void navigate({ search: { ...search, before: olderThan } })}>
        {ledgerTexts.older}
      </Button>
    </div>
  );
}
