import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import { autoTopupWorkflowId } from '../../domain/payments/processor-routes.js';
import { contracts, lookingWorkflows, retiredTypes } from '../../workflows/contracts/index.js';
import type { RunOf } from '../../workflows/contracts/workflow-contract.js';
import * as workflows from '../../workflows/index.js';

type Contracts = typeof contracts;

/** Only the compiler reads it: it refuses a workflow with another input or result than its contract's. */
const implementations: { [Type in keyof Contracts]: RunOf<Contracts[Type]> } = workflows;

describe('the contracts of the workflows', () => {
  it('are there for each workflow that is registered, under its name', () => {
    const types = Object.entries(contracts).map(([name, { type }]) => {
      assert.equal(type, name);
      return type;
    });
    assert.deepEqual([...types, ...retiredTypes].sort(), Object.keys(implementations).sort());
  });

  const userId = newId('usr');
  const webhookId = newId('wh');
  const rows = {
    rental: newId('rent'),
    topup: newId('top'),
    autoTopup: autoTopupWorkflowId(userId),
    invoice: newId('inv'),
    payment: 'pi_1',
    card: 'pm_1',
    refund: 're_1',
    dispute: 'dp_1',
    webhook: `webhook:${webhookId}`,
    closing: `closing:${userId}`,
  } as const;
  const inputs: Record<keyof typeof rows, object> = {
    rental: { rentalId: rows.rental },
    topup: { topupId: rows.topup },
    autoTopup: { userId },
    invoice: { invoiceId: rows.invoice },
    payment: { id: rows.payment },
    card: { id: rows.card },
    refund: { id: rows.refund },
    dispute: { id: rows.dispute },
    webhook: { webhookId },
    closing: { userId },
  };

  for (const [type, contract] of Object.entries(lookingWorkflows)) {
    it(`take a ${type} up again by its id alone`, () => {
      const workflowId = rows[contract.type];
      const run = contract.takeUp(workflowId);
      assert.deepEqual(
        [run.contract.type, run.workflowId, run.args],
        [type, workflowId, [inputs[contract.type]]],
      );
    });
  }

  for (const type of ['rental', 'topup', 'autoTopup', 'invoice', 'webhook', 'closing'] as const) {
    it(`refuse to take a ${type} up by an id of something else`, () => {
      assert.throws(() => lookingWorkflows[type].takeUp(newId('op')), /is no \w+_ id/);
    });
  }
});
