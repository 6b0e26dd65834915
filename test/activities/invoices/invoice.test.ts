import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { InvoiceRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { ProcessorError, type FoundInvoice } from '../../../adapters/processor/processor.js';
import type { InvoiceId, UserId } from '../../../domain/ids.js';
import { dunning } from '../../../domain/payments/dunning.js';
import { DAY } from '../../../domain/durations.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import { requestVoid } from '../../../money/invoices/invoice-voids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { dyingOnce, paymentOf } from '../../support/activities/scripted-processor.js';
import { insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';

const AMOUNT = 700;

describe('the activity of an invoice', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities();
  });
  beforeEach(() => lone.processor.reset());
  after(() => lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  interface Owed {
    readonly id: InvoiceId;
    readonly userId: UserId;
    readonly lineId: string;
  }

  /** An invoice as an operator issues it; default: a draft. */
  async function owe(columns: Partial<InvoiceRow> = {}): Promise<Owed> {
    const id = newId('inv');
    const lineId = newId('li');
    const user = await insertUser(lone.db, { processor_customer_id: `cus_${id}` });
    await lone.db('invoices').insert({
      ...{ id, user_id: user.id, wallet_id: (await getWallet(lone.db, user.id)).id, cause: `test:${id}` },
      ...{ status: 'draft', reason: 'manual', amount_cents: AMOUNT },
      ...columns,
    });
    const line = { id: lineId, invoice_id: id, description: 'A machine', amount_cents: AMOUNT };
    await lone.db('invoice_line_items').insert(line);
    return { id, userId: user.id, lineId };
  }

  /** An invoice whose mirror was opened this many days ago. */
  async function owedSince(days: number): Promise<Owed> {
    const mirror = newId('inv');
    const owed = await owe({ status: 'open', processor_invoice_id: `in_${mirror}` });
    await aged(owed.id, days * DAY);
    return owed;
  }

  function mirrorOf(id: InvoiceId, columns: Partial<FoundInvoice> = {}): FoundInvoice {
    return {
      processorInvoiceId: `in_${id}`,
      status: 'open',
      totalCents: AMOUNT,
      amountPaidCents: 0,
      currency: 'usd',
      hostedInvoiceUrl: `http://127.0.0.1/invoices/${id}`,
      invoicePdfUrl: null,
      paymentId: null,
      paidAt: null,
      customerId: `cus_${id}`,
      invoiceId: id,
      createdAt: new Date(),
      ...columns,
    };
  }

  /** Makes the processor show the invoice's mirror with these columns. */
  function shows(id: InvoiceId, columns: Partial<FoundInvoice> = {}): () => Promise<FoundInvoice> {
    return () => Promise.resolve(mirrorOf(id, columns));
  }

  const look = (id: InvoiceId) => lone.run('lookAtInvoice', id, DAY);

  async function row(id: InvoiceId): Promise<InvoiceRow> {
    return (await lone.db('invoices').where({ id }).first())!;
  }

  async function aged(id: InvoiceId, ms: number): Promise<void> {
    const at = lone.db.raw(`clock_ms() - ? * interval '1 millisecond'`, [ms]);
    const opened = lone.db.raw(`case when status <> 'draft' then ? end`, [at]);
    await lone.db('invoices').where({ id }).update({ created_at: at, finalized_at: opened });
  }

  /** The subjects of the user's mails. */
  async function subjects({ userId }: Owed): Promise<string[]> {
    const user = await lone.db('users').where({ id: userId }).first();
    const rows = await lone.db('mail_outbox').where({ recipient: user!.email }).orderBy('id');
    return rows.map(({ subject }) => subject);
  }

  async function entries({ userId }: Owed): Promise<[string, number][]> {
    const { id } = await getWallet(lone.db, userId);
    const rows = await lone.db('ledger_entries').where({ wallet_id: id }).orderBy('seq');
    return rows.map(({ type, amount_cents: cents }) => [type, cents]);
  }

  /** Makes the processor show that the invoice's mirror was paid by a charge. */
  function paysBy({ id, userId }: Owed): void {
    const paymentId = `pi_${id}`;
    const payment = paymentOf({ topupId: id, userId, amountCents: AMOUNT }, { topupId: null, userId: null });
    lone.processor.answers = {
      getInvoice: shows(id, { status: 'paid', paymentId, paidAt: new Date() }),
      voidInvoice: shows(id, { status: 'paid', paymentId, paidAt: new Date() }),
      getPayment: () => Promise.resolve({ ...payment, receiptUrl: 'http://127.0.0.1/receipt' }),
    };
  }

  async function askVoid({ id }: Pick<Owed, 'id'>): Promise<void> {
    const asked = { void_requested_at: lone.db.raw('clock_ms()'), void_reason: 'a mistake' };
    await lone.db('invoices').where({ id }).update(asked);
  }

  async function mails({ id }: Owed): Promise<number> {
    const all = await lone.db('mail_outbox').select('cause');
    return all.filter(({ cause }) => cause.includes(id)).length;
  }

  it('finds nothing of ours where there is no row, and asks nobody', async () => {
    const seen = await look(newId('inv'));
    assert.deepEqual(seen, { state: 'missing', status: 'missing', summary: 'no such invoice' });
    assert.deepEqual(lone.processor.asked, []);
  });

  it('makes the mirror of a draft with its lines and opens it, once, and tells its user once', async () => {
    const owed = await owe();
    const { id, userId, lineId } = owed;
    lone.processor.answers = {
      createInvoice: shows(id, { status: 'draft' }),
      finalizeInvoice: shows(id),
      getInvoice: shows(id),
    };
    assert.equal((await look(id)).status, 'open');
    assert.equal((await look(id)).status, 'open');
    assert.deepEqual(lone.processor.argsOf('createInvoice'), [
      {
        invoiceId: id,
        userId,
        customerId: `cus_${id}`,
        daysUntilDue: dunning.dueDays,
        lines: [{ lineId, description: 'A machine', amountCents: AMOUNT }],
      },
    ]);
    assert.deepEqual(lone.processor.argsOf('finalizeInvoice'), [`in_${id}`]);
    assert.equal(await mails(owed), 1);
  });

  it('makes the same mirror again when it died after the call and before the commit', async () => {
    const { id } = await owe();
    lone.processor.answers = {
      createInvoice: dyingOnce(shows(id, { status: 'draft' })),
      finalizeInvoice: shows(id),
      getInvoice: shows(id),
    };
    await assert.rejects(look(id), /died/);
    assert.equal((await row(id)).processor_invoice_id, null);
    assert.equal((await look(id)).status, 'open');
    const [first, second] = lone.processor.argsOf('createInvoice');
    assert.deepEqual(second, first, 'by which the processor knows that it is the same');
  });

  it('reads the mirror that is there when it died after opening it, and makes no second one', async () => {
    const { id } = await owe();
    lone.processor.answers = {
      createInvoice: shows(id, { status: 'draft' }),
      finalizeInvoice: dyingOnce(shows(id)),
      getInvoice: shows(id),
    };
    await assert.rejects(look(id), /died/);
    assert.equal((await look(id)).status, 'open');
    assert.equal(lone.processor.argsOf('createInvoice').length, 1);
  });

  it('looks for the mirror of one whose key the processor may have forgotten, and takes what it finds', async () => {
    const { id } = await owe();
    await aged(id, paymentLimits.chargeKeyMs + 60_000);
    lone.processor.answers = { findInvoice: shows(id), getInvoice: shows(id) };
    assert.equal((await look(id)).status, 'open');
    assert.equal((await row(id)).processor_invoice_id, `in_${id}`);
    assert.equal(lone.processor.names[0], 'findInvoice');
    const [asked] = lone.processor.argsOf('findInvoice') as { createdFrom: Date }[];
    const madeAt = (await row(id)).created_at;
    assert.deepEqual(asked?.createdFrom, new Date(madeAt.getTime() - DAY), 'our clock may have run ahead');
    const ahead = await owe();
    await aged(ahead.id, -DAY);
    lone.processor.answers = { findInvoice: shows(ahead.id), getInvoice: shows(ahead.id) };
    assert.equal((await look(ahead.id)).status, 'open', 'no clock says how old that key is');
    assert.ok(!lone.processor.names.includes('createInvoice'));
  });

  it('opens no mirror that is about another amount', async () => {
    const { id } = await owe();
    lone.processor.answers = { createInvoice: shows(id, { status: 'draft', totalCents: AMOUNT + 1 }) };
    await assert.rejects(look(id), /is about 701 cents, not 700/);
    assert.deepEqual(lone.processor.names, ['createInvoice']);
    assert.equal((await row(id)).status, 'draft');
  });

  it('takes over that it was paid, and asks for one that is paid no more', async () => {
    const owed = await owedSince(1);
    const { id } = owed;
    paysBy(owed);
    assert.deepEqual([(await look(id)).state, (await row(id)).status], ['closed', 'paid']);
    const paid = await row(id);
    assert.deepEqual([paid.payment_id, paid.receipt_url], [`pi_${id}`, 'http://127.0.0.1/receipt']);
    assert.notEqual(paid.paid_at, null);
    assert.equal((await look(id)).state, 'closed');
    assert.deepEqual(await row(id), paid);
    assert.deepEqual(lone.processor.names, ['getInvoice', 'getPayment']);
    assert.deepEqual(await subjects(owed), ['Your invoice for $7.00 is paid']);
    assert.deepEqual(await entries(owed), [], 'a debt that is paid credits nothing');
  });

  it('voids the mirror of one that is to be void, also when it died after the call', async () => {
    const { id } = await owedSince(1);
    await askVoid({ id });
    lone.processor.answers = { voidInvoice: dyingOnce(shows(id, { status: 'void' })) };
    await assert.rejects(look(id), /died/);
    assert.equal((await row(id)).status, 'open');
    assert.deepEqual([(await look(id)).state, (await row(id)).status], ['closed', 'void']);
    assert.deepEqual(lone.processor.names, ['voidInvoice', 'voidInvoice']);
  });

  it('looks once for the mirror of one that was void before it had one, and makes none', async () => {
    const { id } = await owe();
    await lone.db.transaction((trx) => requestVoid(trx, id, 'a mistake'));
    lone.processor.answers = { findInvoice: () => Promise.resolve(null) };
    for (let times = 0; times < 2; times += 1) {
      assert.deepEqual([(await look(id)).state, (await row(id)).status], ['closed', 'void']);
    }
    assert.deepEqual(lone.processor.names, ['findInvoice']);
  });

  it('asks the processor nothing about a void one of a user whom it does not know', async () => {
    const { id, userId } = await owe();
    await lone.db('users').where({ id: userId }).update({ processor_customer_id: null });
    await lone.db.transaction((trx) => requestVoid(trx, id, 'a mistake'));
    assert.equal((await look(id)).state, 'closed');
    assert.deepEqual(lone.processor.asked, []);
  });

  it('voids the mirror that was made, and not written down, before it was void; also when it died after the call', async () => {
    const { id } = await owe();
    lone.processor.answers = {
      createInvoice: dyingOnce(shows(id, { status: 'draft' })),
      findInvoice: shows(id, { status: 'draft' }),
      voidInvoice: dyingOnce(shows(id, { status: 'void' })),
    };
    await assert.rejects(look(id), /died/);
    await lone.db.transaction((trx) => requestVoid(trx, id, 'a mistake'));
    await assert.rejects(look(id), /died/);
    assert.equal((await look(id)).state, 'closed');
    assert.deepEqual([(await row(id)).status, (await row(id)).processor_invoice_id], ['void', `in_${id}`]);
    assert.deepEqual(lone.processor.names, ['createInvoice', 'findInvoice', 'voidInvoice', 'voidInvoice']);
    assert.deepEqual(lone.processor.argsOf('voidInvoice'), [`in_${id}`, `in_${id}`]);
  });

  it('is void when somebody has voided its mirror by hand', async () => {
    const { id } = await owedSince(1);
    lone.processor.answers = { getInvoice: shows(id, { status: 'void' }) };
    await look(id);
    assert.equal((await row(id)).status, 'void');
  });

  it('that is to be void and was paid all the same gives a debt back, once', async () => {
    const owed = await owedSince(1);
    await askVoid(owed);
    const undecided = new ProcessorError('refused', 'its payment is under way');
    lone.processor.answers = { voidInvoice: () => Promise.reject(undecided) };
    await assert.rejects(look(owed.id), undecided);
    paysBy(owed);
    for (let times = 0; times < 2; times += 1) await look(owed.id);
    assert.equal((await row(owed.id)).status, 'paid');
    assert.deepEqual(await entries(owed), [['adjustment', AMOUNT]]);
  });

  for (const isToBeVoid of [false, true]) {
    it(`is an offer that is paid: credited once, never reminded of${isToBeVoid ? ', though it is to be void' : ''}`, async () => {
      const owed = await owe({
        status: 'open',
        processor_invoice_id: `in_${newId('inv')}`,
        reason: 'topup_failed',
      });
      await aged(owed.id, 8 * DAY);
      lone.processor.answers = { getInvoice: shows(owed.id) };
      await look(owed.id);
      assert.deepEqual(await subjects(owed), []);
      if (isToBeVoid) await askVoid(owed);
      paysBy(owed);
      for (let times = 0; times < 2; times += 1) await look(owed.id);
      assert.deepEqual(await entries(owed), [['processor_topup', AMOUNT]]);
      assert.deepEqual(await subjects(owed), ['Your top-up of $7.00']);
      const { payment_id: paymentId, receipt_url: receipt } = await row(owed.id);
      assert.deepEqual([paymentId, receipt], [`pi_${owed.id}`, 'http://127.0.0.1/receipt']);
    });
  }

  it('reminds of a debt once when its day has come, and not before', async () => {
    const owed = await owedSince(2);
    lone.processor.answers = { getInvoice: shows(owed.id) };
    await look(owed.id);
    assert.equal(await mails(owed), 0);
    await aged(owed.id, 3 * DAY + 1_000);
    await look(owed.id);
    const { nextLookMs } = await look(owed.id);
    assert.equal(await mails(owed), 1);
    assert.ok(nextLookMs! > 3 * DAY && nextLookMs! < 4 * DAY, 'the next one comes on the seventh day');
  });

  it('counts from its opening, however late that was', async () => {
    const owed = await owe();
    const { id } = owed;
    await aged(id, dunning.writeOffDays * DAY);
    lone.processor.answers = { findInvoice: shows(id), getInvoice: shows(id) };
    const { status, nextLookMs } = await look(id);
    assert.equal(status, 'open');
    assert.ok(nextLookMs! > 2.9 * DAY && nextLookMs! <= 3 * DAY, 'the first reminder comes after three days');
    assert.deepEqual(await subjects(owed), ['You have an invoice for $7.00']);
  });

  it('gives up what is unpaid for a month, after it asked whether it was paid, also when it died after the call', async () => {
    const owed = await owedSince(dunning.writeOffDays);
    const { id } = owed;
    lone.processor.answers = {
      getInvoice: shows(id),
      writeOffInvoice: dyingOnce(shows(id, { status: 'uncollectible' })),
    };
    await assert.rejects(look(id), /died/);
    assert.deepEqual([(await look(id)).state, (await row(id)).status], ['closed', 'uncollectible']);
    assert.deepEqual(lone.processor.names, [
      'getInvoice',
      'writeOffInvoice',
      'getInvoice',
      'writeOffInvoice',
    ]);
    lone.processor.answers = { getInvoice: shows(id, { status: 'uncollectible' }) };
    await look(id);
    assert.deepEqual(await subjects(owed), ['We’ve written off your invoice for $7.00'], 'told once');
  });

  it('tells nobody that an offer was given up', async () => {
    const offer = await owe({
      ...{ status: 'open', reason: 'topup_failed', processor_invoice_id: `in_${newId('inv')}` },
    });
    await aged(offer.id, dunning.writeOffDays * DAY);
    lone.processor.answers = {
      getInvoice: shows(offer.id),
      writeOffInvoice: shows(offer.id, { status: 'uncollectible' }),
    };
    assert.equal((await look(offer.id)).status, 'uncollectible');
    assert.deepEqual(await subjects(offer), []);
  });

  it('gives nothing up that was paid in the last moment', async () => {
    const { id } = await owedSince(dunning.writeOffDays);
    lone.processor.answers = { getInvoice: shows(id, { status: 'paid', paidAt: new Date() }) };
    assert.equal((await look(id)).status, 'paid');
    assert.deepEqual(lone.processor.names, ['getInvoice']);
  });

  it('asks nobody while payments are not configured, and no day is shorter than the installation’s', async () => {
    const unbilled = await startActivities({ billing: false, settings: { minDunningDayMs: DAY } });
    const id = newId('inv');
    const user = await insertUser(unbilled.db);
    await unbilled.db('invoices').insert({
      id,
      user_id: user.id,
      wallet_id: (await getWallet(unbilled.db, user.id)).id,
      status: 'draft',
      reason: 'manual',
      amount_cents: AMOUNT,
      cause: `test:${id}`,
    });
    for (const said of [1, undefined, null, Number.NaN] as number[]) {
      const { state, nextLookMs } = await unbilled.run('lookAtInvoice', id, said);
      assert.deepEqual([state, nextLookMs], ['waiting', DAY], String(said));
    }
    const monthAgo = "clock_ms() - interval '31 days'";
    // As a copy of a database may hold it: its month is over, and nobody is asked to give it up.
    await unbilled
      .db('invoices')
      .where({ id })
      .update({
        ...{ status: 'open', processor_invoice_id: `in_${id}` },
        ...{ created_at: unbilled.db.raw(monthAgo), finalized_at: unbilled.db.raw(monthAgo) },
      });
    const { status, nextLookMs } = await unbilled.run('lookAtInvoice', id, DAY);
    assert.deepEqual([status, nextLookMs], ['open', DAY]);
    assert.deepEqual(unbilled.processor.asked, []);
    await unbilled.close();
  });
});
