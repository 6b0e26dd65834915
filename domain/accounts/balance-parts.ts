import { parseCause, type Cause } from '../causes.js';

/** What one step of an account's past did to its balance, in cents above 0. */
export interface Move {
  /**
   * - paid: its user paid it in. - given: by an operator. - used: a machine’s cost, a debt set off, money that lapsed.
   * - unused: a debt that was set off is none any more. - refunded: an operator gave a machine’s cost back.
   * - reversed: the processor took a payment back. - paid_out: an operator paid it to the user by another way.
   */
  readonly kind: 'paid' | 'given' | 'used' | 'unused' | 'refunded' | 'reversed' | 'paid_out';
  readonly cents: number;
  /** The invoice of a debt that was set off, or is none any more. */
  readonly debt?: string;
}

/** What of a balance its user paid in, and what was given to them. */
export interface BalanceParts {
  readonly paidCents: number;
  readonly givenCents: number;
}

/**
 * Divides a balance by what made it, oldest move first (decision 182, "Closing an account"). Given money is used first;
 * what is refunded comes back in the opposite order; what a set-off took comes back as what it was; what is reversed or
 * paid out is paid-in money first.
 */
export function partsOf(moves: readonly Move[]): BalanceParts {
  let [paid, given, usedPaid] = [0, 0, 0];
  /** What each set-off took of given money. */
  const setOff = new Map<string | undefined, number>();
  for (const { kind, cents, debt } of moves) {
    if (kind === 'paid') paid += cents;
    else if (kind === 'given') given += cents;
    else if (kind === 'used') {
      const ofGiven = Math.min(given, cents);
      given -= ofGiven;
      paid -= cents - ofGiven;
      usedPaid += cents - ofGiven;
      setOff.set(debt, ofGiven);
    } else if (kind === 'unused') {
      const ofGiven = setOff.get(debt) ?? 0;
      given += ofGiven;
      paid += cents - ofGiven;
      usedPaid -= cents - ofGiven;
    } else if (kind === 'refunded') {
      const toPaid = Math.min(usedPaid, cents);
      usedPaid -= toPaid;
      paid += toPaid;
      given += cents - toPaid;
    } else {
      const ofPaid = Math.min(Math.max(0, paid), cents);
      paid -= ofPaid;
      given -= cents - ofPaid;
    }
  }
  return { paidCents: paid, givenCents: given };
}

/** What a wallet's ledger says of one step: an entry, or the sum of a rental's, or of a reversal's. */
export interface LedgerStep {
  /** null: a rental's cost. */
  readonly cause: string | null;
  readonly type: string | null;
  /** Signed. */
  readonly cents: number;
  /** Whether an operator credited a payment that was put aside. */
  readonly isParkedCredit: boolean;
  /** Whether it was done after the account was to be closed. */
  readonly isAfterRequest: boolean;
}

/** Reads what a step did. @throws Error for a cause that no step of a closing can explain */
export function moveOf(step: LedgerStep): Move {
  const cause = step.cause === null ? undefined : parseCause(step.cause);
  const debt = cause && 'invoiceId' in cause ? { debt: cause.invoiceId } : {};
  return { kind: kindOf(step), cents: Math.abs(step.cents), ...debt };
}

/** What the causes of a wallet's entries say; those of operations and reversals depend on more. */
const kindsOfCauses: Readonly<Partial<Record<Cause['kind'], (step: LedgerStep) => Move['kind']>>> = {
  payment: () => 'paid',
  invoice_paid: () => 'paid',
  invoice_returned: () => 'paid',
  operation: kindOfOperation,
  operation_rental: kindOfOperation,
  reversal: kindOfReversal,
  reversal_returned: kindOfReversal,
  closing: () => 'used',
  set_off: () => 'used',
  set_off_returned: () => 'unused',
};

function kindOf(step: LedgerStep): Move['kind'] {
  if (step.cause === null) return step.cents < 0 ? 'used' : 'refunded';
  const cause = parseCause(step.cause);
  const kind = cause && kindsOfCauses[cause.kind];
  if (!kind) throw new Error(`no closing knows what ${step.cause} did to the balance`);
  return kind(step);
}

function kindOfReversal({ cents }: LedgerStep): Move['kind'] {
  return cents < 0 ? 'reversed' : 'paid';
}

function kindOfOperation({ type, cents, isParkedCredit, isAfterRequest }: LedgerStep): Move['kind'] {
  if (isParkedCredit) return 'paid';
  if (type === 'refund') return 'refunded';
  if (cents > 0) return 'given';
  return isAfterRequest ? 'paid_out' : 'used';
}
