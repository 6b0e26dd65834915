import type { Rental } from '@gpu-rental/client';
import { readFamilySearch, readWords, type FamilySearch } from '../rent/search.js';

/**
 * The choices of a rental, for another one like it. A time limit is told as the hours from its begin. The place is left
 * open: machines come and go, and the price is asked for anew anyway.
 */
export function againSearch(rental: Rental): FamilySearch {
  const { gpuCount, templateId, autoStopAt, runningAt, startedAt, maxSpendCents, idleGuard } = rental;
  const fromMs = Date.parse(runningAt ?? startedAt);
  return readFamilySearch({
    gpus: gpuCount,
    template: templateId,
    ...readWords(rental),
    hours: autoStopAt === null ? undefined : roundedHours(Date.parse(autoStopAt) - fromMs),
    spend: maxSpendCents ?? undefined,
    idle: idleGuard?.minutes,
    ignoreSessions: idleGuard?.ignores.includes('sessions'),
  });
}

/** To the hundredth of an hour: nobody asked for more. */
function roundedHours(ms: number): number {
  return Math.round(ms / 36_000) / 100;
}
