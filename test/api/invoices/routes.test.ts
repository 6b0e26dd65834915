import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { InvoiceRow } from '../../../adapters/postgres/rows/tables.js';
import { ProcessorError, type ProcessorInvoice } from '../../../adapters/processor/processor.js';
import type { InvoiceId } from '../../../domain/ids.js';
import { ScriptedProcessor } from '../../support/activities/scripted-processor.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { getWallet } from '../../support/money/money.js';

describe('reading invoices', () => {
  let api: TestApi;
  let user: SignedIn;
  const processor = new ScriptedProcessor(true);
  before(async () => {
    api = await startApi({ processor: () => processor.port });
  });
  beforeEach(async () => {
    user = await api.signIn();
    processor.answers = { getInvoice: (id) => Promise.resolve(mirrorOf(id)) };
  });
  after(() => api.stop());

  const pageOf = (mirrorId: string): string => `http://127.0.0.1/pay/${mirrorId}`;

  function mirrorOf(processorInvoiceId: string, columns: Partial<ProcessorInvoice> = {}): ProcessorInvoice {
    return {
      ...{ processorInvoiceId, status: 'open', totalCents: 700, amountPaidCents: 0, currency: 'usd' },
      ...{ hostedInvoiceUrl: pageOf(processorInvoiceId), invoicePdfUrl: null, paymentId: null },
      ...{ paidAt: null, customerId: null, invoiceId: null, ...columns },
    };
  }

  async function insert(
    status: InvoiceRow['status'],
    columns: Partial<InvoiceRow> = {},
  ): Promise<InvoiceRow> {
    const id = newId('inv');
    const { id: walletId } = await getWallet(api.db, user.user.id);
    const mirror = `in_${id}`;
    const [row] = await api
      .db('invoices')
      .insert({
        ...{ id, user_id: user.user.id, wallet_id: walletId, status, reason: 'manual', amount_cents: 700 },
        ...{ cause: `test:${id}`, finalized_at: new Date(), due_at: new Date(Date.now() + 86_400_000) },
        ...{ processor_invoice_id: mirror, hosted_invoice_url: pageOf(mirror) },
        invoice_pdf_url: `${pageOf(mirror)}.pdf`,
        ...columns,
      })
      .returning('*');
    const line = { id: newId('li'), invoice_id: id, description: 'What is owed', amount_cents: 700 };
    await api.db('invoice_line_items').insert(line);
    return row!;
  }

  /** One invoice in each status. */
  async function oneOfEach(): Promise<Record<string, InvoiceId>> {
    const none = { processor_invoice_id: null, hosted_invoice_url: null, invoice_pdf_url: null };
    const { id: draft } = await insert('draft', { ...none, finalized_at: null, due_at: null });
    const { id: open } = await insert('open');
    const { id: paid } = await insert('paid', { paid_at: new Date() });
    const { id: voided } = await insert('void', { voided_at: new Date() });
    const { id: uncollectible } = await insert('uncollectible');
    return { draft, open, paid, void: voided, uncollectible };
  }

  async function list(query = ''): Promise<string[]> {
    const { status, body } = await user.get(`/v1/billing/invoices${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.map(({ id }) => id);
  }

  const payUrl = async (id: InvoiceId) => (await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url;

  it('lists them newest first, without drafts, by status where asked for, the bare word void', async () => {
    const ids = await oneOfEach();
    assert.deepEqual(await list(), [ids['uncollectible'], ids['void'], ids['paid'], ids['open']]);
    for (const status of ['open', 'paid', 'void', 'uncollectible']) {
      assert.deepEqual(await list(`?status=${status}`), [ids[status]]);
    }
    assert.deepEqual(await list('?limit=2'), [ids['uncollectible'], ids['void']]);
    // A draft is internal (spec: Invoice status).
    const hidden = await user.get(`/v1/billing/invoices/${ids['draft']!}`);
    assert.deepEqual([hidden.status, hidden.body.error], [404, 'invoice_not_found']);

    assert.equal(await payUrl(ids['open']!), pageOf(`in_${ids['open']!}`));
    const { uncollectible } = ids;
    const given = {
      getInvoice: () => Promise.resolve(mirrorOf(`in_${uncollectible!}`, { status: 'uncollectible' })),
    };
    Object.assign(processor.answers, given);
    assert.ok(await payUrl(uncollectible!), 'it can still be paid');
    for (const status of ['draft', 'paid', 'void']) assert.equal(await payUrl(ids[status]!), null, status);
  });

  it('shows every field of the specification, and the line items', async () => {
    const row = await insert('open');
    const { body } = await user.get(`/v1/billing/invoices/${row.id}`);
    const shown = body as unknown as { lineItems: { id: string }[] };
    assert.match(shown.lineItems[0]!.id, /^li_/);
    assert.deepEqual(shown, {
      ...{ id: row.id, status: 'open', reason: 'manual', amountCents: 700, currency: 'USD', rentalId: null },
      processorInvoiceId: row.processor_invoice_id,
      hostedInvoiceUrl: row.hosted_invoice_url,
      invoicePdfUrl: row.invoice_pdf_url,
      receiptUrl: null,
      createdAt: row.created_at.toISOString(),
      dueAt: row.due_at!.toISOString(),
      paidAt: null,
      voidedAt: null,
      lineItems: [
        {
          ...{ id: shown.lineItems[0]!.id, description: 'What is owed', amountCents: 700 },
          ...{ rentalId: null, periodStart: null, periodEnd: null },
        },
      ],
    });
  });

  it('resolves the pay page afresh from the processor, and null once it is paid there', async () => {
    const { id } = await insert('open', { hosted_invoice_url: 'https://rotated.example.com' });
    assert.equal(await payUrl(id), pageOf(`in_${id}`));
    processor.answers = { getInvoice: () => Promise.resolve(mirrorOf(`in_${id}`, { status: 'paid' })) };
    assert.equal(await payUrl(id), null, 'though our row lags');
  });

  it('says that the processor can’t be reached, and that one may try again', async () => {
    const { id } = await insert('open');
    processor.answers = { getInvoice: () => Promise.reject(new ProcessorError('unknown', 'an HTML page')) };
    const { status, body } = await user.get(`/v1/billing/invoices/${id}/pay-url`);
    assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
  });

  it('sends to support, and not to another try, where the processor has no such invoice', async () => {
    const { id } = await insert('open');
    const gone = new ProcessorError('refused', 'No such invoice', { code: 'resource_missing', status: 404 });
    processor.answers = { getInvoice: () => Promise.reject(gone) };
    const { status, body } = await user.get(`/v1/billing/invoices/${id}/pay-url`);
    assert.deepEqual([status, body.error], [500, 'internal_error']);
  });

  it('is invoice_not_found for another user’s, an unknown and a malformed id', async () => {
    const { id } = await insert('open');
    const other = await api.signIn();
    for (const wanted of [id, 'inv_00000000000000000000000000', 'inv_1', 'top_1']) {
      for (const path of [`/v1/billing/invoices/${wanted}`, `/v1/billing/invoices/${wanted}/pay-url`]) {
        const { status, body } = await other.get(path);
        assert.deepEqual([status, body.error], [404, 'invoice_not_found'], path);
      }
    }
    assert.deepEqual((await other.get('/v1/billing/invoices')).body, { data: [] });
  });

  for (const query of ['?status=draft', '?status=voided', '?limit=0', '?limit=201', '?limit=x', '?page=2']) {
    it(`refuses ${query}`, async () => {
      const { status, body } = await user.get(`/v1/billing/invoices${query}`);
      assert.deepEqual([status, body.error], [400, 'validation_failed']);
    });
  }
});
