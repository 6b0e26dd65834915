import type { Listing } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useRef, useState } from 'react';
import { notedForm } from '../../data/before-leaving.js';
import { useIsClosing } from '../../data/is-closing.js';
import { listingsQuery } from '../../data/catalog.js';
import { useWishBefore } from '../../data/use-wish-before.js';
import { familyName } from '../../format/machine.js';
import { useEvents } from '../../live/hooks.js';
import { ownSoftwareTexts } from '../../texts/own-software.js';
import { rentTexts } from '../../texts/rent.js';
import { Callout } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { ArrowLeftIcon } from '../../ui/icons.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { ClosedToNew } from '../account/closed-to-new.js';
import { AccessChoice, useChosenKeys } from './access-choice.js';
import { LimitChoice, NamingChoice, type OnFault } from './further-choices.js';
import { useHeldSoftware } from './held-software.js';
import { MachineChoice } from './machine-choice.js';
import { requestOf } from './offers.js';
import { QuotePanel } from './quote-panel.js';
import { RentalBefore } from './rental-before.js';
import { RentBar } from './rent-bar.js';
import { readFamilySearch, type FamilySearch } from './search.js';
import { SoftwareChoice } from './software-choice.js';
import { noSoftware, type HeldSoftware } from './software-draft.js';
import { PriceHistory } from './sparkline.js';
import { useRenting, type Renting } from './use-renting.js';

const route = getRouteApi('/app/rent/$familyId');

/** One family: its offers, the choices, and what they cost. The choices are in the address. */
export function FamilyPage() {
  const { familyId } = route.useParams();
  const { gpus, region, max } = route.useSearch();
  const listings = useQuery(listingsQuery({ familyId }));
  const [own, onOwn] = useHeldSoftware();
  return (
    <Page
      title={rentTexts.choose(familyName(familyId))}
      actions={
        <Link
          to="/app/rent"
          search={{
            ...(gpus !== undefined && { gpus }),
            ...(region !== undefined && { region }),
            ...(max !== undefined && { max }),
          }}
          className={buttonClasses('quiet', 'small')}
        >
          <ArrowLeftIcon />
          {rentTexts.family.back}
        </Link>
      }
    >
      {listings.isError && <ErrorNote error={listings.error} onRetry={() => void listings.refetch()} />}
      <LostSoftware {...{ familyId, own }} />
      {listings.isPending && <FormSkeleton />}
      {listings.data?.length === 0 && (
        <Card>
          <EmptyState title={rentTexts.family.noneTitle}>{rentTexts.family.none}</EmptyState>
        </Card>
      )}
      {/* A family's form begins anew with another one; own software goes along. */}
      {listings.data && listings.data.length > 0 && (
        <RentForm key={familyId} {...{ familyId, own, onOwn }} listings={listings.data} />
      )}
    </Page>
  );
}

/** Says that own software was typed before the form was left for money, and is gone with its document. */
function LostSoftware({ familyId, own }: { readonly familyId: string; readonly own: HeldSoftware }) {
  const [left] = useState(notedForm);
  if (left?.hasSoftware !== true || left.familyId !== familyId || own !== noSoftware) return null;
  return (
    <Callout tone="warn" title={ownSoftwareTexts.lost}>
      {ownSoftwareTexts.lostText}
    </Callout>
  );
}

interface RentFormProps {
  readonly familyId: string;
  readonly listings: readonly Listing[];
  readonly own: HeldSoftware;
  readonly onOwn: (own: HeldSoftware) => void;
}

function RentForm(props: RentFormProps) {
  return useIsClosing() ? <ClosedToNew /> : <OpenRentForm {...props} />;
}

