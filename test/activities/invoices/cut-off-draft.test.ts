import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { ProcessorError, type FoundInvoice } from '../../../adapters/processor/processor.js';
import { DAY, MINUTE } from '../../../domain/durations.js';
import { paymentLimits } from '../../../domain/payments/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';

const AMOUNT = 700;

describe('the draft of an invoice’s mirror that a crash cut off', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities();
  });
  after(() => lone.close());

  /** An invoice of which the processor has a draft without its lines, made so long ago by its clock. */
  async function cutOff(ageMs: number) {
    const id = newId('inv');
    const user = await insertUser(lone.db, { processor_customer_id: `cus_${id}` });
    await lone.db('invoices').insert({
      ...{ id, user_id: user.id, wallet_id: (await getWallet(lone.db, user.id)).id, cause: `test:${id}` },
      ...{ status: 'draft', reason: 'manual', amount_cents: AMOUNT },
      created_at: new Date(Date.now() - ageMs),
    });
    lone.processor.reset();
    const showDraft = (draftAgeMs: number): void => {
      const draft: FoundInvoice = {
        ...{
          processorInvoiceId: `in_${id}`,
          status: 'draft',
          totalCents: 0,
          amountPaidCents: 0,
          currency: 'usd',
        },
        ...{ hostedInvoiceUrl: null, invoicePdfUrl: null, paymentId: null, paidAt: null },
        ...{ customerId: `cus_${id}`, invoiceId: id, createdAt: new Date(Date.now() - draftAgeMs) },
      };
      lone.processor.answers = {
        findInvoice: () => Promise.resolve(draft),
        voidInvoice: () => Promise.resolve({ ...draft, status: 'void' }),
        createInvoice: () => Promise.reject(new ProcessorError('unknown', 'no answer')),
      };
    };
    return { showDraft, look: () => lone.run('lookAtInvoice', id, DAY) };
  }

  for (const [title, ageMs] of [
    ['older than the draft', paymentLimits.keyForgottenMs + MINUTE],
    ['written by a clock that ran ahead', -DAY],
  ] as const) {
    it(`is made anew once the processor has forgotten its key, where our row is ${title}`, async () => {
      const { showDraft, look } = await cutOff(ageMs);
      showDraft(paymentLimits.chargeKeyMs);
      await assert.rejects(look(), /lacks lines/);
      assert.deepEqual(lone.processor.names, ['findInvoice']);
      showDraft(paymentLimits.keyForgottenMs + MINUTE);
      await assert.rejects(look(), /no answer/);
      assert.deepEqual(lone.processor.names.slice(1), ['findInvoice', 'voidInvoice', 'createInvoice']);
    });
  }
});
