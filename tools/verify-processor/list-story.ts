import type { Processor } from '../../adapters/processor/processor.js';
import type { ProcessorLists } from '../../adapters/processor/processor-lists.js';
import type { Teller } from './telling.js';

type ListCall = keyof ProcessorLists;
type Page = { readonly items: readonly unknown[]; readonly after: string | null };

/** The lists of the account that reconcile reads: each to its second page, where there is one. */
export const listCalls: Record<ListCall, (teller: Teller) => Promise<void>> = {
  listCharges: ({ processor }) => twoPages((input) => processor.listCharges(input)),
  findCharge: async ({ processor }) => {
    const { items } = await processor.listCharges({ since: anHourAgo(), after: null });
    const charge = items[0];
    if (charge === undefined) throw new Error('No charge is told of before this part of the story.');
    await processor.findCharge(charge.paymentId ?? charge.chargeId);
    await processor.findCharge(charge.chargeId);
    if ((await processor.findCharge('ch_none')) !== null) throw new Error('ch_none was found.');
  },
  listRefunds: ({ processor }) => twoPages((input) => processor.listRefunds(input)),
  listDisputes: ({ processor }) => twoPages((input) => processor.listDisputes(input)),
  listInvoices: async ({ processor }) => {
    await twoPages((input) => processor.listInvoices(input));
    await processor.listInvoices({ open: true, after: null });
  },
};

async function twoPages(
  list: (input: Parameters<Processor['listCharges']>[0]) => Promise<Page>,
): Promise<void> {
  const since = anHourAgo();
  const { after } = await list({ since, after: null });
  if (after !== null) await list({ since, after });
}

function anHourAgo(): Date {
  return new Date(Date.now() - 3_600_000);
}
