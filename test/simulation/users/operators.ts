import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { actDirectly } from '../../../adapters/postgres/operators/direct-actions.js';
import { requestOrder } from '../../../adapters/postgres/operators/operator-orders.js';
import { listUnknownPods } from '../../../adapters/postgres/restore/restore.js';
import type { TemporalClient } from '../../../adapters/temporal/client.js';
import { runOrder, runRestore } from '../../../adapters/temporal/run-by-hand.js';
import type { DirectAction, OperatorAction } from '../../../domain/operations/operation.js';
import type { OperationId, RentalId, UserId } from '../../../domain/ids.js';
import { urlAs } from '../../support/ops/operators.js';
import { keepIdle } from '../database.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { SimProcess, within } from '../kernel/scope.js';
import type { Returns } from '../world/returns.js';
import type { HoldUp, Told, ToldPause } from './told.js';

/** The longest time for which an operator holds something up, in milliseconds. */
const PAUSE_MAX_MS = 8 * 60_000;
/** How often they look for what closings wait for. */
export const LOOK_EVERY_MS = 10 * 60_000;
const brakes = ['creates', 'charges', 'metering', 'webhooks'] as const;

/** An operator, who does by the seed what the commands of `ops` do. */
export class Operator {
  readonly #db: Database;
  readonly #process = new SimProcess('ops', 'api');
  #isOver = false;

