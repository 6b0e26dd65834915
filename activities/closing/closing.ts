import { listReturnable } from '../../adapters/postgres/accounts/closing-money.js';
import {
  endWatch,
  findClosing,
  listParkedOf,
  moveClosing,
  oldestMailMs,
  readOpenBusiness,
  type OpenBusiness,
} from '../../adapters/postgres/accounts/closings.js';
import { findCustomerId } from '../../adapters/postgres/payments/payers.js';
import type { AccountClosingRow } from '../../adapters/postgres/rows/tables.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import {
  closingLimits,
  type ClosingState,
  type ClosingWait,
  type PaymentReturn,
} from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { closedForUserMail } from '../../domain/mails/sign-in.js';
import { formatUsd } from '../../domain/money.js';
import { nextReturn } from '../../money/closing/returns.js';
import { settleWhenQuiet } from '../../money/closing/stop-spending.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { eraseInTurn } from './erase.js';
import { askForUnknown, followRefunds, giveBackToCard } from './give-back.js';
import { closePages, stopAll } from './stop-all.js';
import { tellOperators } from './tell-operators.js';

/** The activity that closes accounts (decision 182, "Closing an account"): the row is the state, each step may run again. */
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

/**
 * What a step comes to: it goes on with the next one, waits where it is, or is asked again soon: others are being erased,
 * or the last mails are on their way.
 */
type Came = 'on' | AskedAgain | readonly ClosingWait[];
type AskedAgain = { readonly until: string; readonly nextLookMs: number };
type Step = (deps: ActivityDeps, userId: UserId, tell: Tell, row: AccountClosingRow) => Promise<Came>;

