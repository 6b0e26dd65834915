import assert from 'node:assert/strict';
import type { InvoiceId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';

describe('reading invoices', () => {
  let service: TestService;
  let invoicing: Invoicing;
  let user: SignedIn;
  before(async () => {
    service = await startService({ shards: 0 });
    invoicing = new Invoicing(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(() => invoicing.clearFaults());
  after(() => service.stop());

  /** One invoice in each status. */
  async function oneOfEach(): Promise<Record<string, InvoiceId>> {
    const draft = await invoicing.draft(user, 100);
    const { id: open } = await invoicing.open(user, 200);
    const { id: paid, hosted_invoice_url: url } = await invoicing.open(user, 300);
    await invoicing.pay(url!);
    await invoicing.awaitInvoice(paid, 'paid');
    const { id: voided, processor_invoice_id: mirror } = await invoicing.open(user, 400);
    await service.stripe.invoices.voidInvoice(mirror!);
    await invoicing.awaitInvoice(voided, 'void');
    const { id: uncollectible, processor_invoice_id: given } = await invoicing.open(user, 500);
    await service.stripe.invoices.markUncollectible(given!);
    await invoicing.awaitInvoice(uncollectible, 'uncollectible');
    return { draft, open, paid, void: voided, uncollectible };
  }

  async function list(query = ''): Promise<string[]> {
    const { status, body } = await user.get(`/v1/billing/invoices${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.map(({ id }) => id);
  }

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

    const urls = new Map<string, string | null>();
    for (const [status, id] of Object.entries(ids)) {
      urls.set(status, (await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url);
    }
    const open = await invoicing.invoice(ids['open']!);
    assert.equal(urls.get('open'), open.hosted_invoice_url);
    assert.ok(urls.get('uncollectible'), 'it can still be paid');
    assert.deepEqual([urls.get('draft'), urls.get('paid'), urls.get('void')], [null, null, null]);
  });

  it('shows every field of the specification, and the line items', async () => {
    const { id } = await invoicing.open(user, 700);
    const row = await invoicing.invoice(id);
    const { body } = await user.get(`/v1/billing/invoices/${id}`);
    const shown = body as unknown as { lineItems: { id: string }[] };
    assert.match(shown.lineItems[0]!.id, /^li_/);
    assert.deepEqual(shown, {
      ...{ id, status: 'open', reason: 'manual', amountCents: 700, currency: 'USD', rentalId: null },
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
    const { id, hosted_invoice_url: url } = await invoicing.open(user, 700);
    await service.db('invoices').where({ id }).update({ hosted_invoice_url: 'https://rotated.example.com' });
    assert.equal((await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url, url);
    await invoicing.order('faults', { kind: 'event_drop', times: 100 });
    await invoicing.pay(url!);
    assert.equal((await invoicing.invoice(id)).status, 'open', 'our row lags');
    assert.equal((await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url, null);
  });

  it('says that the processor can’t be reached, and that one may try again', async () => {
    const { id } = await invoicing.open(user, 700);
    await invoicing.order('faults', { kind: 'html', times: 3, method: 'GET', path: '/v1/invoices' });
    const { status, body } = await user.get(`/v1/billing/invoices/${id}/pay-url`);
    assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
  });

  it('is invoice_not_found for another user’s, an unknown and a malformed id', async () => {
    const { id } = await invoicing.open(user, 700);
    const other = await service.signIn();
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
