import type {
  ProcessorInvoice,
  ProcessorInvoices,
  ProcessorLists,
} from '../../../adapters/processor/processor.js';
import { missing } from './missing.js';

/** The mirror of one of our invoices, as the processor truly has it. */
export interface MirrorInvoice {
  readonly id: string;
  readonly ourId: string;
  readonly userId: string;
  readonly customerId: string;
  readonly totalCents: number;
  readonly createdMs: number;
  status: ProcessorInvoice['status'];
  paymentId: string | null;
  paidMs: number | null;
}

/** What the invoices need of the processor that they are a part of. */
interface Books {
  readonly invoices: MirrorInvoice[];
  readonly kernel: { readonly nowMs: number };
  ask<T>(name: string, effect: () => T): Promise<T>;
  id(prefix: string): string;
  pay(
    of: { topupId: null; userId: null; customerId: string; amountCents: number; source: string },
    card: null,
  ): { readonly paymentId: string };
  tell(kind: string, object: Record<string, unknown>): void;
}

/** The processor's part for invoices. */
export function invoicesOf(model: Books): ProcessorInvoices & Pick<ProcessorLists, 'listInvoices'> {
  const { invoices } = model;
  const find = (id: string): MirrorInvoice => invoices.find((one) => one.id === id) ?? missing();
  const change = (
    name: string,
    id: string,
    to: (invoice: MirrorInvoice) => void,
  ): Promise<ProcessorInvoice> =>
    model.ask(name, () => {
      const invoice = find(id);
      to(invoice);
      return shownInvoice(invoice);
    });
  return {
    createInvoice: (input) =>
      model.ask('createInvoice', () => {
        const known = invoices.find(({ ourId }) => ourId === input.invoiceId);
        if (known !== undefined) return shownInvoice(known);
        const invoice: MirrorInvoice = {
          ...{
            id: model.id('in'),
            ourId: input.invoiceId,
            userId: input.userId,
            customerId: input.customerId,
          },
          totalCents: input.lines.reduce((sum, { amountCents }) => sum + amountCents, 0),
          ...{ createdMs: model.kernel.nowMs, status: 'draft', paymentId: null, paidMs: null },
        };
        invoices.push(invoice);
        return shownInvoice(invoice);
      }),
    findInvoice: ({ invoiceId }) =>
      model.ask('findInvoice', () => {
        const found = invoices.find(({ ourId }) => ourId === invoiceId);
        return found === undefined ? null : shownInvoice(found);
      }),
    getInvoice: (id) => change('getInvoice', id, () => undefined),
    finalizeInvoice: (id) =>
      change('finalizeInvoice', id, (invoice) => {
        if (invoice.status === 'draft') invoice.status = 'open';
      }),
    voidInvoice: (id) =>
      change('voidInvoice', id, (invoice) => {
        if (invoice.status === 'draft' || invoice.status === 'open') invoice.status = 'void';
      }),
    writeOffInvoice: (id) =>
      change('writeOffInvoice', id, (invoice) => {
        if (invoice.status === 'open') invoice.status = 'uncollectible';
      }),
    listInvoices: (input) =>
      model.ask('listInvoices', () => ({
        items: invoices
          .filter((one) => ('open' in input ? one.status === 'open' : one.createdMs >= input.since.getTime()))
          .map((one) => ({ ...shownInvoice(one), changedAt: new Date(one.paidMs ?? one.createdMs) }))
          .reverse(),
        unread: [],
        after: null,
      })),
  };
}

/** A user pays an open invoice on its hosted page. */
export function payInvoice(model: Books, invoice: MirrorInvoice): void {
  if (invoice.status !== 'open') return;
  const payment = model.pay(
    {
      ...{ topupId: null, userId: null, source: 'invoice' },
      customerId: invoice.customerId,
      amountCents: invoice.totalCents,
    },
    null,
  );
  Object.assign(invoice, { status: 'paid', paymentId: payment.paymentId, paidMs: model.kernel.nowMs });
  const metadata = { invoice_id: invoice.ourId, user_id: invoice.userId };
  model.tell('invoice.paid', { id: invoice.id, object: 'invoice', metadata });
}

function shownInvoice(invoice: MirrorInvoice): ProcessorInvoice {
  const isOpen = invoice.status !== 'draft';
  return {
    ...{ processorInvoiceId: invoice.id, status: invoice.status, totalCents: invoice.totalCents },
    amountPaidCents: invoice.status === 'paid' ? invoice.totalCents : 0,
    currency: 'usd',
    hostedInvoiceUrl: isOpen ? `https://pay.example/invoice/${invoice.id}` : null,
    invoicePdfUrl: isOpen ? `https://pay.example/invoice/${invoice.id}.pdf` : null,
    ...{ paymentId: invoice.paymentId, paidAt: invoice.paidMs === null ? null : new Date(invoice.paidMs) },
    ...{ customerId: invoice.customerId, invoiceId: invoice.ourId },
  };
}
