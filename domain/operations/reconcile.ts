/** The comparison of our books with the processor's and the upstreams' (decision 62, "Comparison of the books"). */

/** The kinds of findings, each with the comparison that finds it. docs/operations says what each means and asks for. */
export const findingKinds = {
  charge_without_entry: 'charges',
  charge_parked: 'charges',
  charge_counted_twice: 'charges',
  charge_amount_differs: 'charges',
  entry_without_charge: 'charges',
  reversal_missing: 'reversals',
  reversal_not_returned: 'reversals',
  reversal_amount_differs: 'reversals',
  reversal_without_document: 'reversals',
  invoice_state_differs: 'invoices',
  invoice_amount_differs: 'invoices',
  invoice_missing_there: 'invoices',
  invoice_unknown_here: 'invoices',
  chain_broken: 'ledger',
  wallet_differs: 'ledger',
  holds_differ: 'ledger',
  cap_differs: 'ledger',
  rental_entries_differ: 'ledger',
  net_charge_differs: 'ledger',
  order_refund_differs: 'ledger',
  root_broken: 'ledger',
  pod_without_rental: 'pods',
  pod_not_ending: 'pods',
  rental_without_pod: 'pods',
  restored_bill_differs: 'restore',
} as const;

export type FindingKind = keyof typeof findingKinds;

export const findingStates = ['open', 'acknowledged', 'resolved'] as const;
export type FindingState = (typeof findingStates)[number];

/**
 * The sources that are compared, each by itself: a source that can't be asked does not stop another. Pods are a source
 * per upstream.
 */
export type ReconcileSource = 'charges' | 'reversals' | 'invoices' | 'ledger' | `pods:${string}`;

/** A difference between our books and a source. */
export interface Finding {
  readonly kind: FindingKind;
  /** The subject of the finding; with the kind its identity while it stands. */
  readonly subject: string;
  /** The ids that an operator needs next. */
  readonly subjectIds: Readonly<Record<string, string | number | null>>;
  /** The facts of each side. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** `full` begins at the first user; `window` begins where the last run ended, and at least two hours back. */
export type ReconcileScope = 'window' | 'full';

export interface ReconcileInput {
  readonly scope: ReconcileScope;
  /** Younger items may still be under way; in milliseconds. */
  readonly graceMs?: number;
  /** How long a difference must last within the run; in milliseconds. */
  readonly confirmMs?: number;
}

/** The result of a run. */
export interface ReconcileReport {
  readonly runId: number;
  /** All findings that stand now, of this run and of others. */
  readonly open: number;
  readonly acknowledged: number;
  /** Findings that operators are told of for the first time. */
  readonly fresh: number;
  /** Sources that could not be compared, or not wholly. */
  readonly notCompared: number;
}

/** One source's part of a run. */
export interface Comparison {
  readonly found: number;
  /** Why it could not be compared, or not wholly; null when it was. */
  readonly why: string | null;
}
