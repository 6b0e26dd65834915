import { money } from '../../format/money.js';
import { rentTexts } from '../../texts/rent.js';
import { Button } from '../../ui/button.js';
import type { Renting } from './use-renting.js';

interface RentBarProps {
  readonly renting: Renting;
  /** Shows the quote, which stands below the choices. */
  readonly onReview: () => void;
}

/** On narrow screens: what it costs, at the lower edge for as long as the quote is further down. */
export function RentBar({ renting: { held, quoteError }, onReview }: RentBarProps) {
  if (!held || quoteError !== null) return null;
  const { pricePerHourCents, worstCaseCents } = held.quote;
  return (
    <div className="sticky bottom-[calc(3.5rem+env(safe-area-inset-bottom))] z-10 -mx-4 flex items-center justify-between gap-3 border-t border-line bg-raised px-4 py-3 sm:-mx-6 sm:px-6 lg:hidden">
      <p className="min-w-0 tabular">
        <span className="block font-semibold">{rentTexts.perHour(money(pricePerHourCents))}</span>
        <span className="block text-[13px] text-muted">
          {worstCaseCents === null
            ? rentTexts.quote.worstNone
            : rentTexts.quote.atMost(money(worstCaseCents))}
        </span>
      </p>
      <Button look="primary" onClick={onReview}>
        {rentTexts.quote.review}
      </Button>
    </div>
  );
}
