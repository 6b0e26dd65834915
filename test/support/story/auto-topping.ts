import { WorkflowNotFoundError } from '@temporalio/client';
import assert from 'node:assert/strict';
import type { InvoiceRow, TopupRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { autoTopupWorkflowId } from '../../../domain/payments/processor-routes.js';
import type { SignedIn } from '../http/api.js';
import type { TestService } from '../service/living-service.js';
import { getWallet, insertRunning } from '../money/money.js';
import { Paying } from './paying.js';
import { until } from '../until.js';

/** Actions and reads of the tests of auto-topup, on one service. */
export class AutoTopping extends Paying {
  constructor(private readonly living: TestService) {
    super(living);
  }

  /** Stores settings. @throws AssertionError when the answer is no 200 */
  async put(user: SignedIn, settings: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { status, body } = await user.put('/v1/billing/auto-topup', settings);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Record<string, unknown>;
  }

  /** A machine that has just begun to run. At the default price of $36 an hour it costs a cent a second. */
  async run(user: SignedIn, priceCents = 3_600, ranMs = 0): Promise<RentalId> {
    const wallet = await getWallet(this.living.db, user.user.id);
    return insertRunning(this.living.db, wallet, { priceCents, ranMs, holdCents: 0 });
  }

  attempts(user: SignedIn): Promise<TopupRow[]> {
    return this.living.db('topups').where({ user_id: user.user.id, source: 'auto_topup' }).orderBy('id');
  }

  async awaitAttempt(user: SignedIn, status: TopupRow['status'], which = 0): Promise<TopupRow> {
    return until(`attempt ${which} is ${status}`, async () => {
      const attempt = (await this.attempts(user))[which];
      return attempt?.status === status && attempt;
    });
  }

  /** Waits for the first attempt with a known payment, whatever its outcome. */
  async awaitPayment(user: SignedIn): Promise<TopupRow> {
    return until('the payment is known', async () => {
      const [row] = await this.attempts(user);
      return typeof row?.payment_id === 'string' && row;
    });
  }

  invoices(user: SignedIn): Promise<InvoiceRow[]> {
    return this.living.db('invoices').where({ user_id: user.user.id }).orderBy('id');
  }

  /** The payments that the processor made for the user's attempts, by status. */
  async charges(user: SignedIn): Promise<string[]> {
    const { payment_intents: intents } = await this.state();
    return intents
      .filter(({ metadata }) => metadata['source'] === 'auto_topup' && metadata['user_id'] === user.user.id)
      .map(({ status }) => status);
  }

  async credits(user: SignedIn): Promise<number[]> {
    const entries = await this.entries(user);
    return entries.filter(([type]) => type === 'auto_topup').map(([, cents]) => cents);
  }

  /** Waits until the workflow has nothing left to do. */
  async awaitQuiet(user: SignedIn): Promise<void> {
    const handle = this.living.temporal.workflow.getHandle(autoTopupWorkflowId(user.user.id));
    await until('the auto-topup is quiet', async () => {
      try {
        return (await handle.describe()).status.name === 'COMPLETED';
      } catch (error) {
        // The workflow has not begun yet: the tick has noted that it is due, and another step starts it.
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    });
  }
}
