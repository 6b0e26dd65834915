import type { Listing } from '@gpu-rental/client';
import { countryName, familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { rentTexts } from '../../texts/rent.js';
import { Button } from '../../ui/button.js';
import { sizesOf } from './facts.js';

interface AlternativesProps {
  readonly listings: readonly Listing[];
  readonly onChoose: (listing: Listing) => void;
}

/** Other machines that can be had now: each is a button that chooses it. */
export function Alternatives({ listings, onChoose }: AlternativesProps) {
  return (
    <ul className="flex flex-col gap-2">
      {listings.map((listing) => (
        <li key={listing.id}>
          <Button
            size="small"
            className="w-full justify-between! py-1.5 text-left whitespace-normal!"
            onClick={() => onChoose(listing)}
          >
            <span>
              {rentTexts.machine(listing.gpuCount, familyName(listing.family))}
              <span className="block text-xs font-normal text-muted">{countryName(listing.regionCode)}</span>
              <span className="block text-xs font-normal text-muted">
                {sizesOf(listing).join(rentTexts.separator)}
              </span>
            </span>
            <span className="shrink-0 tabular">{rentTexts.perHour(money(listing.pricePerHourCents))}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
