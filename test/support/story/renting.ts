import assert from 'node:assert/strict';
import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { newId } from '../../../adapters/ids.js';
import { insertRentalRequest } from '../../../adapters/postgres/requests/opening-requests.js';
import type { LedgerEntryRow, RentalRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../money/kept-plan.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import type { LabPod } from '../../../lab/provider/state.js';
import { finalCents } from '../../../domain/metering/metering.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import type { RentalStatus } from '../../../domain/rentals/rental.js';
import { taskQueues } from '../../../domain/task-queues.js';
import {
  openUpdate,
  rentalWorkflow,
  type RentalDurations,
  type RentalInput,
  type RentalOutcome,
} from '../../../workflows/contracts/rental.js';
import type { SignedIn } from '../http/api.js';
import { billedMs, getRental, getWallet } from '../money/money.js';
import type { TestService } from '../service/living-service.js';
import { until } from '../until.js';
import { beginEarlier } from '../money/begin-earlier.js';

/** The dearest machine of the lab, at 1.1 cents a second: the ledger ticks while a test looks. */
export const b200 = { familyId: 'b200', gpuCount: 8, pricePerHourCents: 3_992 };
/** One RTX 4090 at 40 cents. The next one costs 69, more than a tenth more. */
export const rtx4090 = { familyId: 'rtx-4090', gpuCount: 1, pricePerHourCents: 40 };
/** One L40S at 148 cents. The next one costs 155, within a tenth of it. */
export const l40s = { familyId: 'l40s', gpuCount: 1, pricePerHourCents: 148, nextCents: 155 };

type Machine = { readonly familyId: string; readonly gpuCount: number };

/** Actions and reads of the tests of rentals, on one service. */
export class Renting {
  constructor(private readonly service: TestService) {}

  /** Rents through HTTP. @throws AssertionError when the answer is no 200 */
  async open(user: SignedIn, { familyId, gpuCount }: Machine, more: object = {}): Promise<RentalId> {
    const answer = await user.post('/v1/rentals', { familyId, gpuCount, ...more });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.id as RentalId;
  }

  /** Rents by starting the workflow as the API does, with durations that the API does not pass. */
  async openDirectly(
    user: SignedIn,
    machine: Machine,
    durations: Partial<RentalDurations>,
    { answerBefore = soon(), ...more }: Partial<RentalRequest & { answerBefore: string }> = {},
  ): Promise<RentalId> {
    const rentalId = newId('rent');
    const request: RentalRequest = {
      userId: user.user.id,
      familyId: machine.familyId,
      gpuCount: machine.gpuCount,
      templateId: 'ubuntu-24-04',
      region: null,
      name: null,
      sshKeyIds: [],
      autoStopAfterMs: null,
      maxSpendCents: null,
      maxPricePerHourCents: null,
      ...more,
    };
    await insertRentalRequest(this.service.db, rentalId, request, new Date(answerBefore));
    const open = { answerBefore };
    await startRental(this.service.temporal, { rentalId, open, durations });
    return rentalId;
  }

  /** Waits for a status. @throws Error with the rental's actual state, and what its workflow waits for */
  async awaitStatus(id: RentalId, status: RentalStatus): Promise<RentalRow> {
    return this.awaitRow(id, status, (row) => row.status === status);
  }

  /** Waits until a rental is settled and its pods are gone. */
  async awaitClosed(id: RentalId): Promise<RentalRow> {
    return this.awaitRow(id, 'closed', (row) => row.closed_at !== null);
  }

  private async awaitRow(
    id: RentalId,
    what: string,
    isThere: (row: RentalRow) => boolean,
  ): Promise<RentalRow> {
    try {
      return await until(`rental ${id} is ${what}`, async () => {
        const row = await getRental(this.service.db, id);
        return isThere(row) && row;
      });
    } catch (error) {
      const { status } = await getRental(this.service.db, id);
      throw new Error(`${String(error)}; it is ${status}, and waits for ${await this.pending(id)}`, {
        cause: error,
      });
    }
  }

  /** The activities that the rental's workflow waits for, as operators see them in the Temporal UI. */
  private async pending(id: RentalId): Promise<string> {
    const { raw } = await this.service.temporal.workflow.getHandle(id).describe();
    return JSON.stringify({ activities: raw.pendingActivities, workflowTask: raw.pendingWorkflowTask });
  }

  /** Rents and waits until the machine runs. */
  async run(user: SignedIn, machine: Machine, more: object = {}): Promise<RentalRow> {
    return this.awaitStatus(await this.open(user, machine, more), 'running');
  }

  /** Stops through HTTP. @returns the answer's body */
  async stop(user: SignedIn, id: RentalId): Promise<{ finalChargedCents: number; refundedCents: number }> {
    const answer = await user.post(`/v1/rentals/${id}/stop`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as { finalChargedCents: number; refundedCents: number };
  }

  row(id: RentalId): Promise<RentalRow> {
    return getRental(this.service.db, id);
  }

  wallet(user: SignedIn): Promise<WalletRow> {
    return getWallet(this.service.db, user.user.id);
  }

  /** The user's ledger without the first credit, oldest first. */
  async entries(user: SignedIn): Promise<Pick<LedgerEntryRow, 'type' | 'amount_cents'>[]> {
    const rows = await this.service
      .db('ledger_entries as e')
      .join('wallets as w', 'w.id', 'e.wallet_id')
      .where('w.user_id', user.user.id)
      .where('e.seq', '>', 1)
      .orderBy('e.seq')
      .select<Pick<LedgerEntryRow, 'type' | 'amount_cents'>[]>('e.type', 'e.amount_cents');
    return rows.map(({ type, amount_cents }) => ({ type, amount_cents }));
  }

  /** Every pod that was ever bought for a rental, or for any rental of a user. */
  async pods(id: RentalId): Promise<LabPod[]> {
    const { pods } = await this.service.gpus.state();
    return pods.filter((pod) => [pod.name, ...pod.tags].some((name) => name.includes(id)));
  }

  /** The state and the price of each pod that was bought for a rental, in order. */
  async bought(id: RentalId): Promise<[status: string, priceCents: number][]> {
    return (await this.pods(id)).map(({ status, priceCents }) => [status, priceCents]);
  }

  /** Makes a rental look as if it had run for longer, by the database's clock, and waits until that time is charged. */
  async age(id: RentalId, seconds: number): Promise<void> {
    const { db } = this.service;
    await beginEarlier(db, [id], seconds);
    await until(`the aged rental ${id} is metered`, async () => {
      const row = await getRental(db, id);
      return row.charged_cents >= Math.floor((row.price_per_hour_cents * seconds) / 3_600);
    });
  }

  /** Asserts the rules for every closed rental and for the whole ledger. */
  async assertAddsUp(userId?: UserId): Promise<void> {
    assert.deepEqual(await verifyLedgerAgain(this.service.db, userId), []);
  }
}

/** The answer's deadline for an opening that begins now. */
function soon(): string {
  return new Date(Date.now() + 20_000).toISOString();
}

/** Starts a rental's workflow, and waits for its answer that the rental is open. */
export async function startRental(client: Client, input: RentalInput): Promise<void> {
  await client.workflow.executeUpdateWithStart(openUpdate, {
    updateId: 'open',
    startWorkflowOperation: new WithStartWorkflowOperation<(input: RentalInput) => Promise<RentalOutcome>>(
      rentalWorkflow.type,
      {
        workflowId: input.rentalId,
        taskQueue: taskQueues.rentals,
        args: [input],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      },
    ),
  });
}

/** The net cents by the formula of decision 25, "Usage as running total". */
export function priceOf(rental: RentalRow): number {
  return finalCents(rental.price_per_hour_cents, billedMs(rental), rental.max_spend_cents);
}

export function netCents(rental: RentalRow): number {
  return rental.charged_cents - rental.refunded_cents;
}