async function advanceClosing(deps: ActivityDeps, userId: UserId, tell: Tell): Promise<EventLook> {
  for (;;) {
    const row = await findClosing(deps.db, userId);
    if (!row) return { state: 'missing', status: 'missing', summary: 'nobody asked to close this account' };
    tell({ state: row.state });
    const step = row.former_email === null ? steps[row.state] : eraseAgain;
    const done = await step(deps, userId, tell, row);
    if (done === 'on') continue;
    return 'until' in done ? askAgain(row, done) : waitAt(deps, row, done);
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

const turn: AskedAgain = { until: 'another account is erased', nextLookMs: closingLimits.turnMs };

/** It holds no slot and no connection meanwhile. */
function askAgain({ state }: AccountClosingRow, { until, nextLookMs }: AskedAgain): EventLook {
  return { state: 'waiting', status: state, summary: `${state}: waits until ${until}`, nextLookMs };
}

async function waitAt(
  { db }: ActivityDeps,
  row: AccountClosingRow,
  waitsFor: readonly ClosingWait[],
): Promise<EventLook> {
  if (row.state !== 'closed') await moveClosing(db, row.user_id, { state: row.state, waitsFor });
  const summary = waitsFor.length === 0 ? row.state : `${row.state}: waits for ${waitsFor.join(', ')}`;
  return { state: row.state === 'closed' ? 'closed' : 'waiting', status: row.state, summary };
}

/** Which of these are still open, and the payments that operators have put aside, which are waited for in any case. */
async function waitsOf(
  deps: ActivityDeps,
  userId: UserId,
  open: OpenBusiness,
  ...kinds: readonly (ClosingWait & keyof OpenBusiness)[]
): Promise<ClosingWait[]> {
  return [...kinds.filter((kind) => open[kind] > 0), ...(await waitForParked(deps, userId))];
}

const debts = ['invoices', 'disputes'] as const;

async function stopping(
  deps: ActivityDeps,
  userId: UserId,
  _tell: Tell,
  { requested_by: by }: AccountClosingRow,
): ReturnType<Step> {
  if (by === 'operator') await tellUser(deps, userId);
  await stopAll(deps, userId);
  const waits = await settleWhenQuiet(deps.db, userId);
  return waits.length > 0 ? waits : 'on';
}

/** The operators' login writes no mail, so the worker does; one that asks themselves is told as they ask. */
async function tellUser({ db }: ActivityDeps, userId: UserId): Promise<void> {
  await db.transaction((trx) =>
    mailUser(trx, userId, { kind: 'closing_requested', userId }, closedForUserMail()),
  );
}

/**
 * Debts and disputes are waited for, for a while: what is left then stays under the number. What is parked is money of
 * theirs that only operators can give back.
 */
async function settling(deps: ActivityDeps, userId: UserId): ReturnType<Step> {
  const { db } = deps;
  const open = await readOpenBusiness(db, userId);
  const waits = await waitsOf(deps, userId, open, ...(open.waitedEnough ? [] : debts));
  if (waits.length > 0) return waits;
  await moveClosing(db, userId, { state: 'returning' });
  return 'on';
}

async function waitForParked(deps: ActivityDeps, userId: UserId): Promise<ClosingWait[]> {
  const parked = await listParkedOf(deps.db, userId);
  if (parked.length === 0) return [];
  const why = `Payments of the account are parked: ${parked.join(', ')}. Refund each one at the processor, then resolve it.`;
  await tellOperators(deps, userId, `parked-payments-${parked.at(-1)}`, why);
  return ['parked_payments'];
}

async function returning(deps: ActivityDeps, userId: UserId, tell: Tell): ReturnType<Step> {
  await followRestored(deps, userId, tell);
  await askForUnknown(deps, userId);
  for (;;) {
    const step = await nextReturn(deps.db, userId);
    if (step.kind === 'settled') return 'on';
    if (step.kind === 'refused') {
      const why = `No card of the account takes back ${formatUsd(step.cents)} that was paid in.`;
      const words = [why, ...step.unknown.map(wordsOfUnknown)].join(' ');
      const wait = [
        'refused-refunds',
        step.cents,
        step.seq,
        ...step.unknown.map(({ paymentId }) => paymentId),
      ].join('-');
      await tellOperators(deps, userId, wait, words);
      return ['refused_refunds'];
    }
    const { payment_id: paymentId, amount_cents: cents } = step.refund;
    tell({ returning: paymentId });
    const given = await giveBackToCard(deps, step.refund);
    if (given.kind === 'done') continue;
    await tellOperators(
      deps,
      userId,
      `processor-${paymentId}-${given.code}`,
      `${formatUsd(cents)} of ${paymentId} can’t go back yet. ${given.why}`,
    );
    return ['processor'];
  }
}

function wordsOfUnknown({ paymentId, amountCents }: PaymentReturn): string {
  return `The processor’s account does not know ${paymentId}, which brought ${formatUsd(amountCents)} of it: look where it was paid whether that went back there.`;
}

/**
 * A restored database may have lost refunds of each payment: the wallet follows all of them before it is decided what goes
 * back of which.
 */
async function followRestored(deps: ActivityDeps, userId: UserId, tell: Tell): Promise<void> {
  const { db } = deps;
  if ((await findClosing(db, userId))?.requested_by !== 'restored') return;
  const wallet = await db('wallets').where({ user_id: userId }).first('id', 'available_cents');
  if (wallet === undefined || wallet.available_cents === 0) return;
  for (const { paymentId } of await listReturnable(db, wallet.id)) {
    tell({ following: paymentId });
    await followRefunds(deps, paymentId);
  }
}

async function erasing(
  deps: ActivityDeps,
  userId: UserId,
  tell: Tell,
  { requested_by: by }: AccountClosingRow,
): ReturnType<Step> {
  const open = await readOpenBusiness(deps.db, userId);
  // An invoice that is being voided, and a payment that is under way, still need their customer.
  const waits = await waitsOf(deps, userId, open, 'invoices', 'topups');
  if (open.topups > 0) await closePages(deps, userId);
  if (waits.length > 0) return waits;
  // Whom a restored database brought back was told before.
  const mails = by === 'restored' ? undefined : await waitForMails(deps, userId);
  return mails ?? erase(deps, userId, tell);
}

/** The erasure takes mails with it: the last ones are sent first (decision 189, "Told before erased"). */
async function waitForMails({ db }: ActivityDeps, userId: UserId): Promise<AskedAgain | undefined> {
  const ageMs = await oldestMailMs(db, userId);
  if (ageMs === undefined) return undefined;
  const nextLookMs = Math.round(Math.min(Math.max(ageMs, closingLimits.mailLookMs), closingLimits.turnMs));
  return { until: 'its last mails are sent', nextLookMs };
}

/** Whom a restored database brought back waits for nothing: they were erased before. Their machines end first. */
async function eraseAgain(deps: ActivityDeps, userId: UserId, tell: Tell): ReturnType<Step> {
  await stopAll(deps, userId);
  return erase(deps, userId, tell);
}

async function erase(deps: ActivityDeps, userId: UserId, tell: Tell): Promise<Came> {
  const { db, processor, settings } = deps;
  const { installationKey } = settings;
  if (!installationKey) {
    const why = 'To recognize a blocked mailbox or a denied card later, set INSTALLATION_KEY.';
    await tellOperators(deps, userId, 'installation-key', why);
    return ['installation_key'];
  }
  if (!processor.enabled && (await findCustomerId(db, userId)) !== null) {
    const why =
      'The processor has a customer of it, who can’t be deleted while billing is off: set STRIPE_SECRET_KEY.';
    await tellOperators(deps, userId, 'billing-off', why);
    return ['processor'];
  }
  return (await eraseInTurn(deps, userId, installationKey, tell)) ? 'on' : turn;
}

/** The person is gone. What comes late about them is erased as well, and money that comes back goes the same way. */
async function keepWatch(
  deps: ActivityDeps,
  userId: UserId,
  tell: Tell,
  row: AccountClosingRow,
): ReturnType<Step> {
  const { db } = deps;
  if (await hasMoney(db, userId)) {
    await moveClosing(db, userId, { state: 'returning' });
    return 'on';
  }
  const open = await readOpenBusiness(db, userId);
  if (open.topups > 0) {
    await closePages(deps, userId);
    return ['topups'];
  }
  const erased = await erase(deps, userId, tell);
  if (erased !== 'on') return erased;
  const waits = await waitsOf(deps, userId, open, ...debts, 'refunds');
  if (waits.length > 0) return waits;
  return (await endWatch(db, row)) ? 'on' : ['late_events'];
}

/** Money that came back after the end, by a dispute that was won or a refund that failed, goes to its cards again. */
async function reopen({ db }: ActivityDeps, userId: UserId): ReturnType<Step> {
  if (!(await hasMoney(db, userId))) return [];
  await moveClosing(db, userId, { state: 'kept' });
  return 'on';
}

async function hasMoney(db: ActivityDeps['db'], userId: UserId): Promise<boolean> {
  const wallet = await db('wallets').where({ user_id: userId }).first('available_cents');
  return wallet !== undefined && wallet.available_cents > 0;
}
