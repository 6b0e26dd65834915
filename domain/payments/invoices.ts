import { machineWords } from '../catalog/machine-words.js';

/** The states of an invoice, here and at the processor. */
export const invoiceStatuses = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

/** The states that its user sees: a draft is the service's own. */
export const listedStatuses = invoiceStatuses.filter((status) => status !== 'draft');

/** The states in which nothing has settled an invoice: it can be paid, be given up or become void. */
export const unsettledStatuses = [
  'draft',
  'open',
  'uncollectible',
] as const satisfies readonly InvoiceStatus[];

/** The states in which an invoice can be paid. One that was given up still can (decision 35, "Invoices and reminders"). */
const payableStatuses = ['open', 'uncollectible'] as const satisfies readonly InvoiceStatus[];

/** Whether an invoice can be paid by its state. */
export function isPayable({ status }: { readonly status: InvoiceStatus }): boolean {
  return payableStatuses.some((each) => each === status);
}

/** What an invoice asks money for. The offer to pay what a card did not, `topup_failed`, adds to the balance. */
export const invoiceReasons = ['topup_failed', 'overage', 'manual'] as const;
export type InvoiceReason = (typeof invoiceReasons)[number];

/** The reasons for which money is owed. Nobody owes an offer (decision 35, "Invoices and reminders"). */
export const debtReasons = ['overage', 'manual'] as const satisfies readonly InvoiceReason[];

/** Whether an invoice is a debt by its reason. */
export function isDebt({ reason }: { readonly reason: InvoiceReason }): boolean {
  return debtReasons.some((each) => each === reason);
}

/** What tells whether an invoice is owed. */
interface Owable {
  readonly status: InvoiceStatus;
  readonly reason: InvoiceReason;
  readonly void_requested_at: Date | null;
}

/** Whether its user owes an invoice now: a debt that is open, and that nobody wants void. */
export function isOwed({ status, reason, void_requested_at: toBeVoidSince }: Owable): boolean {
  return status === 'open' && toBeVoidSince === null && isDebt({ reason });
}

/** The line of an invoice for usage that the wallet did not cover. */
export function overageLine(machine: { readonly gpu_count: number; readonly model: string }): string {
  return `Usage of ${machineWords(machine.gpu_count, machine.model)} beyond the wallet's balance`;
}
