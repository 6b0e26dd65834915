import type { ChargeDerivation, RefundDerivation } from './charge-derivation.js';
import type { InvoiceId, LedgerEntryId, OperationId, RentalId, TopupId, UserId } from '../ids.js';
import type { LedgerEntryType } from './ledger.js';
import type { RentalStatus, StopReason } from '../rentals/rental.js';

/** Everything that is known about the reason of a ledger entry. Amounts in cents. Fields that do not apply are null. */
export interface Explanation {
  readonly entry: ExplainedEntry;
  /** One sentence, for the payer. */
  readonly why: string;
  readonly charge: ChargeDerivation | null;
  readonly rentalRefund: RefundDerivation | null;
  readonly rental: ExplainedRental | null;
  readonly payment: ExplainedPayment | null;
  readonly reversal: ExplainedReversal | null;
  readonly invoice: ExplainedInvoice | null;
  readonly byHand: ExplainedOperation | null;
  /** The part that only operators see. */
  readonly evidence: Evidence;
}

export interface ExplainedEntry {
  readonly id: LedgerEntryId;
  readonly type: LedgerEntryType;
  readonly amountCents: number;
  readonly balanceBeforeCents: number;
  readonly balanceAfterCents: number;
  readonly createdAt: Date;
  readonly rentalId: RentalId | null;
  readonly processorChargeId: string | null;
  readonly note: string | null;
}

export interface ExplainedRental {
  readonly id: RentalId;
  readonly status: RentalStatus;
  readonly family: string;
  readonly model: string;
  readonly gpuCount: number;
  readonly provider: string;
  readonly startedAt: Date;
  readonly runningAt: Date | null;
  readonly stoppedAt: Date | null;
  readonly terminatedAt: Date | null;
  readonly stopReason: StopReason | null;
  readonly error: string | null;
}

export interface ExplainedPayment {
  readonly paymentId: string | null;
  readonly chargeId: string | null;
  readonly sessionId: string | null;
  readonly topupId: TopupId | null;
  readonly source: string | null;
  readonly receiptUrl: string | null;
}

export interface ExplainedReversal {
  readonly id: string;
  readonly kind: 'refund' | 'dispute';
  readonly status: string;
  readonly paymentId: string;
  readonly amountCents: number;
  readonly debitedCents: number;
  readonly invoicedCents: number;
  readonly writtenOffCents: number;
  readonly takenAt: Date | null;
  readonly givenBackAt: Date | null;
}

export interface ExplainedInvoice {
  readonly id: InvoiceId;
  readonly reason: string;
  readonly status: string;
  readonly amountCents: number;
  readonly paidAt: Date | null;
  readonly receiptUrl: string | null;
  readonly voidReason: string | null;
}

export interface ExplainedOperation {
  readonly operationId: OperationId;
  readonly kind: string;
  readonly reason: string;
  readonly doneAt: Date;
}

export interface Evidence {
  readonly userId: UserId;
  readonly walletId: number;
  readonly seq: number;
  /** The cause of the entry, once and for all; null for a tick, which the running total explains. */
  readonly cause: string | null;
  readonly operator: string | null;
  readonly pod: PodEvidence | null;
  /** The workflows that acted, first the one that wrote the entry. */
  readonly workflowIds: readonly string[];
}

/** The proof that the machine ran. */
export interface PodEvidence {
  readonly provider: string;
  readonly podId: string | null;
  readonly tag: string;
  readonly runningSince: Date | null;
  /** The last moment at which the upstream's list showed the machine alive: now, while it does. */
  readonly lastSeenAliveAt: Date | null;
  readonly upstreamStatus: string | null;
  readonly goneAt: Date | null;
  readonly endedWhy: string | null;
}
