import assert from 'node:assert/strict';
import { entityStatusAttribute } from '../../../workflows/contracts/search-attributes.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { Reversing, sums } from '../../support/story/reversing.js';
import { until } from '../../support/until.js';

describe('a dispute', () => {
  let service: TestService;
  let paying: Paying;
  let reversing: Reversing;

  before(async () => {
    service = await startService();
    paying = new Paying(service);
  });
  beforeEach(async () => {
    reversing = new Reversing(service, paying, await service.signIn());
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.awaitHandled();
    await paying.liftMarks();
    await paying.assertAddsUp();
  });
  after(() => service.stop());

  async function dispute(chargeId: string, fields: Record<string, unknown> = {}): Promise<string> {
    return (await paying.order(`charges/${chargeId}/dispute`, fields))['id'] as string;
  }

  it('takes the money while it is open, and its workflow is there for operators', async () => {
    const { chargeId } = await reversing.paid(1_000);
    const id = await dispute(chargeId);
    const open = await reversing.awaitRow(id, 'taken_at');
    assert.deepEqual(
      [open.kind, open.status, sums(open), open.closed_at],
      [...['dispute', 'needs_response'], [1_000, 0, 0], null],
    );
    const handle = service.temporal.workflow.getHandle(id);
    // The row is written before its workflow hears of it.
    await until('operators see its status', async () => {
      const { status, typedSearchAttributes } = await handle.describe();
      assert.equal(status.name, 'RUNNING');
      return typedSearchAttributes.get(entityStatusAttribute) === 'needs_response';
    });
    await paying.order(`disputes/${id}/lose`);
    await reversing.awaitRow(id, 'closed_at');
    assert.equal((await paying.wallet(reversing.user)).available_cents, 0);
    assert.ok((await paying.mails(reversing.user)).includes('Your bank took back a payment'));
  });

  it('that is won gives back exactly what was debited', async () => {
    const { chargeId } = await reversing.paid(1_000);
    await reversing.spend(400);
    const id = await dispute(chargeId);
    assert.deepEqual(sums(await reversing.awaitRow(id, 'taken_at')), [600, 400, 0]);
    await paying.order(`disputes/${id}/win`);
    await reversing.awaitRow(id, 'closed_at');
    await paying.awaitHandled();
    assert.equal((await paying.wallet(reversing.user)).available_cents, 600);
    await reversing.awaitInvoices([['manual', 400, 'void']]);
  });

  it('never takes more than the payment, even when its own amount is larger', async () => {
    const { chargeId } = await reversing.paid(1_000);
    await reversing.spend(-5_000);
    const id = await dispute(chargeId, { amount: 1_300 });
    assert.deepEqual(sums(await reversing.awaitRow(id, 'taken_at')), [1_000, 0, 0]);
    assert.equal((await paying.wallet(reversing.user)).available_cents, 5_000);
  });

  it('after a partial refund takes the rest only; when the refund fails, it takes that too', async () => {
    const { paymentId, chargeId } = await reversing.paid(1_000);
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 300 });
    await reversing.awaitRow(refund.id, 'taken_at');
    const id = await dispute(chargeId);
    assert.deepEqual(sums(await reversing.awaitRow(id, 'taken_at')), [700, 0, 0]);
    await paying.order(`refunds/${refund.id}/fail`);
    await reversing.awaitRow(refund.id, 'given_back_at');
    assert.deepEqual(sums((await reversing.row(id))!), [1_000, 0, 0]);
    assert.equal((await paying.wallet(reversing.user)).available_cents, 0);
  });

  it('that is only an inquiry takes nothing until the bank goes on', async () => {
    const { chargeId } = await reversing.paid(1_000);
    const id = await dispute(chargeId, { inquiry: true });
    const seen = await until('the inquiry is known', async () => reversing.row(id));
    await paying.awaitHandled();
    assert.deepEqual(
      [
        seen.taken_at,
        (await reversing.row(id))!.taken_at,
        (await paying.wallet(reversing.user)).available_cents,
      ],
      [null, null, 1_000],
    );
    await paying.order(`disputes/${id}/escalate`);
    await reversing.awaitRow(id, 'taken_at');
    assert.equal((await paying.wallet(reversing.user)).available_cents, 0);
  });

  it('whose events come in the wrong order, twice or late ends the same', async () => {
    const { chargeId } = await reversing.paid(1_000);
    await paying.order('faults', { kind: 'event_reorder', type: 'charge.dispute.created' });
    await paying.order('faults', { kind: 'event_duplicate', type: 'charge.dispute.funds_withdrawn' });
    await paying.order('faults', {
      kind: 'event_delay',
      delayMs: 300,
      type: 'charge.dispute.funds_reinstated',
    });
    const id = await dispute(chargeId);
    await reversing.awaitRow(id, 'taken_at');
    await paying.order(`disputes/${id}/win`);
    await reversing.awaitRow(id, 'closed_at');
    await paying.awaitHandled();
    assert.deepEqual(await paying.entries(reversing.user), [
      ['processor_topup', 1_000],
      ['adjustment', -1_000],
      ['adjustment', 1_000],
    ]);
  });

  it('by the documented test card comes at once with the payment', async () => {
    await reversing.paid(1_000, 'pm_card_createDispute');
    await until('it is debited', async () => (await paying.wallet(reversing.user)).available_cents === 0);
    const { disputes } = await paying.state();
    await service.stripe.disputes.update(disputes.at(-1)!.id, {
      evidence: { uncategorized_text: 'winning_evidence' },
    });
    await paying.awaitAvailable(reversing.user, 1_000);
  });
});