function OpenRentForm({ familyId, listings, own, onOwn }: RentFormProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const gpuCount = search.gpus ?? listings[0]?.gpuCount ?? 1;
  const { ids, obstacle } = useChosenKeys(search.keys);
  const before = useWishBefore('rent');
  const request = requestOf(familyId, gpuCount, search, ids, own.asked);
  const renting = useRenting(before.userId, request, ids !== undefined, (rentalId) => {
    void navigate({ to: '/app/rentals/$rentalId', params: { rentalId } });
  });
  useEvents(['wallet.credited'], () => {
    if ((renting.held?.quote.missingCents ?? 0) > 0) renting.renew();
  });
  const { hasFault, onFault } = useFaults();
  // An image of one's own may do without SSH.
  const keyObstacle = own.asked.image === undefined ? obstacle : undefined;
  const panel = useRef<HTMLDivElement>(null);
  /** Several fields may tell at once: each change is made to the address as it is by then. */
  const change = (fields: FamilySearch | Readonly<Record<string, unknown>>): void =>
    void navigate({
      search: (before) => readFamilySearch({ ...before, ...fields }),
      replace: true,
      resetScroll: false,
    });
  const choose = ({ family, gpuCount: gpus, regionCode: region }: Listing): void =>
    void navigate({
      to: '/app/rent/$familyId',
      params: { familyId: family },
      search: (before) => readFamilySearch({ ...before, gpus, region, max: undefined }),
      resetScroll: false,
    });
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem] 3xl:grid-cols-[minmax(0,1fr)_28rem]">
      <Choices {...{ familyId, listings, own, onOwn, gpuCount, search, renting, change, onFault }} />
      <RentBar
        renting={renting}
        onReview={() => {
          panel.current?.scrollIntoView();
          panel.current?.focus({ preventScroll: true });
        }}
      />
      <div
        ref={panel}
        tabIndex={-1}
        className="flex scroll-mt-18 flex-col gap-5 lg:sticky lg:top-5 lg:max-h-[calc(100dvh-2.5rem)] lg:overflow-y-auto outline-none"
      >
        <RentalBefore before={before} />
        {!before.isWaiting && (
          <QuotePanel
            renting={renting}
            obstacle={hasFault ? rentTexts.quote.fault : keyObstacle}
            onChoose={choose}
          />
        )}
      </div>
    </div>
  );
}

/** Whether something that was typed is not right: it would be left out of what is rented. */
function useFaults(): { readonly hasFault: boolean; readonly onFault: OnFault } {
  const [faults, setFaults] = useState({ limits: false, idle: false, labels: false, software: false });
  const onFault = useCallback<OnFault>((part, isWrong) => {
    setFaults((before) => (before[part] === isWrong ? before : { ...before, [part]: isWrong }));
  }, []);
  return { hasFault: Object.values(faults).includes(true), onFault };
}

interface ChoicesProps extends RentFormProps {
  readonly onFault: OnFault;
  readonly gpuCount: Listing['gpuCount'];
  readonly search: FamilySearch;
  readonly renting: Renting;
  readonly change: (fields: FamilySearch | Readonly<Record<string, unknown>>) => void;
}

function Choices(props: ChoicesProps) {
  const { familyId, listings, own, onOwn, gpuCount, search, renting, change, onFault } = props;
  // The choices of a create whose outcome is not known stay as they were sent.
  const isFixed = renting.isRenting || renting.isUnknown;
  const further = { search, onChange: change, error: renting.failure ?? renting.quoteError };
  return (
    <fieldset
      disabled={isFixed}
      className="flex min-w-0 flex-col gap-5 3xl:grid 3xl:grid-cols-2 3xl:items-start"
    >
      <div className="flex min-w-0 flex-col gap-5">
        <MachineChoice
          listings={listings}
          gpuCount={gpuCount}
          search={search}
          onChange={(fields) => change({ gpus: gpuCount, region: search.region, ...fields })}
        />
        <AccessChoice keys={search.keys} onChange={(keys) => change({ keys })} error={further.error} />
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <SoftwareChoice {...further} own={own} onOwn={onOwn} onFault={onFault} />
        <LimitChoice {...further} onFault={onFault} toldBy={renting.held?.quote.telemetrySource} />
        <NamingChoice {...further} onFault={onFault} />
        <Card title={rentTexts.family.history}>
          <PriceHistory familyId={familyId} days={30} />
        </Card>
      </div>
    </fieldset>
  );
}

function FormSkeleton() {
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <Skeleton className="h-[30rem] w-full" />
      <Skeleton className="h-[26rem] w-full" />
    </div>
  );
}
