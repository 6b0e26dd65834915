import type {
  InvoiceInput,
  ProcessorInvoice,
  ProcessorInvoices,
} from '../../adapters/processor/processor.js';
import { customerOf, fails, userId, type Teller } from './telling.js';

/** The port's calls about invoices, each through its outcomes. */
export const invoiceCalls: Record<keyof ProcessorInvoices, (teller: Teller) => Promise<void>> = {
  createInvoice: async (teller) => {
    await draft(teller, 'inv_created');
    await draft(teller, 'inv_created');
  },
  findInvoice: async (teller) => {
    const customerId = await customerOf(teller);
    for (const invoiceId of ['inv_created', 'inv_none']) {
      const createdFrom = new Date(Date.now() - 60_000);
      await teller.processor.findInvoice({ customerId, invoiceId, createdFrom });
    }
  },
  getInvoice: async (teller) => {
    const { processorInvoiceId: id } = await open(teller, 'inv_read');
    await teller.stripe.invoices.pay(id, { payment_method: await cardOf(teller) });
    await teller.processor.getInvoice(id);
    const { processorInvoiceId: elsewhere } = await open(teller, 'inv_paid_elsewhere');
    await teller.stripe.invoices.pay(elsewhere, { paid_out_of_band: true });
    await teller.processor.getInvoice(elsewhere);
    await fails(() => teller.processor.getInvoice('in_none'), 'refused');
  },
  finalizeInvoice: async (teller) => {
    const { processorInvoiceId: id } = await open(teller, 'inv_opened');
    await teller.processor.finalizeInvoice(id);
  },
  voidInvoice: async (teller) => {
    const { processorInvoiceId: id } = await draft(teller, 'inv_deleted');
    await teller.processor.voidInvoice(id);
    await teller.processor.voidInvoice(id);
    const { processorInvoiceId: opened } = await open(teller, 'inv_voided');
    await teller.processor.voidInvoice(opened);
    await teller.processor.voidInvoice(opened);
  },
  writeOffInvoice: async (teller) => {
    const { processorInvoiceId: id } = await open(teller, 'inv_written_off');
    await teller.processor.writeOffInvoice(id);
    await teller.processor.voidInvoice(id);
    await teller.processor.writeOffInvoice(id);
  },
};

async function draft(teller: Teller, invoiceId: string): Promise<ProcessorInvoice> {
  const input: InvoiceInput = {
    invoiceId,
    userId,
    customerId: await customerOf(teller),
    daysUntilDue: 7,
    lines: [
      { lineId: `${invoiceId}_1`, description: 'Usage', amountCents: 700 },
      { lineId: `${invoiceId}_2`, description: 'More usage', amountCents: 300 },
    ],
  };
  return teller.processor.createInvoice(input);
}

async function open(teller: Teller, invoiceId: string): Promise<ProcessorInvoice> {
  const { processorInvoiceId } = await draft(teller, invoiceId);
  return teller.processor.finalizeInvoice(processorInvoiceId);
}

async function cardOf(teller: Teller): Promise<string> {
  const customer = await customerOf(teller);
  return (await teller.stripe.paymentMethods.attach('pm_card_visa', { customer })).id;
}
