import type { Rental } from '@gpu-rental/client';
import { isLive } from '../../data/rentals.js';
import { centsOf, money } from '../../format/money.js';
import { clockSpan, fullTime, timeOfDay } from '../../format/time.js';
import { useServiceNow } from '../../live/service-clock.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Card, Stat } from '../../ui/card.js';
import { billedSeconds, unbilled, useFullCost } from './use-cost.js';

const texts = rentalTexts.cost;

/** What it has cost by now, ticking while it runs. */
export function CostCard({ rental }: { readonly rental: Rental }) {
  const now = useServiceNow();
  const { chargedCents, heldCents, firstMillicents, stalledSince } = useFullCost(rental);
  const seconds = billedSeconds(rental, now);
  const isOver = !isLive(rental);
  return (
    <Card title={texts.title}>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat
          label={isOver ? texts.total : texts.soFar}
          value={money(chargedCents)}
          note={firstMillicents === undefined ? undefined : texts.firstCent(centsOf(firstMillicents))}
        />
        {!isOver && (
          <Stat
            label={texts.held}
            value={heldCents === undefined ? '…' : money(heldCents)}
            note={texts.heldNote}
          />
        )}
        <Stat label={texts.rate} value={money(rental.pricePerHourCents)} />
        <Stat
          label={isOver ? texts.ran : texts.running}
          value={
            seconds === undefined ? (
              unbilled(rental)
            ) : (
              <span title={rental.runningAt === null ? undefined : fullTime(rental.runningAt)}>
                {clockSpan(seconds)}
              </span>
            )
          }
        />
      </dl>
      {stalledSince !== undefined && (
        <p role="status" className="mt-3 text-[13px] text-warn">
          {texts.stalled(timeOfDay(stalledSince))}
        </p>
      )}
    </Card>
  );
}