  constructor(
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      readonly told: Told;
      readonly temporal: TemporalClient;
      readonly unknown: Returns['unknown'];
      readonly databaseUrl: string;
      readonly paceMs: number;
    },
  ) {
    this.#db = within({ process: this.#process }, () =>
      keepIdle(openDatabase(urlAs('ada', parts.databaseUrl), 2, 'ops')),
    );
  }

  /** Acts now and then, until it is told to go. */
  async live(): Promise<void> {
    const { chance, paceMs } = this.parts;
    for (;;) {
      await sleep(60_000 + chance.pauseMs(paceMs));
      if (this.#isOver) return;
      await this.#act();
    }
  }

  /** Does what the mails say of payments that the processor's account does not know (decision 194), until an instant. */
  async decide(untilMs: number): Promise<void> {
    for (;;) {
      await sleep(LOOK_EVERY_MS);
      if (this.parts.kernel.nowMs > untilMs) return;
      await within({ process: this.#process }, () => this.#decideAll()).catch(() => undefined);
    }
  }

  /** Lets everything go on that was held up. */
  async leave(): Promise<void> {
    this.#isOver = true;
    for (const pause of this.parts.told.pauses) await this.#end(pause);
  }

  /**
   * Lets a restored database go on, as `ops restore reconcile` does, and has the machines ended that nobody owns here.
   * @returns whether it was restored
   */
  async reconcile(): Promise<boolean> {
    const { workflow } = this.parts.temporal;
    return within({ process: this.#process }, async () => {
      const { report } = await runRestore(workflow, {});
      if (report.database === 'confirmed') return false;
      const action = { kind: 'reconcile_restored', withoutSilentUpstreams: false } as const;
      const { id: operationId } = await requestOrder(this.#db, {
        ...{ id: newId('op'), action, reason: 'the simulation', saidBy: 'ada' },
      });
      const { outcome, message } = await runRestore(workflow, { reconcile: { operationId, ...action } });
      if (outcome !== 'reconciled') throw new Error(`${outcome}: ${String(message)}`);
      const podIds = (await listUnknownPods(this.#db)).map(({ pod_id: podId }) => podId);
      if (podIds.length > 0) await this.#do({ kind: 'release_pods', podIds });
      return true;
    });
  }

  async #decideAll(): Promise<void> {
    const { told, unknown, kernel } = this.parts;
    const { rows } = await this.#db.raw<{ rows: { userId: UserId; body: string }[] }>(
      `select distinct on (c.user_id) c.user_id as "userId", n.body from account_closings c
         join operator_notices n on starts_with(n.cause, 'closing-waits:' || c.user_id || ':refused-refunds-')
        where 'refused_refunds' = any (c.waits_for) order by c.user_id, n.id desc`,
    );
    for (const { userId, body } of rows) {
      const amountCents = centsOf(/takes back \$([\d,.]+) that/.exec(body)?.[1]);
      const shares = [...body.matchAll(/not know (pi_\w+), which brought \$([\d,.]+) of it/g)].map(
        ([, paymentId = '', usd]) => ({ paymentId, cents: centsOf(usd) }),
      );
      // Where it was paid they see whether our account will know it.
      const isSure = shares.every(({ paymentId }) => unknown.get(paymentId) === 'for good');
      if (shares.length === 0 || !isSure) continue;
      const action = { kind: 'adjust', userId, amountCents: -amountCents } as const;
      if (!(await this.#order(newId('op'), action))) continue;
      told.decisions.push({ userId, amountCents, shares });
      kernel.trace.line(kernel.nowMs, `ops took ${amountCents} cents of ${userId}`);
    }
  }

  async #act(): Promise<void> {
    const { chance, told } = this.parts;
    const userIds = [...told.users.values()] as UserId[];
    if (userIds.length === 0) return;
    const userId = chance.pick(userIds);
    const rentalIds = [...told.rentals.keys()] as RentalId[];
    switch (chance.below(6)) {
      case 0:
      case 1:
        return this.#holdUp({ kind: 'pause', brake: chance.pick(brakes) });
      case 2:
        return this.#holdUp({ kind: 'pause_provider', providerCode: chance.pick(['north', 'south']) });
      case 3:
        return this.#holdUp({ kind: 'block_user', userId });
      case 4:
        if (rentalIds.length > 0) await this.#do({ kind: 'stop_rental', rentalId: chance.pick(rentalIds) });
        return;
      default:
        return this.#refund(userId);
    }
  }

  /** Holds something up for a while. */
  async #holdUp(action: HoldUp): Promise<void> {
    const { kernel, told, chance } = this.parts;
    const pause: ToldPause = { action, sentMs: kernel.nowMs, ...{ heldMs: undefined, endingMs: undefined } };
    told.pauses.push(pause);
    if (await this.#do(action)) pause.heldMs = kernel.nowMs;
    // It may have begun after it was let go on.
    if (!this.#isOver) await sleep(30_000 + chance.below(PAUSE_MAX_MS));
    await this.#end(pause);
  }

  async #end(pause: ToldPause): Promise<void> {
    pause.endingMs ??= this.parts.kernel.nowMs;
    const { action } = pause;
    if (action.kind === 'pause') await this.#do({ kind: 'resume', brake: action.brake });
    if (action.kind === 'pause_provider')
      await this.#do({ kind: 'resume_provider', providerCode: action.providerCode });
    if (action.kind === 'block_user') await this.#do({ kind: 'unblock_user', userId: action.userId });
  }

  /** Does it, however often the connection is lost. @returns false when it is refused */
  #do(action: DirectAction): Promise<boolean> {
    const { kernel } = this.parts;
    const operation = { operationId: newId('op'), operator: 'ada', reason: 'the simulation', action };
    return within({ process: this.#process }, async () => {
      for (;;) {
        try {
          await actDirectly(this.#db, operation);
          kernel.trace.line(kernel.nowMs, `ops ${action.kind}`);
          return true;
        } catch (error) {
          if ((error as Error).name === 'Refusal') return false;
          await sleep(2_000);
        }
      }
    });
  }

  /** Gives a user some cents out of goodwill, by an order that the workflow carries out. */
  async #refund(userId: UserId): Promise<void> {
    const { chance, told } = this.parts;
    const order = { id: newId('op'), userId, amountCents: 1 + chance.below(200), isDone: false };
    told.orders.push(order);
    const { id, amountCents } = order;
    order.isDone = await this.#order(id, { kind: 'refund', userId, amountCents });
  }

  /** Has a workflow carry an order out. @returns whether it says that it did */
  #order(id: OperationId, action: OperatorAction): Promise<boolean> {
    const { temporal, kernel } = this.parts;
    return within({ process: this.#process }, async () => {
      for (let tries = 0; tries < 20; tries += 1) {
        try {
          await requestOrder(this.#db, { id, action, reason: 'the simulation', saidBy: 'ada' });
          const { outcome } = await runOrder(temporal.workflow, id);
          kernel.trace.line(kernel.nowMs, `ops ${action.kind}: ${outcome}`);
          return outcome === 'done';
        } catch {
          await sleep(5_000);
        }
      }
      return false;
    });
  }
}

function centsOf(usd = ''): number {
  return Number(usd.replace(/[^\d]/g, ''));
}
