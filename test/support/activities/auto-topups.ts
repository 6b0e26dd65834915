import type { AutoTopupRow, TopupRow } from '../../../adapters/postgres/rows/tables.js';
import type { Payment } from '../../../adapters/processor/processor.js';
import type { UserId } from '../../../domain/ids.js';
import { getWallet, insertRunning, insertWallet } from '../money/money.js';
import { insertSavedCard } from '../money/factories.js';
import { startActivities, type LoneActivities } from './lone-activities.js';
import { paymentOf } from './scripted-processor.js';
import { ScriptedTemporal } from './scripted-temporal.js';

export const AMOUNT = 2_500;
export const BALANCE = 300;
const THRESHOLD = 500;
export const COOLDOWN_MS = 60_000;

/** Auto-topups that are looked at without their workflow, and what the tests see of them. */
export class AutoTopups {
  private constructor(readonly lone: LoneActivities) {}

  /** Call `lone.close` in an `after` hook. */
  static async start(): Promise<AutoTopups> {
    const temporal = new ScriptedTemporal().port;
    return new AutoTopups(
      await startActivities({ temporal, settings: { autoTopupCooldownMs: COOLDOWN_MS } }),
    );
  }

  /** A user whose machine runs, whose card is saved and whose balance is below the threshold: a charge is due. */
  async due(settings: Partial<AutoTopupRow> = {}): Promise<UserId> {
    const { db } = this.lone;
    const wallet = await insertWallet(db, BALANCE);
    const userId = wallet.user_id;
    await db('users')
      .where({ id: userId })
      .update({ processor_customer_id: `cus_${userId}` });
    await insertSavedCard(db, userId);
    await db('auto_topups').insert({
      wallet_id: wallet.id,
      user_id: userId,
      enabled: true,
      threshold_cents: THRESHOLD,
      topup_amount_cents: AMOUNT,
      ...settings,
    });
    await insertRunning(db, wallet, { priceCents: 100, ranMs: 0, holdCents: 0 });
    await db('intents').insert({ kind: 'auto_topup', wallet_id: wallet.id });
    return userId;
  }

  look(userId: UserId) {
    return this.lone.run('lookAtAutoTopup', userId);
  }

  async settings(userId: UserId): Promise<AutoTopupRow> {
    return (await this.lone.db('auto_topups').where({ user_id: userId }).first())!;
  }

  async change(userId: UserId, columns: Partial<AutoTopupRow>): Promise<void> {
    await this.lone.db('auto_topups').where({ user_id: userId }).update(columns);
  }

  /** Its cooldown has ended. */
  coolDown(userId: UserId): Promise<void> {
    return this.change(userId, { next_attempt_at: new Date(Date.now() - 1_000) });
  }

  async attempts(userId: UserId): Promise<TopupRow[]> {
    return this.lone.db('topups').where({ user_id: userId, source: 'auto_topup' }).orderBy('id');
  }

  async available(userId: UserId): Promise<number> {
    return (await getWallet(this.lone.db, userId)).available_cents;
  }

  /** Whether the machines wait for an attempt. */
  async isAwaited(userId: UserId): Promise<boolean> {
    const { id } = await getWallet(this.lone.db, userId);
    const open = await this.lone.db('intents').where({ wallet_id: id }).whereNull('acknowledged_at');
    return open.length > 0;
  }
}

type Told = Parameters<typeof paymentOf>[0];

/** Answers with a payment that succeeded. */
export function paying(columns: Partial<Payment> = {}): (told: Told) => Promise<Payment> {
  return (told) => Promise.resolve(paymentOf(told, columns));
}

/** Answers with one of which nothing was received. */
export function unpaid(
  status: Payment['status'],
  columns: Partial<Payment> = {},
): (told: Told) => Promise<Payment> {
  return paying({ status, amountReceivedCents: 0, ...columns });
}
