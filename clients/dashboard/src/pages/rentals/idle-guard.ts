import type { ChangeRental, NewRental, Rental } from '@gpu-rental/client';
import { plainDigits } from '../../format/digits.js';

/** Reads minutes as people type them. @returns null for an empty text, undefined for what no guard can be */
export function idleMinutesOf(text: string): number | null | undefined {
  const plain = plainDigits(text).trim();
  if (plain === '') return null;
  const minutes = /^\d{2,4}$/.test(plain) ? Number(plain) : 0;
  return minutes >= 15 && minutes <= 1_440 ? minutes : undefined;
}

/** The fields of a guard as requests have them. */
export function guardFieldsOf(
  minutes: number,
  ignoresSessions: boolean,
): Required<Pick<NewRental, 'stopWhenIdleMinutes' | 'idleIgnores'>> {
  return { stopWhenIdleMinutes: minutes, idleIgnores: ignoresSessions ? ['sessions'] : [] };
}

export function isIgnoringSessions({ idleGuard }: Pick<Rental, 'idleGuard'>): boolean {
  return idleGuard?.ignores.includes('sessions') ?? false;
}

/**
 * What changes of when a rental stops for being idle.
 * @param minutes as typed: null takes the guard away, undefined is nothing
 */
export function guardChangeOf(
  rental: Pick<Rental, 'stopWhenIdleMinutes' | 'idleGuard'>,
  minutes: number | null | undefined,
  ignoresSessions: boolean,
): ChangeRental {
  if (minutes === undefined) return {};
  const isKept = minutes === rental.stopWhenIdleMinutes;
  if (minutes === null) return isKept ? {} : { stopWhenIdleMinutes: null };
  if (isKept && ignoresSessions === isIgnoringSessions(rental)) return {};
  return guardFieldsOf(minutes, ignoresSessions);
}
