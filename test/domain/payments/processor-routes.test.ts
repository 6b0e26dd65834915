import assert from 'node:assert/strict';
import {
  autoTopupWorkflowId,
  isPaidKind,
  routeOf,
  userOfAutoTopup,
  type EventRoute,
} from '../../../domain/payments/processor-routes.js';

const ulid = '01J9ZK3V6QW8R2T4Y6A8C0E2G4';
const userId = `usr_${ulid}` as const;
const invoiceId = `inv_${ulid}`;
const topupId = `top_${ulid}`;

describe('routeOf', () => {
  describe('an invoice', () => {
    function routed(kind: string, metadata: unknown): EventRoute | null {
      return routeOf({ kind, object: { object: 'invoice', id: 'in_1', metadata } });
    }

    for (const kind of [
      'invoice.paid',
      'invoice.payment_succeeded',
      'invoice.voided',
      'invoice.marked_uncollectible',
    ]) {
      it(`is told of ${kind} by our own id`, () => {
        assert.deepEqual(routed(kind, { invoice_id: invoiceId, user_id: userId }), {
          workflow: 'invoice',
          workflowId: invoiceId,
        });
      });
    }

    for (const kind of [
      'invoice.created',
      'invoice.updated',
      'invoice.finalized',
      'invoice.sent',
      'invoice.deleted',
      'invoice.payment_failed',
    ]) {
      it(`is not told of ${kind}, which settles nothing`, () => {
        assert.equal(routed(kind, { invoice_id: invoiceId }), null);
      });
    }

    it('that is not ours is nobody’s', () => {
      for (const metadata of [
        undefined,
        null,
        {},
        { user_id: userId },
        { invoice_id: 'inv_1' },
        { invoice_id: topupId },
        { invoice_id: 7 },
        { topup_id: topupId, source: 'auto_topup', user_id: userId },
      ]) {
        assert.equal(routed('invoice.paid', metadata), null, JSON.stringify(metadata));
      }
    });
  });

  describe('a payment', () => {
    function routed(kind: string, metadata: unknown): EventRoute | null {
      return routeOf({ kind, object: { object: 'payment_intent', id: 'pi_1', metadata } });
    }

    it('by auto-topup goes to the one workflow of its user, whatever happened to it', () => {
      const metadata = { user_id: userId, topup_id: topupId, source: 'auto_topup' };
      for (const kind of [
        'payment_intent.succeeded',
        'payment_intent.payment_failed',
        'payment_intent.canceled',
      ]) {
        assert.deepEqual(routed(kind, metadata), {
          workflow: 'autoTopup',
          workflowId: `auto-topup:${userId}`,
        });
      }
    });

    it('by a saved card or a page goes to its top-up', () => {
      for (const source of ['saved_card', undefined]) {
        assert.deepEqual(
          routed('payment_intent.payment_failed', { user_id: userId, topup_id: topupId, source }),
          { workflow: 'topup', workflowId: topupId },
        );
      }
    });

    it('that calls itself an auto-topup of nobody of ours goes to its top-up', () => {
      for (const user_id of [undefined, 7, 'usr_1', topupId]) {
        assert.deepEqual(
          routed('payment_intent.succeeded', { user_id, topup_id: topupId, source: 'auto_topup' }),
          { workflow: 'topup', workflowId: topupId },
        );
      }
    });

    it('that names only a user goes to a workflow of its own once it is paid', () => {
      assert.deepEqual(routed('payment_intent.succeeded', { user_id: userId }), {
        workflow: 'payment',
        workflowId: 'pi_1',
      });
      assert.equal(routed('payment_intent.payment_failed', { user_id: userId }), null);
    });

    it('of an invoice names none of ours, and is nobody’s: the invoice’s own event settles it', () => {
      assert.equal(routed('payment_intent.succeeded', {}), null);
    });
  });

  const others: [kind: string, object: Record<string, unknown>, workflow: string | null, id?: string][] = [
    ['setup_intent.succeeded', { object: 'setup_intent', metadata: { user_id: userId } }, 'card', 'pm_1'],
    ['setup_intent.succeeded', { object: 'setup_intent', metadata: {} }, null],
    ['setup_intent.setup_failed', { object: 'setup_intent', metadata: { user_id: userId } }, null],
    ['payment_method.detached', { object: 'payment_method', id: 'pm_2' }, 'card', 'pm_2'],
    ['payment_method.automatically_updated', { object: 'payment_method', id: 'pm_2' }, 'card', 'pm_2'],
    ['payment_method.attached', { object: 'payment_method', id: 'pm_2' }, null],
    ['refund.created', { object: 'refund', id: 're_1' }, 'refund', 're_1'],
    ['charge.refunded', { object: 'charge', id: 'ch_1' }, 'refund', 'ch_1'],
    ['charge.succeeded', { object: 'charge', id: 'ch_1' }, null],
    ['charge.dispute.created', { object: 'dispute', id: 'dp_1' }, 'dispute', 'dp_1'],
    [
      'radar.early_fraud_warning.created',
      { object: 'radar.early_fraud_warning', id: 'issfr_1' },
      ...(['dispute', 'issfr_1'] as const),
    ],
  ];
  for (const [kind, object, workflow, workflowId] of others) {
    it(`takes ${kind} of ${JSON.stringify(object)} to ${workflowId ?? 'nobody'}`, () => {
      const route = routeOf({ kind, object: { payment_method: 'pm_1', ...object } });
      assert.deepEqual(route, workflow === null ? null : { workflow, workflowId });
    });
  }

  it('does not know other objects', () => {
    assert.equal(routeOf({ kind: 'plan.created', object: { object: 'plan', id: 'plan_1' } }), null);
    assert.equal(routeOf({ kind: 'invoice.paid', object: {} }), null);
  });
});

describe('autoTopupWorkflowId', () => {
  it('names the user, who can be read from it again', () => {
    assert.equal(userOfAutoTopup(autoTopupWorkflowId(userId)), userId);
  });
});

describe('isPaidKind', () => {
  it('is about money that a payment received, and not about an invoice, whose payment says so itself', () => {
    assert.equal(isPaidKind('payment_intent.succeeded'), true);
    for (const kind of ['invoice.paid', 'payment_intent.payment_failed', 'payment_intent.processing']) {
      assert.equal(isPaidKind(kind), false);
    }
  });
});
