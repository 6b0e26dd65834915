import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import type { Page, Processor } from '../../../adapters/processor/processor.js';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { startLabProcessor, type LabProcessor } from '../../../lab/processor/server.js';

const secretKey = 'sk_test_lists';

describe('the lists of the payment processor', () => {
  let lab: LabProcessor;
  let stripe: Stripe;
  let processor: Processor;
  const folder = mkdtempSync(join(tmpdir(), 'lists-test-'));

  before(async () => {
    lab = await startLabProcessor({
      ...{ port: 0, dataDir: folder, secretKey, publishableKey: 'pk_test_lists', webhook: null },
    });
    stripe = new Stripe(secretKey, {
      ...{ host: '127.0.0.1', port: lab.port, protocol: 'http', telemetry: false, maxNetworkRetries: 0 },
    });
    processor = createStripeProcessor({ secretKey, apiUrl: lab.url });
  });
  after(async () => {
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const pay = (amount: number, method = 'pm_card_visa') =>
    stripe.paymentIntents.create({
      ...{ amount, currency: 'usd', payment_method: method, confirm: true },
      ...{ payment_method_types: ['card'], metadata: { topup_id: `top_${amount}` } },
    });

  async function all<T>(list: (after: string | null) => Promise<Page<T>>): Promise<T[][]> {
    const pages: T[][] = [];
    let after: string | null = null;
    do {
      const page: Page<T> = await list(after);
      pages.push(page.items);
      after = page.after;
    } while (after !== null);
    return pages;
  }

  it('pages through all charges that took money, newest first', async () => {
    const since = new Date(Date.now() - 60_000);
    for (let amount = 101; amount <= 203; amount += 1) await pay(amount);
    await assert.rejects(pay(300, 'pm_card_chargeCustomerFail'));
    const pages = await all((after) => processor.listCharges({ since, after }));
    const amounts = pages.flat().map(({ amountCents }) => amountCents);
    assert.deepEqual(pages.length, 2);
    assert.deepEqual(
      amounts,
      Array.from({ length: 103 }, (_, index) => 203 - index),
    );
    const [newest] = pages.flat();
    assert.equal(newest?.topupId, 'top_203');
    assert.equal(newest.currency, 'usd');
    assert.deepEqual(
      (await processor.listCharges({ since: new Date(Date.now() + 60_000), after: null })).items,
      [],
    );
  });

  it('finds the charge of a payment, or by its own id, or none', async () => {
    const { id, latest_charge: chargeId } = await pay(500);
    await stripe.refunds.create({ payment_intent: id, amount: 120 });
    const found = await processor.findCharge(id);
    assert.deepEqual(
      [found?.chargeId, found?.paymentId, found?.amountCents, found?.refundedCents],
      [chargeId, id, 500, 120],
    );
    assert.deepEqual(await processor.findCharge(chargeId as string), found);
    assert.equal(await processor.findCharge('pi_none'), null);
    assert.equal(await processor.findCharge('ch_none'), null);
  });

  it('lists refunds, and disputes with what was taken for them', async () => {
    const since = new Date(Date.now() - 60_000);
    const { id } = await pay(600);
    const refund = await stripe.refunds.create({ payment_intent: id });
    const [listed] = (await processor.listRefunds({ since, after: null })).items;
    assert.deepEqual(
      [listed?.refundId, listed?.paymentId, listed?.amountCents, listed?.status],
      [refund.id, id, 600, 'succeeded'],
    );
    assert.equal(listed?.changedAt.getTime(), refund.created * 1000);
    const disputed = await pay(700, 'pm_card_createDispute');
    const [dispute] = (await processor.listDisputes({ since, after: null })).items;
    assert.deepEqual(
      [dispute?.paymentId, dispute?.amountCents, dispute?.withdrawn, dispute?.reinstated],
      [disputed.id, 700, true, false],
    );
  });

  it('lists invoices since an instant, and those that are open whenever they were made', async () => {
    const { id: customer } = await stripe.customers.create({ email: 'a@example.com' });
    const make = async (invoiceId: string) => {
      const { id } = await stripe.invoices.create({
        ...{ customer, collection_method: 'send_invoice', days_until_due: 7, auto_advance: false },
        metadata: { invoice_id: invoiceId },
      });
      await stripe.invoiceItems.create({ customer, invoice: id, amount: 700, currency: 'usd' });
      return id;
    };
    const [draft, open, paid] = [await make('inv_1'), await make('inv_2'), await make('inv_3')];
    await stripe.invoices.finalizeInvoice(open);
    await stripe.invoices.pay(paid, { paid_out_of_band: true });
    const since = new Date(Date.now() - 60_000);
    const { items } = await processor.listInvoices({ since, after: null });
    assert.deepEqual(
      items.map(({ processorInvoiceId, status, invoiceId }) => [processorInvoiceId, status, invoiceId]),
      [
        [paid, 'paid', 'inv_3'],
        [open, 'open', 'inv_2'],
        [draft, 'draft', 'inv_1'],
      ],
    );
    assert.ok(items.every(({ changedAt }) => changedAt.getTime() > since.getTime()));
    const opened = await processor.listInvoices({ open: true, after: null });
    assert.deepEqual(
      opened.items.map(({ processorInvoiceId }) => processorInvoiceId),
      [open],
    );
  });

  it('is refused without a key', async () => {
    const disabled = createStripeProcessor({ secretKey: '', apiUrl: null });
    await assert.rejects(disabled.listCharges({ since: new Date(), after: null }), { kind: 'refused' });
  });
});
