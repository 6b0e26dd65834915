import type { Card, Payment } from '../../../adapters/processor/processor.js';

/** A payment as the processor truly has it. */
export interface TruePayment extends Omit<Payment, 'status' | 'failure' | 'card' | 'receiptUrl'> {
  status: Payment['status'];
  failure: Payment['failure'];
  card: Card | null;
  readonly receiptUrl: string;
  readonly createdMs: number;
  readonly source: string | null;
  /** That of the card that paid. */
  readonly fingerprint: string;
}
