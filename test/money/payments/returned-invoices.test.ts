import assert from 'node:assert/strict';
import { requestVoid } from '../../../money/invoices/invoice-voids.js';
import { settleInvoice } from '../../../money/payments/settle-invoice.js';
import { applyReversal, type Reversal } from '../../../money/reversals/reversals.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import { getWallet, insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

describe('the invoice of a dispute', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  it('that an operator voids while it is paid is given back once, and the dispute that is won gives back the rest', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 400);
    const lost: Reversal = {
      id: 'dp_1',
      kind: 'dispute',
      status: 'needs_response',
      amountCents: 1_000,
      paymentId: 'pi_1',
      userId,
      paymentCents: 1_000,
      credited: true,
      taken: true,
      returned: false,
      closed: false,
    };
    const { invoice_id: invoiceId } = await applyReversal(db, lost);
    assert.ok(invoiceId);
    await db('invoices').where({ id: invoiceId }).update({ status: 'open', processor_invoice_id: 'in_1' });
    await db.transaction((trx) => requestVoid(trx, invoiceId, 'goodwill'));
    await settleInvoice(db, invoiceId, { payment: null, paidAt: null });
    assert.equal((await getWallet(db, userId)).available_cents, 600, 'what was paid for nothing is back');

    const { rows: notes } = await db.raw<{ rows: { note: string | null }[] }>(
      `select e.note from ledger_causes c join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
        where c.cause = ?`,
      [`invoice-returned:${invoiceId}`],
    );
    assert.deepEqual(
      notes.map(({ note }) => note),
      [`invoice ${invoiceId} was paid although it was to be void`],
      'an operator’s words are in no entry',
    );

    const won = { ...lost, status: 'won', returned: true, closed: true };
    const { given_back_at: givenBackAt } = await applyReversal(db, won);
    assert.ok(givenBackAt);
    assert.equal((await getWallet(db, userId)).available_cents, 1_000);
    const mail = await db('mail_outbox').where({ cause: 'dispute-returned:dp_1' }).first();
    assert.match(mail?.body ?? '', /^\$4\.00 is back in your wallet\.$/m);
    assert.deepEqual(await verifyLedger(db, userId), []);
  });
});
