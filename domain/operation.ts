import type { InvoiceId, OperationId, RentalId, UserId } from './ids.js';

/** What an operator does by hand; amounts in cents. */
export type OperatorAction =
  | {
      readonly kind: 'issue_invoice';
      readonly userId: UserId;
      readonly amountCents: number;
      readonly description: string;
    }
  | { readonly kind: 'void_invoice'; readonly invoiceId: InvoiceId }
  | { readonly kind: 'write_off_invoice'; readonly invoiceId: InvoiceId }
  | {
      readonly kind: 'refund';
      readonly userId: UserId;
      readonly amountCents: number;
      /** What it is given back for. */
      readonly rentalId?: RentalId;
    }
  /** Signed: negative takes from what is available. */
  | { readonly kind: 'adjust'; readonly userId: UserId; readonly amountCents: number };

export interface Operation {
  /** Its id, and its workflow's. Repeating an operation under it does nothing twice. */
  readonly operationId: OperationId;
  /** Who does it, and why; kept for good. */
  readonly operator: string;
  readonly reason: string;
  readonly action: OperatorAction;
}

/** What came of it: ids and amounts that an operator goes on with. */
export type OperationResult = Readonly<Record<string, string | number>>;
