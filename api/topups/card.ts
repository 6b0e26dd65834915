import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { ensureCustomer } from '../../adapters/customer-of-user.js';
import { beginCardSetup, recordCardSetup } from '../../adapters/postgres/payments/card-setups.js';
import { refuseWhenPaymentsStopped } from '../../adapters/postgres/payments/payment-guards.js';
import { findSavedCard, removeCardOfUser } from '../../adapters/postgres/payments/saved-cards.js';
import { isMissing, ProcessorError, type CardSetup } from '../../adapters/processor/processor.js';
import { signalLook } from '../../adapters/temporal/signal-look.js';
import type { UserId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { auditAddress } from '../accounts/audit-event.js';
import { callerOf, sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { paidPath } from '../service/plain-pages.js';
import type { ApiSettings } from '../settings.js';
import { presentCard } from './card-shapes.js';
import { countCardTries } from './card-tries.js';

/** The routes of the saved card (spec: POST /v1/billing/setup-intent, GET and DELETE /v1/billing/card). */
export function cardRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.beginCardSetup, beginSetup(deps));
  serve(router, deps, declared.showCard, showCard(deps));
  serve(router, deps, declared.removeCard, removeCard(deps));
}

const SIGNAL_LIMIT_MS = 5_000;

/**
 * Begins the saving of a card; nothing is charged. The processor's own form continues with the secret, and its event
 * `setup_intent.succeeded` saves the card (workflows/followers.ts).
 */
function beginSetup(deps: ApiDeps): Handler<typeof declared.beginCardSetup> {
  const countTry = countCardTries(deps);
  return async (ctx) => {
    const { userId } = sessionOf(ctx);
    const { billing } = deps.settings;
    if (!billing.enabled) {
      throw new Refusal('billing_disabled', 'Payments are turned off here, so you can’t save a card.');
    }
    await refuseWhenPaymentsStopped(deps.db, userId);
    await countTry(ctx, userId);
    const setup = await setUp(ctx, deps, userId);
    return {
      clientSecret: setup.clientSecret,
      publishableKey: billing.publishableKey,
      pageUrl: pageUrlOf(deps.settings, setup),
    };
  };
}

async function setUp(ctx: ApiContext, deps: ApiDeps, userId: UserId): Promise<CardSetup> {
  const setupNo = await beginCardSetup(deps.db, userId);
  try {
    ctx.state.passTurn?.();
    const customerId = await ensureCustomer(deps, userId);
    const setup = await deps.processor.createCardSetup({ userId, customerId, setupNo });
    await recordCardSetup(deps.db, setupNo, setup.setupId);
    return setup;
  } catch (error) {
    // A customer that is gone there does not come back: a person must see to it.
    if (!(error instanceof ProcessorError) || isMissing(error)) throw error;
    ctx.state.log.error({ err: error, setupNo }, 'the saving of a card could not be begun');
    throw new Refusal(
      'temporarily_unavailable',
      'We can’t reach the payment processor right now. No card was saved: try again in a few seconds.',
    );
  }
}

/**
 * The simulator's page, which takes the card in place of the processor's own form and leads back with what the
 * processor adds to a return address. Null with the real processor, which has no such page.
 */
function pageUrlOf({ billing, dashboardUrl }: ApiSettings, setup: CardSetup): string | null {
  if (billing.simulatorUrl === null) return null;
  const url = new URL(`/setup/${setup.setupId}`, billing.simulatorUrl);
  url.searchParams.set('client_secret', setup.clientSecret);
  url.searchParams.set('return_url', `${dashboardUrl}${paidPath}`);
  return url.toString();
}

function showCard(deps: ApiDeps): Handler<typeof declared.showCard> {
  return async (ctx) => {
    return presentCard(await findSavedCard(deps.db, callerOf(ctx).userId));
  };
}

/** Removes the card here at once; its workflow detaches it at the processor (decision 33, "Removal of a card"). */
function removeCard(deps: ApiDeps): Handler<typeof declared.removeCard> {
  return async (ctx) => {
    const pmId = await removeCardOfUser(deps.db, sessionOf(ctx).userId, auditAddress(ctx));
    if (pmId !== undefined) void signalRemoval(ctx, deps, pmId);
    return { ok: true };
  };
}

async function signalRemoval(ctx: ApiContext, deps: ApiDeps, pmId: string): Promise<void> {
  try {
    await deps.temporal.within(SIGNAL_LIMIT_MS, () =>
      signalLook(
        { db: deps.db, workflows: deps.temporal.client.workflow },
        { workflow: 'card', workflowId: pmId },
      ),
    );
  } catch (error) {
    // The row says that the card must be detached: the reviver starts the workflow.
    ctx.state.log.warn({ err: error, pmId }, 'the workflow of a removed card could not be told yet');
  }
}
