import { brandName } from '@gpu-rental/client';
import type { SavedCard } from '../../data/card.js';
import { billingTexts } from '../../texts/billing.js';

const t = billingTexts.card;

export type CardValidity = 'valid' | 'soon' | 'expired';

/** A card holds to the end of its month; in that month and the one before it is time to replace it. */
export function validityOf(
  { expMonth, expYear }: Pick<SavedCard, 'expMonth' | 'expYear'>,
  now: Date,
): CardValidity {
  if (expMonth === null || expYear === null) return 'valid';
  const monthsLeft = (expYear - now.getUTCFullYear()) * 12 + expMonth - (now.getUTCMonth() + 1);
  if (monthsLeft < 0) return 'expired';
  return monthsLeft <= 1 ? 'soon' : 'valid';
}

/** A card as people know it: “Visa •••• 4242”. */
export function cardName({ brand, last4 }: Pick<SavedCard, 'brand' | 'last4'>): string {
  const name = brand === null ? t.unnamed : brandName(brand);
  return t.name(name, last4 ?? t.unknownDigits);
}

/** The month up to whose end a card holds: “12/2030”; undefined where it is not known. */
export function expiryOf({ expMonth, expYear }: Pick<SavedCard, 'expMonth' | 'expYear'>): string | undefined {
  if (expMonth === null || expYear === null) return undefined;
  return `${expMonth.toString().padStart(2, '0')}/${expYear}`;
}
