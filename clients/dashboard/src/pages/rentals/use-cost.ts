import type { Rental } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { isLive, meterQuery } from '../../data/rentals.js';
import { useLiveMeter, useLiveMeters } from '../../live/hooks.js';
import { beforeFirstCent, chargedAt, heldOf, stalledSince, type TimedMeter } from '../../live/interpolate.js';
import { useNow } from '../../live/now.js';
import { rentalTexts } from '../../texts/rentals.js';

/** What a rental has cost by now. */
export interface Cost {
  readonly chargedCents: number;
  /** What of the first hour is still held; undefined where nobody has told yet. */
  readonly heldCents: number | undefined;
  /** Before the first cent: what has accrued of it, in thousandths of a cent. */
  readonly firstMillicents: number | undefined;
  /** Since when the service has told nothing though something fell due; undefined while the figures are live. */
  readonly stalledSince: string | undefined;
}

/** Reads a rental's cost: by the stream, second by second, and by what was asked for where it tells nothing. */
export function useCost(rental: Rental): Cost {
  return costAt(rental, useLiveMeter(rental.id), useNow());
}

/** What each of some rentals has cost by now, in whole cents. */
export function useCosts(rentals: readonly Rental[]): number[] {
  const meters = useLiveMeters();
  const now = useNow();
  return rentals.map((rental) => costAt(rental, meters[rental.id], now).chargedCents);
}

function costAt(rental: Rental, meter: TimedMeter | undefined, now: number): Cost {
  const isEnded = !isLive(rental);
  if (isEnded || !meter) {
    return {
      chargedCents: rental.totalChargedCents,
      heldCents: undefined,
      firstMillicents: undefined,
      stalledSince: undefined,
    };
  }
  // What was asked for may be newer than what was told.
  const chargedCents = Math.max(rental.totalChargedCents, chargedAt(meter, now, rental));
  return {
    chargedCents,
    heldCents: heldOf(meter, chargedCents),
    firstMillicents: chargedCents > 0 ? undefined : beforeFirstCent(meter, now, rental),
    stalledSince: stalledSince(meter, now),
  };
}

/** The same with the hold, which is asked for where the stream has told nothing of it. */
export function useFullCost(rental: Rental): Cost {
  const cost = useCost(rental);
  const isUntold = isLive(rental) && cost.heldCents === undefined;
  const { data } = useQuery({ ...meterQuery(rental.id), enabled: isUntold });
  if (!isUntold || !data) return cost;
  // The two were asked for at two moments: cost and hold are shown as of the later one.
  const chargedCents = Math.max(cost.chargedCents, data.chargedCents);
  return { ...cost, chargedCents, heldCents: heldOf(data, chargedCents) };
}

/** For how many whole seconds a rental has been billed. */
export function billedSeconds({ runningAt, stoppedAt }: Rental, nowMs: number): number | undefined {
  if (runningAt === null) return undefined;
  const untilMs = stoppedAt === null ? nowMs : Date.parse(stoppedAt);
  return Math.max(0, Math.floor((untilMs - Date.parse(runningAt)) / 1_000));
}

/** What stands for the time of a rental that was never billed, or is not yet. */
export function unbilled(rental: Rental): string {
  return isLive(rental) ? rentalTexts.cost.notYet : rentalTexts.cost.never;
}
