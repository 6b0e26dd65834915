/** What of a user's settings decides. */
export interface StoredAutoTopup {
  readonly enabled: boolean;
  readonly threshold_cents: number | null;
  readonly topup_amount_cents: number;
  readonly daily_cap_cents: number | null;
}

/** What tells whether an attempt begins, all of one moment. */
export interface AutoTopupFacts {
  readonly availableCents: number;
  /** The rest of the cooldown in milliseconds; null or 0 without one. */
  readonly coolingMs: number | null;
  /** Whether something runs, or is about to. */
  readonly isRunning: boolean;
  /** Whether operators have paused payments. */
  readonly isPaused: boolean;
  readonly isBlocked: boolean;
  /** What auto-topups charged within a day, in cents. */
  readonly chargedCents: number;
  /** The most that the installation lets this account charge in a day, in cents; null: no cap. */
  readonly accountCapCents: number | null;
}

/** Whether an attempt begins. `held`: it is due and may not be; the next one is judged a cooldown later. */
export type AutoTopupVerdict =
  | { readonly kind: 'due' }
  | { readonly kind: 'cooling'; readonly untilMs: number; readonly why: string }
  | { readonly kind: 'held'; readonly why: string }
  | { readonly kind: 'quiet'; readonly why: string };

/** Judges whether an attempt begins (decision 34, "Trigger of auto-topup"). @param settings undefined: there are none */
export function judgeAutoTopup(
  settings: StoredAutoTopup | undefined,
  facts: AutoTopupFacts,
): AutoTopupVerdict {
  const { availableCents, coolingMs, isRunning } = facts;
  if (!settings?.enabled) return { kind: 'quiet', why: 'auto-topup is off' };
  if (coolingMs !== null && coolingMs > 0) {
    return { kind: 'cooling', untilMs: coolingMs, why: 'cooling down after the last attempt' };
  }
  if (!isRunning) return { kind: 'quiet', why: 'no machine runs' };
  if (availableCents >= (settings.threshold_cents ?? 0)) {
    return { kind: 'quiet', why: `${availableCents} cents are available` };
  }
  const held = holdBack(settings, facts);
  return held === null ? { kind: 'due' } : { kind: 'held', why: held };
}

/**
 * Returns why nothing may be charged although it is due; null when it may. The reasons are the guards (decision 23,
 * "Guards against loss", and decision 37, "Brakes and the watermark"), the user's own cap, and the cap that the
 * installation gave the account when it was made.
 */
function holdBack(
  { daily_cap_cents: ownCapCents, topup_amount_cents: amountCents }: StoredAutoTopup,
  { isPaused, isBlocked, chargedCents, accountCapCents }: AutoTopupFacts,
): string | null {
  if (isPaused) return 'held back: the operators have paused payments';
  if (isBlocked) return 'held back: the user is blocked';
  const cap = Math.min(...[ownCapCents, accountCapCents].filter((cents) => cents !== null));
  return chargedCents + amountCents > cap ? `held back: the cap of ${cap} cents a day is reached` : null;
}
