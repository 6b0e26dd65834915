import { machineWords } from '../catalog/machine-words.js';

/** What an invoice asks money for. The offer to pay what a card did not, `topup_failed`, adds to the balance. */
export const invoiceReasons = ['topup_failed', 'overage', 'manual'] as const;
export type InvoiceReason = (typeof invoiceReasons)[number];

/** The reasons for which money is owed. Nobody owes an offer (decision 35, "Invoices and reminders"). */
export const debtReasons = ['overage', 'manual'] as const satisfies readonly InvoiceReason[];

/** Whether an invoice is a debt by its reason. It is owed while it is open. */
export function isDebt({ reason }: { readonly reason: InvoiceReason }): boolean {
  return debtReasons.some((each) => each === reason);
}

/** The line of an invoice for usage that the wallet did not cover. */
export function overageLine(machine: { readonly gpu_count: number; readonly model: string }): string {
  return `Usage of ${machineWords(machine.gpu_count, machine.model)} beyond the wallet's balance`;
}
