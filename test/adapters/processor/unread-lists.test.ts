import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { createStripeLists } from '../../../adapters/processor/stripe-lists.js';

describe('a page of the processor’s lists', () => {
  it('names what can not be read, and gives the rest', async () => {
    const charge = (id: string, currency: unknown) => ({
      ...{ id, currency, status: 'succeeded', amount_captured: 500, amount_refunded: 0, created: 1 },
      ...{ payment_intent: `pi_${id}`, customer: null, metadata: {} },
    });
    const data = [charge('ch_1', 'usd'), charge('ch_2', undefined), charge('ch_3', 'usd')];
    const stripe = { charges: { list: () => Promise.resolve({ data, has_more: true }) } };
    const lists = createStripeLists({
      ...{ stripe: stripe as unknown as Stripe, chargeTimeoutMs: 1_000 },
      asked: (call) => call(),
    });
    const page = await lists.listCharges({ since: new Date(0), after: null });
    assert.deepEqual(
      page.items.map(({ chargeId }) => chargeId),
      ['ch_1', 'ch_3'],
    );
    assert.deepEqual(
      page.unread.map(({ id, error }) => [id, (error as Error).name]),
      [['ch_2', 'ProcessorError']],
    );
    assert.equal(page.after, 'ch_3');
  });
});
