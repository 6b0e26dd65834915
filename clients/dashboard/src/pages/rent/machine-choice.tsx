import type { Listing } from '@gpu-rental/client';
import { useState } from 'react';
import { countryName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { span } from '../../format/time.js';
import { countedShare } from './starts.js';
import { rentTexts } from '../../texts/rent.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { sizesOf } from './facts.js';
import { gpuCounts, type GpuCount } from './gpu-counts.js';
import { countOffers, offersByCountry, type Offer } from './offers.js';
import { regionGroups, regionName } from './region-options.js';
import type { FamilySearch } from './search.js';

const texts = rentTexts.family;
/** More countries are shown on demand. */
const FEW = 6;
const option =
  'relative flex items-center justify-between gap-3 rounded-md border border-line-strong px-3 py-2 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-(--focus) has-disabled:opacity-50';

interface MachineChoiceProps {
  /** Of the family, cheapest first. */
  readonly listings: readonly Listing[];
  readonly gpuCount: GpuCount;
  readonly search: FamilySearch;
  readonly onChange: (fields: Pick<FamilySearch, 'gpus' | 'region'>) => void;
}

/** How many GPUs, and where: each choice with the lowest price that it has now. */
export function MachineChoice({ listings, gpuCount, search, onChange }: MachineChoiceProps) {
  const counts = countOffers(listings);
  return (
    <Card title={texts.machine}>
      <fieldset className="min-w-0">
        <legend className="mb-1.5 text-[13px] font-medium text-soft">{texts.gpus}</legend>
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-4">
          {gpuCounts.map((count) => {
            const offer = counts.find((one) => one.count === count);
            return (
              <label key={count} className={classes(option, 'flex-col items-start! gap-0!')}>
                <input
                  type="radio"
                  name="gpus"
                  className="absolute inset-0 appearance-none opacity-0"
                  checked={count === gpuCount}
                  disabled={!offer && count !== gpuCount}
                  onChange={() => onChange({ gpus: count })}
                />
                <span className="font-medium">{rentTexts.gpuCount(count)}</span>
                <span className="text-[13px] tabular text-muted">
                  {offer ? rentTexts.perHour(money(offer.lowestCents)) : rentTexts.noneNow}
                </span>
              </label>
            );
          })}
        </div>
      </fieldset>
      <PlaceChoice
        offers={offersByCountry(listings, gpuCount)}
        region={search.region}
        onChange={(region) => onChange(region === undefined ? {} : { region })}
      />
      <p className="mt-3 text-[13px] text-muted">{texts.cheapestIsRented}</p>
    </Card>
  );
}

interface PlaceChoiceProps {
  readonly offers: readonly Offer[];
  readonly region: string | undefined;
  readonly onChange: (region: string | undefined) => void;
}

function PlaceChoice({ offers, region, onChange }: PlaceChoiceProps) {
  const [isOpen, setOpen] = useState(false);
  const isGroup = regionGroups.some((group) => group === region?.toLowerCase());
  const chosen = offers.find(({ cheapest }) => cheapest.regionCode === region?.toUpperCase());
  // The chosen one is always shown, wherever it stands.
  const shown = isOpen ? offers : offers.filter((offer, place) => place < FEW || offer === chosen);
  return (
    <fieldset className="mt-4 min-w-0">
      <legend className="mb-1.5 text-[13px] font-medium text-soft">{texts.where}</legend>
      <div className="flex flex-col gap-2">
        <Place
          label={texts.anywhere}
          offer={offers[0]}
          isCountry={false}
          isChosen={region === undefined}
          onChoose={() => onChange(undefined)}
        />
        {region !== undefined && !chosen && (
          <Place
            label={regionName(region)}
            offer={undefined}
            isCountry={!isGroup}
            isChosen
            onChoose={() => undefined}
          />
        )}
        {shown.map((offer) => (
          <Place
            key={offer.cheapest.regionCode}
            label={countryName(offer.cheapest.regionCode)}
            offer={offer}
            isCountry
            isChosen={offer === chosen}
            onChoose={() => onChange(offer.cheapest.regionCode)}
          />
        ))}
      </div>
      {shown.length < offers.length && (
        <Button look="quiet" size="small" className="mt-2" onClick={() => setOpen(true)}>
          {texts.showAll(offers.length)}
        </Button>
      )}
    </fieldset>
  );
}

interface PlaceProps {
  readonly label: string;
  /** Undefined where nothing is on offer, or where it is not known. */
  readonly offer: Offer | undefined;
  readonly isCountry: boolean;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Place({ label, offer, isCountry, isChosen, onChoose }: PlaceProps) {
  return (
    <label className={option}>
      <input
        type="radio"
        name="region"
        className="absolute inset-0 appearance-none opacity-0"
        checked={isChosen}
        onChange={onChoose}
      />
      <span className="min-w-0">
        <span className="block font-medium">{label}</span>
        {isCountry && <span className="block text-[13px] text-muted">{describe(offer)}</span>}
        {isCountry && offer && (
          <span className="block text-xs text-muted">
            {sizesOf(offer.cheapest).join(rentTexts.separator)}
          </span>
        )}
      </span>
      {offer && (
        <span className="shrink-0 text-right tabular">
          <span className="block font-medium">
            {rentTexts.perHour(money(offer.cheapest.pricePerHourCents))}
          </span>
          {isCountry && offer.highestCents > offer.cheapest.pricePerHourCents && (
            <span className="block text-xs text-muted">
              {texts.upTo(rentTexts.offers(offer.count), money(offer.highestCents))}
            </span>
          )}
        </span>
      )}
    </label>
  );
}

function startsOf(share: number): string {
  const { count, of } = countedShare(share);
  return rentTexts.starts(count, of);
}

function describe(offer: Offer | undefined): string {
  if (!offer) return texts.noneThere;
  const { region, regionCode, interconnect, reliability, recentStarts: recent } = offer.cheapest;
  return [
    ...(region === regionCode ? [] : [region]),
    interconnect.toUpperCase(),
    ...(reliability ? [startsOf(reliability.createSuccess)] : []),
    ...(recent && recent.succeeded < recent.asked
      ? [rentTexts.startsLately(recent.succeeded, recent.asked)]
      : []),
    ...(reliability?.timeToSshSeconds ? [texts.ssh(span(reliability.timeToSshSeconds.p50))] : []),
  ].join(rentTexts.separator);
}
