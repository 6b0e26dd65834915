import type { ApiKeyId, InvoiceId, OperationId, RentalId, UserId } from '../ids.js';

/** An operator's action on money and invoices; amounts in cents. */
export type MoneyAction =
  | {
      readonly kind: 'issue_invoice';
      readonly userId: UserId;
      readonly amountCents: number;
      readonly description: string;
    }
  | { readonly kind: 'void_invoice'; readonly invoiceId: InvoiceId }
  | {
      readonly kind: 'write_off_invoice';
      readonly invoiceId: InvoiceId;
      /**
       * Blocks the user from renting and topping up: a written-off debt by itself keeps nobody from it (decision 23, "Guards
       * against loss").
       */
      readonly blockUser?: true;
    }
  | {
      readonly kind: 'refund';
      readonly userId: UserId;
      readonly amountCents: number;
      /** The rental for which the money is given back. */
      readonly rentalId?: RentalId;
    }
  /** Signed: a negative amount takes from available. */
  | { readonly kind: 'adjust'; readonly userId: UserId; readonly amountCents: number };

/** Ends a rental's machines at the upstreams at once, whatever its workflow waits for. */
export interface TerminateAction {
  readonly kind: 'terminate_rental';
  readonly rentalId: RentalId;
  /** The operator has seen that they are gone: the upstream is not asked. */
  readonly acceptGone: boolean;
}

/** Closes the public ports of a rental, on which something is served that must not be. */
export interface ClosePortsAction {
  readonly kind: 'close_ports';
  readonly rentalId: RentalId;
}

/**
 * Gives back the charge of a window to the users who had a machine of an upstream then (decision 94, "Refunds of an
 * outage"). `operator_order_items` holds each rental's amount; this holds the sums.
 */
export interface RefundRentalsAction {
  readonly kind: 'refund_rentals';
  readonly providerCode: string;
  /** ISO instants: from the first up to the second, which is not included. */
  readonly from: string;
  readonly to: string;
  /** The sum of all items. */
  readonly amountCents: number;
  /** How many items there are. */
  readonly rentals: number;
}

/** An action that needs the workers: it moves money, or asks the outside. The workflow `operation` runs it. */
export type OperatorAction = MoneyAction | RefundRentalsAction | TerminateAction | ClosePortsAction;

/** Lets a restored database go on (decision 67, "Restored databases"), by the workflow `restore`. */
export interface ReconcileAction {
  readonly kind: 'reconcile_restored';
  /** Goes on although an upstream does not answer. */
  readonly withoutSilentUpstreams: boolean;
}

/** An action that needs a row of `operator_orders` (decision 87, "Operator orders"). */
export type OrderedAction = OperatorAction | ReconcileAction;

/** The global brakes (decision 37, "Brakes and the watermark"). */
export const brakeKinds = ['creates', 'charges', 'metering', 'webhooks'] as const;
export type BrakeKind = (typeof brakeKinds)[number];

/** A decision that only a human can make, about something that was found or put aside. */
export type HumanDecision =
  /** For this long, machines that the upstream's lists miss count as gone. */
  | { readonly kind: 'release_missing'; readonly providerCode: string; readonly minutes: number }
  | { readonly kind: 'acknowledge_finding'; readonly findingId: number }
  /** Machines that a restored database did not know: the service may end them. */
  | { readonly kind: 'release_pods'; readonly podIds: readonly string[] }
  /** A payment that was put aside has been credited or given back; the reason says which. */
  | {
      readonly kind: 'resolve_parked';
      readonly paymentId: string;
      /** The operation that credited it, unless it was given back. */
      readonly creditedBy?: OperationId;
    }
  /** Items that were set aside are tried at once (decision 69, "Items that fail"): of one duty, or one item, or all. */
  | { readonly kind: 'retry_set_aside'; readonly duty?: string; readonly item?: string }
  /** A run whose task fails again and again is ended, and a new one begins from its row. */
  | { readonly kind: 'replace_run'; readonly workflowId: string }
  /**
   * A dispute or a bank's warning is understood: its payer and its card may be charged again while the payer is away.
   */
  | { readonly kind: 'lift_charge_mark'; readonly markId: string };

/**
 * An action that is one write to the database, and moves no money by itself. It works while Temporal is away, which is
 * when brakes are needed most (decision 65, "Explained cents").
 */
export type DirectAction =
  | { readonly kind: 'block_user'; readonly userId: UserId }
  | { readonly kind: 'unblock_user'; readonly userId: UserId }
  | { readonly kind: 'end_sessions'; readonly userId: UserId }
  /** For good (decision 182, "Closing an account"). */
  | { readonly kind: 'close_account'; readonly userId: UserId }
  /** Of all of his keys, or of one. */
  | { readonly kind: 'revoke_api_keys'; readonly userId: UserId; readonly keyId?: ApiKeyId }
  | { readonly kind: 'stop_rental'; readonly rentalId: RentalId }
  | { readonly kind: 'pause_provider'; readonly providerCode: string }
  | { readonly kind: 'resume_provider'; readonly providerCode: string }
  | { readonly kind: 'pause'; readonly brake: BrakeKind }
  | { readonly kind: 'resume'; readonly brake: BrakeKind }
  | { readonly kind: 'replay_event'; readonly eventId: string }
  /** The ledger gives up rows for seals, or stops doing so (decision 139, "Seals of the ledger"). */
  | { readonly kind: 'seal_ledger' }
  | { readonly kind: 'stop_sealing' }
  /** Its rows are written back; the command does so. */
  | { readonly kind: 'unseal_ledger' }
  | HumanDecision;

export interface Operation<Action = OperatorAction> {
  /** The id of the operation and of its workflow. An operation that is repeated under it does nothing twice. */
  readonly operationId: OperationId;
  /** Who does it, and why; kept for good. */
  readonly operator: string;
  readonly reason: string;
  readonly action: Action;
}

/** The result: ids and amounts that an operator needs next. */
export type OperationResult = Readonly<Record<string, string | number>>;
