import type { AutoTopup } from '@gpu-rental/client';
import type { AutoTopupSettings } from '../../data/auto-topup.js';
import { money, parseMoney, typedMoney } from '../../format/money.js';
import { billingTexts } from '../../texts/billing.js';
import type { Limits } from './amounts.js';

const t = billingTexts.auto;

/** What the service takes (PutAutoTopup of its description), which no answer of it tells. A test compares them. */
export const autoTopupLimits = {
  threshold: { minCents: 100, maxCents: 100_000 },
  amount: { minCents: 1_000, maxCents: 500_000 },
  cap: { minCents: 1_000, maxCents: 5_000_000 },
} as const;

const USUAL_THRESHOLD_CENTS = 1_000;
const USUAL_AMOUNT_CENTS = 2_500;

/** What stands in the fields. */
export interface AutoTopupFields {
  readonly threshold: string;
  readonly amount: string;
  readonly cap: string;
}

/** What is wrong with the fields. */
export type AutoTopupFaults = { readonly [Field in keyof AutoTopupFields]?: string };

/** What is stored, as it is typed; the usual amounts where nothing is. */
export function fieldsOf({ thresholdCents, topupAmountCents, dailyCapCents }: AutoTopup): AutoTopupFields {
  return {
    threshold: typedMoney(thresholdCents ?? USUAL_THRESHOLD_CENTS),
    amount: typedMoney(topupAmountCents ?? USUAL_AMOUNT_CENTS),
    cap: dailyCapCents === null ? '' : typedMoney(dailyCapCents),
  };
}

/** Reads the fields: what is to be stored, or what is wrong. */
export function readFields({ threshold, amount, cap }: AutoTopupFields): AutoTopupSettings | AutoTopupFaults {
  const thresholdCents = within(threshold, autoTopupLimits.threshold);
  const topupAmountCents = within(amount, autoTopupLimits.amount);
  const dailyCapCents = readCap(cap, topupAmountCents);
  if (isCents(thresholdCents) && isCents(topupAmountCents) && typeof dailyCapCents !== 'string') {
    return { enabled: true, thresholdCents, topupAmountCents, dailyCapCents };
  }
  return {
    ...(typeof thresholdCents === 'string' && { threshold: thresholdCents }),
    ...(typeof topupAmountCents === 'string' && { amount: topupAmountCents }),
    ...(typeof dailyCapCents === 'string' && { cap: dailyCapCents }),
  };
}

const isCents = (read: number | string): read is number => typeof read === 'number';

function readCap(cap: string, amount: number | string): number | string | null {
  if (cap.trim() === '') return null;
  const cents = within(cap, autoTopupLimits.cap);
  return isCents(cents) && isCents(amount) && cents < amount ? t.capBelow(money(amount)) : cents;
}

/** Cents, or what is wrong with them. */
function within(text: string, { minCents, maxCents }: Limits): number | string {
  const cents = parseMoney(text);
  if (cents === undefined) return t.notMoney;
  return cents < minCents || cents > maxCents ? t.outside(money(minCents), money(maxCents)) : cents;
}

/** The service's warning in the words of this page: it names the fields of the API, and cents. */
export function warningOf(text: string): string {
  const match = /use (\S+) in 5 minutes.* above (\d+)\.$/.exec(text);
  const [, used, cents] = match ?? [];
  return used === undefined || cents === undefined ? text : t.burning(used, money(Number(cents)));
}
