import { eraseAccount, leavesMarks } from '../../adapters/postgres/accounts/erasing.js';
import { findClosing, moveClosing, readOpenBusiness } from '../../adapters/postgres/accounts/closings.js';
import { recordNotice } from '../../adapters/postgres/operators/operator-notices.js';
import type { AccountClosingRow } from '../../adapters/postgres/rows/tables.js';
import type { ClosingState, ClosingWait } from '../../domain/accounts/closing.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { UserId } from '../../domain/ids.js';
import { closingWaitsMail } from '../../domain/mails/operators.js';
import { formatUsd } from '../../domain/money.js';
import { nextReturn } from '../../money/closing/returns.js';
import { settleWhenQuiet } from '../../money/closing/stop-spending.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { giveBackToCard } from './give-back.js';
import { stopAll } from './stop-all.js';

/** The activity that closes accounts (decision 179, "Closing an account"): the row is the state, each step may run again. */
export function createClosingActivities(deps: ActivityDeps) {
  return {
    /** Brings the closing of an account as far as it can come now. */
    async lookAtClosing(userId: UserId): Promise<EventLook> {
      return withHeartbeat((tell) => advanceClosing(deps, userId, tell), {
        stalledAfterMs: SEVERAL_CALLS_MS,
      });
    },
  };
}

/** What a step comes to: it waits where it is, or goes on with the next one. */
type Step = (deps: ActivityDeps, userId: UserId, tell: Tell) => Promise<'on' | readonly ClosingWait[]>;

async function advanceClosing(deps: ActivityDeps, userId: UserId, tell: Tell): Promise<EventLook> {
  for (;;) {
    const row = await findClosing(deps.db, userId);
    if (!row) return { state: 'missing', status: 'missing', summary: 'nobody asked to close this account' };
    tell({ state: row.state });
    const done = await steps[row.state](deps, userId, tell);
    if (done !== 'on') return waitAt(deps, row, done);
  }
}

const steps: Readonly<Record<ClosingState, Step>> = {
  stopping,
  settling,
  returning,
  erasing,
  kept: keepWatch,
  closed: reopen,
};

async function waitAt(
  { db }: ActivityDeps,
  row: AccountClosingRow,
  waitsFor: readonly ClosingWait[],
): Promise<EventLook> {
  if (row.state !== 'closed') await moveClosing(db, row.user_id, { state: row.state, waitsFor });
  const summary = waitsFor.length === 0 ? row.state : `${row.state}: waits for ${waitsFor.join(', ')}`;
  return { state: row.state === 'closed' ? 'closed' : 'waiting', status: row.state, summary };
}

const limits = { waitMs: accountLimits.closingWaitMs, quietMs: accountLimits.closingQuietMs };

async function stopping(deps: ActivityDeps, userId: UserId): ReturnType<Step> {
  await stopAll(deps, userId);
  const waits = await settleWhenQuiet(deps.db, userId, limits);
  return waits.length > 0 ? waits : 'on';
}

/** Debts and disputes are waited for, for a while: what is left then stays under the number. */
async function settling({ db }: ActivityDeps, userId: UserId): ReturnType<Step> {
  const open = await readOpenBusiness(db, userId, limits);
  const waits = (['invoices', 'disputes'] as const).filter((kind) => open[kind] > 0);
  if (waits.length > 0 && !open.waitedEnough) return waits;
  await moveClosing(db, userId, { state: 'returning' });
  return 'on';
}

async function returning(deps: ActivityDeps, userId: UserId, tell: Tell): ReturnType<Step> {
  for (;;) {
    const step = await nextReturn(deps.db, userId);
    if (step.kind === 'settled') return 'on';
    if (step.kind === 'refused') {
      await tellOperators(
        deps,
        userId,
        'refused_refunds',
        `No card of the account takes back ${formatUsd(step.cents)} that was paid in.`,
      );
      return ['refused_refunds'];
    }
    tell({ returning: step.refund.payment_id });
    await giveBackToCard(deps, userId, step.refund);
  }
}

async function erasing(deps: ActivityDeps, userId: UserId): ReturnType<Step> {
  const { db, processor, settings } = deps;
  const key = settings.installationKey ?? '';
  if (key === '' && (await leavesMarks(db, userId))) {
    const why =
      'The account is blocked, or its payments were denied: to recognize it later, set INSTALLATION_KEY.';
    await tellOperators(deps, userId, 'key', why);
    return ['late_events'];
  }
  const user = await db('users').where({ id: userId }).first('processor_customer_id');
  const customerId = user?.processor_customer_id ?? null;
  if (customerId !== null && processor.enabled) await processor.deleteCustomer(customerId);
  await eraseAccount(db, userId, key);
  await moveClosing(db, userId, { state: 'kept' });
  return 'on';
}

/** The person is gone. What comes late about them is erased as well, and money that comes back goes the same way. */
async function keepWatch(deps: ActivityDeps, userId: UserId): ReturnType<Step> {
  if (await goesOnAgain(deps, userId)) return 'on';
  await eraseAccount(deps.db, userId, deps.settings.installationKey ?? '');
  const open = await readOpenBusiness(deps.db, userId, limits);
  const waits = (['invoices', 'disputes', 'refunds'] as const).filter((kind) => open[kind] > 0);
  if (waits.length > 0) return waits;
  if (!open.isQuiet) return ['late_events'];
  await moveClosing(deps.db, userId, { state: 'closed' });
  return 'on';
}

async function reopen(deps: ActivityDeps, userId: UserId): ReturnType<Step> {
  return (await goesOnAgain(deps, userId)) ? 'on' : [];
}

/** Money came back, by a dispute that was won or a refund that failed: it goes to its cards again. */
async function goesOnAgain({ db }: ActivityDeps, userId: UserId): Promise<boolean> {
  const wallet = await db('wallets').where({ user_id: userId }).first('available_cents');
  if (wallet === undefined || wallet.available_cents === 0) return false;
  await moveClosing(db, userId, { state: 'returning' });
  return true;
}

async function tellOperators({ db }: ActivityDeps, userId: UserId, wait: string, why: string): Promise<void> {
  const cause = { kind: 'closing_waits', userId, wait } as const;
  await recordNotice(db, { cause, message: closingWaitsMail({ userId, why }) });
}
