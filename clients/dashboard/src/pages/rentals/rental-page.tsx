import { isApiError, type Rental } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { isLive, isUsed, rentalQuery, WATCH_MS } from '../../data/rentals.js';
import { familyName } from '../../format/machine.js';
import { notFoundTexts } from '../../texts/not-found.js';
import { rentalTexts } from '../../texts/rentals.js';
import { wordTexts } from '../../texts/words.js';
import { shellTexts } from '../../texts/shell.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { StopIcon } from '../../ui/icons.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { AccessCard } from './access-card.js';
import { ChargesCard } from './charges-card.js';
import { CostCard } from './cost-card.js';
import { DetailsCard } from './details-card.js';
import { EndNote, SettlementCard } from './ending-cards.js';
import { EndpointsCard } from './endpoints-card.js';
import { LimitsCard } from './limits-card.js';
import { rentalTitle } from './matching.js';
import { StatusBadge } from './rental-badges.js';
import { RentalWarnings } from './rental-warnings.js';
import { Timeline } from './timeline.js';

const route = getRouteApi('/app/rentals/$rentalId');
// Loaded when they are first asked for.
const StopDialog = lazyPart(() => import('./overlays/stop-dialog.js'), 'StopDialog');
const LimitsDialog = lazyPart(() => import('./overlays/limits-dialog.js'), 'LimitsDialog');
const Usage = lazyPart(() => import('./overlays/usage.js'), 'Usage');
const NamingDialog = lazyPart(() => import('./overlays/naming-dialog.js'), 'NamingDialog');

/** One rental: how far it is, how to enter it, what it costs, and what can be done with it. */
export function RentalPage() {
  const { rentalId } = route.useParams();
  const { data, error, refetch } = useQuery({
    ...rentalQuery(rentalId),
    refetchInterval: ({ state }) =>
      (state.data?.status === 'provisioning' || state.data?.status === 'stopping') && WATCH_MS,
  });
  if (isApiError(error, 'rental_not_found')) return <NoSuchRental />;
  if (data) return <RentalView rental={data} error={error} onRetry={() => void refetch()} />;
  return (
    <Page title={shellTexts.pages.rentals}>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <RentalSkeleton />}
    </Page>
  );
}

type OpenDialog = 'stop' | 'limits' | 'naming' | 'usage';

/** The dialog that was asked for last, by a button or by the address. */
function useOpenDialog(rental: Rental) {
  const navigate = route.useNavigate();
  const { limits: asksLimits = false } = route.useSearch();
  const [opened, setOpen] = useState<OpenDialog>();
  const open = opened ?? (asksLimits && isLive(rental) ? 'limits' : undefined);
  const close = (): void => {
    setOpen(undefined);
    if (asksLimits) void navigate({ search: {}, replace: true, resetScroll: false });
  };
  return { open, setOpen, close };
}

interface RentalViewProps {
  readonly rental: Rental;
  /** What is shown is of before: it could not be read anew. */
  readonly error: unknown;
  readonly onRetry: () => void;
}

function RentalView({ rental, error, onRetry }: RentalViewProps) {
  const { open, setOpen, close } = useOpenDialog(rental);
  const canStop = isUsed(rental);
  return (
    <Page
      title={rentalTitle(rental)}
      actions={
        <>
          <Button onClick={() => setOpen('usage')}>{rentalTexts.usage}</Button>
          <Button onClick={() => setOpen('naming')}>{wordTexts.edit}</Button>
          {canStop && (
            <Button look="danger" onClick={() => setOpen('stop')}>
              <StopIcon />
              {rentalTexts.stop}
            </Button>
          )}
        </>
      }
    >
      <Subtitle rental={rental} />
      {error !== null && <ErrorNote error={error} onRetry={onRetry} />}
      {canStop && <RentalWarnings rental={rental} onStop={() => setOpen('stop')} />}
      <Suspense>
        {(open === 'usage' || rental.idleGuard?.stopsAt) && (
          <Usage rental={rental} isOpen={open === 'usage'} />
        )}
        {open === 'stop' && <StopDialog rental={rental} onClose={close} />}
        {open === 'limits' && <LimitsDialog rental={rental} onClose={close} />}
        {open === 'naming' && <NamingDialog rental={rental} onClose={close} />}
      </Suspense>
      <EndNote rental={rental} />
      <Cards rental={rental} onChangeLimits={() => setOpen('limits')} />
    </Page>
  );
}

interface CardsProps {
  readonly rental: Rental;
  readonly onChangeLimits: () => void;
}

function Cards({ rental, onChangeLimits }: CardsProps) {
  const { status, phase } = rental;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem] 3xl:grid-cols-[minmax(0,1fr)_28rem]">
      <div className="flex min-w-0 flex-col gap-5 3xl:grid 3xl:grid-cols-2 3xl:items-start 3xl:*:last:col-span-2">
        {status === 'provisioning' && phase !== null && <Timeline rental={{ ...rental, phase }} />}
        {isUsed(rental) && <AccessCard rental={rental} />}
        {isLive(rental) && rental.endpoints.length > 0 && <EndpointsCard rental={rental} />}
        <CostCard rental={rental} />
        <ChargesCard rental={rental} />
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        {isLive(rental) ? (
          <LimitsCard rental={rental} onChange={onChangeLimits} />
        ) : (
          <SettlementCard rental={rental} />
        )}
        <DetailsCard rental={rental} />
      </div>
    </div>
  );
}

/** The state and what it is; screen readers are told when the state changes. */
function Subtitle({ rental }: { readonly rental: Rental }) {
  const { status, name, gpuCount, family, region } = rental;
  const machine = rentalTexts.machine(gpuCount, familyName(family));
  return (
    <div className="-mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted">
      <span role="status">
        <StatusBadge status={status} />
      </span>
      {(name === null ? [region] : [machine, region]).join(rentalTexts.separator)}
    </div>
  );
}

function NoSuchRental() {
  return (
    <Page title={notFoundTexts.title}>
      <EmptyState
        title={rentalTexts.notFound}
        actions={
          <Link to="/app/rentals" className={buttonClasses('primary')}>
            {rentalTexts.all}
          </Link>
        }
      />
    </Page>
  );
}

function RentalSkeleton() {
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex flex-col gap-5">
        <Skeleton className="h-48 w-full" />
        <Skeleton className="h-32 w-full" />
        <Skeleton className="h-72 w-full" />
      </div>
      <div className="flex flex-col gap-5">
        <Skeleton className="h-40 w-full" />
        <Skeleton className="h-64 w-full" />
      </div>
    </div>
  );
}
