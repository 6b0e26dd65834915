import { money, parseMoney } from '../../format/money.js';

/** Whole cents, both included. */
export interface Limits {
  readonly minCents: number;
  readonly maxCents: number;
}

const USUAL_CENTS = [1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000];
const PRESETS = 5;

/** Amounts to choose from, within what the service takes. */
export function presetsWithin({ minCents, maxCents }: Limits): number[] {
  const usual = USUAL_CENTS.filter((cents) => cents >= minCents && cents <= maxCents).slice(0, PRESETS);
  return usual.length > 0 ? usual : [minCents];
}

/** What stands in the form at first: what another page says is missing, where the service takes so little or so much. */
export function firstAmount(missingCents: number | undefined, limits: Limits): number {
  const { minCents, maxCents } = limits;
  const usual = presetsWithin(limits);
  return Math.min(maxCents, Math.max(minCents, missingCents ?? usual[1] ?? minCents));
}

/** What is wrong with an amount, in the words of a form. */
export interface AmountTexts {
  readonly notMoney: string;
  readonly tooSmall: (least: string) => string;
  readonly tooLarge: (most: string) => string;
}

/** Reads an amount that somebody typed: its cents, or what is wrong with it. */
export function readAmount(
  text: string,
  { minCents, maxCents }: Limits,
  texts: AmountTexts,
): { readonly cents: number } | { readonly error: string } {
  const cents = parseMoney(text);
  if (cents === undefined) return { error: texts.notMoney };
  if (cents < minCents) return { error: texts.tooSmall(money(minCents)) };
  if (cents > maxCents) return { error: texts.tooLarge(money(maxCents)) };
  return { cents };
}
