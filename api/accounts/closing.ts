import * as declared from './describe-closing.js';
import {
  listUnsettledDebts,
  listReturnable,
  readBalanceParts,
} from '../../adapters/postgres/accounts/closing-money.js';
import {
  findClosing,
  insertClosing,
  listReturns,
  readStillOpen,
  type StillOpen,
} from '../../adapters/postgres/accounts/closings.js';
import { findCardsOfPayments } from '../../adapters/postgres/payments/topups.js';
import type { Database } from '../../adapters/postgres/database.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import { signalLook } from '../../adapters/temporal/signal-look.js';
import { closingWorkflowId, planClosing, type ClosingPlan } from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { closingMail } from '../../domain/mails/sign-in.js';
import { sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { serve, type Handler } from '../http/serve.js';
import { readBody } from '../http/validation.js';
import { refuseWhenNotFresh } from './fresh-proof.js';
import { presentClosing, refuseOtherAddress } from './present-closing.js';

/** The closing of an account by its user (decision 182, "Closing an account"). */
export function closingRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showClosing, show(deps));
  serve(router, deps, declared.closeAccount, close(deps));
}

function show({ db }: ApiDeps): Handler<typeof declared.showClosing> {
  return (ctx) => readShown(db, sessionOf(ctx).userId);
}

function close(deps: ApiDeps): Handler<typeof declared.closeAccount> {
  return async (ctx) => {
    const { email } = readBody(ctx, declared.closeSchema);
    refuseWhenNotFresh(ctx);
    const session = sessionOf(ctx);
    refuseOtherAddress(email, session.email);
    const { userId } = session;
    await deps.db.transaction(async (trx) => {
      if (!(await insertClosing(trx, userId))) return;
      await mailUser(trx, userId, { kind: 'closing_requested', userId }, closingMail());
    });
    ctx.state.passTurn?.();
    await tellWorkflow(ctx, deps, userId);
    return readShown(deps.db, userId);
  };
}

const SIGNAL_LIMIT_MS = 5_000;

async function tellWorkflow(ctx: ApiContext, deps: ApiDeps, userId: UserId): Promise<void> {
  const route = { workflow: 'closing', workflowId: closingWorkflowId(userId) } as const;
  try {
    await deps.temporal.within(SIGNAL_LIMIT_MS, () =>
      signalLook({ db: deps.db, workflows: deps.temporal.client.workflow }, route),
    );
  } catch (error) {
    // The row says that it is to be closed: the reviver begins it.
    ctx.state.log.warn({ err: error, userId }, 'the closing of an account could not be begun at once');
  }
}

async function readShown(db: Database, userId: UserId) {
  const [row, open] = await Promise.all([findClosing(db, userId), readStillOpen(db, userId)]);
  const { returns: planned, lapsesCents } = await readPlan(db, userId, open);
  const done = row ? await listReturns(db, userId) : [];
  const sent = done.map(({ payment_id: paymentId, amount_cents: amountCents, refused_code: code }) => {
    return { paymentId, amountCents, status: code === null ? ('sent' as const) : ('refused' as const) };
  });
  const returns = [...sent, ...planned.map((one) => ({ ...one, status: 'planned' as const }))];
  const cards = await findCardsOfPayments(
    db,
    returns.map(({ paymentId }) => paymentId),
  );
  const cardOf = (paymentId: string) => cards.get(paymentId) ?? { cardBrand: null, cardLast4: null };
  return presentClosing(row, open, {
    returns: returns.map((one) => ({ ...one, ...cardOf(one.paymentId) })),
    lapsesCents: lapsesCents + (row?.lapsed_cents ?? 0),
  });
}

async function readPlan(
  db: Database,
  userId: UserId,
  { walletId, availableCents }: StillOpen,
): Promise<ClosingPlan> {
  const owed = await listUnsettledDebts(db, userId);
  const owedCents = owed.reduce((sum, invoice) => sum + invoice.amount_cents, 0);
  const parts = await readBalanceParts(db, walletId);
  return planClosing(parts, { owedCents, availableCents }, await listReturnable(db, walletId));
}
