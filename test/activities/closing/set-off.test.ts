import assert from 'node:assert/strict';
import { settleInvoice } from '../../../money/payments/settle-invoice.js';
import type { InvoiceId } from '../../../domain/ids.js';
import { closingWorld } from '../../support/activities/closing-world.js';

describe('the balance of an account that closes, against what is owed', () => {
  const world = closingWorld();

  it('is set off, given money first, and the invoice is void, so that nobody pays it twice', async () => {
    const paymentId = await world.pay(1_000);
    await world.give(300);
    const invoiceId = await world.owe(900);
    const row = await world.closeLate();
    assert.deepEqual(world.returned(), [[paymentId, 400]]);
    const invoice = await world.db('invoices').where({ id: invoiceId }).first();
    assert.deepEqual([invoice?.status, row.lapsed_cents, await world.total()], ['void', 0, 0]);
    assert.equal(
      await world.whyOf('set-off:'),
      `$9.00 was taken from your wallet: it paid what you owed by invoice ${invoiceId} when your account closed, and the invoice is void.`,
    );
    // Its payer was faster: what they paid goes back as well.
    const late = world.paid(900);
    await settleInvoice(world.db, invoiceId, { payment: late, paidAt: new Date() });
    await world.look();
    assert.deepEqual([world.returned()[1], await world.total()], [[late.paymentId, 900], 0]);
  });

  it('comes back where the dispute behind the debt is won, also after the debt was paid as well', async () => {
    for (const isPaidToo of [false, true]) {
      await world.begin();
      const first = await world.pay(1_000);
      await world.spend(1_000);
      const disputeId = await world.dispute(first, 1_000);
      const second = await world.pay(600);
      await world.give(700);
      await world.closeLate();
      const invoice = await world.db('invoices').where({ user_id: world.userId }).first();
      assert.deepEqual([invoice?.amount_cents, world.returned()], [1_000, [[second, 300]]]);
      if (isPaidToo)
        await settleInvoice(world.db, invoice!.id, { payment: world.paid(1_000), paidAt: new Date() });
      const before = await world.total();
      await world.dispute(first, 1_000, { id: disputeId, status: 'won', returned: true, closed: true });
      assert.equal((await world.total()) - before, 1_000);
      assert.equal(
        await world.whyOf('set-off-returned:'),
        `$10.00 was added to your wallet: money came back from dispute ${disputeId} of payment ${first}.`,
      );
      const row = await world.look();
      const returnedCents = world.returned().reduce((sum, [, cents]) => sum + cents, 0);
      assert.deepEqual(
        [returnedCents, row.lapsed_cents, await world.total()],
        // 700 of what was set off had been given.
        [isPaidToo ? 1_600 : 600, 700, 0],
      );
    }
  });

  it('comes back as far as it went, once, to the card that it came from', async () => {
    const first = await world.pay(1_000);
    await world.spend(1_000);
    const disputeId = await world.dispute(first, 1_000);
    const second = await world.pay(400);
    await world.closeLate();
    assert.deepEqual([world.returned(), await world.total()], [[], 0]);
    for (const told of ['won', 'told again'] as const) {
      await world.dispute(first, 1_000, { id: disputeId, status: 'won', returned: true, closed: true });
      assert.equal(await world.total(), 400, told);
    }
    await world.look();
    assert.deepEqual([world.returned(), await world.total()], [[[second, 400]], 0]);
  });

  it('is not waited for where it is empty: the debt is given up, and one that was given up before stays payable', async () => {
    const invoiceId = await world.owe(900);
    const before = await world.owe(400);
    await world
      .db('invoices')
      .where({ id: before })
      .update({
        ...{ status: 'uncollectible', processor_invoice_id: `in_${before}`, finalized_at: new Date() },
        closed_at: new Date(),
      });
    const row = await world.closeLate();
    const statusOf = async (id: InvoiceId) => (await world.db('invoices').where({ id }).first())?.status;
    assert.deepEqual(
      [row.state, await statusOf(invoiceId), await statusOf(before), await world.total()],
      ['kept', 'void', 'uncollectible', 0],
    );
  });

  it('is taken whole where more is owed, once', async () => {
    await world.pay(600);
    await world.owe(900);
    const row = await world.closeLate();
    assert.deepEqual([row.state, world.returned(), await world.total()], ['kept', [], 0]);
    const entries = await world
      .db('ledger_causes')
      .where('cause', 'like', 'set-off:%')
      .count('* as n')
      .first();
    await world.look();
    assert.deepEqual(
      await world.db('ledger_causes').where('cause', 'like', 'set-off:%').count('* as n').first(),
      entries,
    );
  });
});
