import { isUnacceptable } from '../../adapters/postgres/availability.js';
import { countEndingDeclines } from '../../adapters/postgres/payments/declines.js';
import { insertOddEvent } from '../../adapters/postgres/payments/odd-events.js';
import { insertProcessorEvent } from '../../adapters/postgres/payments/processor-events.js';
import type { ProcessorEvent } from '../../adapters/processor/processor.js';
import { processorApiVersion } from '../../adapters/processor/stripe.js';
import { mayBeSigned, OddEventError } from '../../adapters/processor/webhook.js';
import { signalLook } from '../../adapters/temporal/signal-look.js';
import { routeOf, type EventRoute } from '../../domain/payments/processor-routes.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { requestLimits } from '../../domain/requests/limits.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiContext, ApiDeps, ApiRouter } from '../context.js';
import type { RawPath } from '../http/middleware/body.js';
import type { Step } from '../http/middleware/session.js';
import { processorEventsPath } from './path.js';

const SIGNAL_LIMIT_MS = 10_000;

/**
 * The rules for the webhook's body. Anybody can call it, without a session and without a limit of requests. A request
 * whose headers alone show that it is not the processor's is refused unread (decision 83, "Cost of one caller").
 */
export function unreadProcessorEvents(deps: ApiDeps): RawPath {
  return {
    path: processorEventsPath,
    limitBytes: requestLimits.eventMaxBytes,
    refuseUnread(header) {
      if (!deps.verifyWebhook) throw disabled();
      if (!mayBeSigned(header('Stripe-Signature'), Date.now())) throw unsigned();
    },
  };
}

/** The route of the payment processor's events (spec: Events). Their signature authenticates them, not a session. */
export function processorEventRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.post(processorEventsPath, receiveEvent(deps));
}

/**
 * Stores an event once, answers as soon as it is committed, and then tells the workflow that acts on it. If that fails,
 * a sweeper tells it again: the stored row counts. A signed event that can't be read is put aside for operators: a
 * second delivery would be as odd, and after days the processor would switch the endpoint off.
 */
function receiveEvent(deps: ApiDeps): Step {
  return async (ctx) => {
    const unhandledBy = await recordOrPutAside(ctx, deps);
    ctx.body = { received: true };
    if (unhandledBy !== null) void signalWorkflow(ctx, deps, unhandledBy);
  };
}

/** @returns the workflow that must look at it; null where there is none */
async function recordOrPutAside(ctx: ApiContext, deps: ApiDeps): Promise<EventRoute | null> {
  try {
    const event = verified(ctx, deps);
    logOddities(ctx, deps, event);
    const { unhandledBy } = await insertProcessorEvent(deps.db, event, routeOf(event));
    if (event.kind === 'setup_intent.setup_failed') void endTriedSetup(ctx, deps, event.object['id']);
    return unhandledBy;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = whyOdd(error);
    if (reason === undefined) throw notRecorded(ctx, error);
    await putAside(ctx, deps, reason);
    return null;
  }
}

/** Why nobody will ever be able to keep this event; undefined for a failure of ours, after which it may come again. */
function whyOdd(error: unknown): string | undefined {
  if (error instanceof OddEventError) return error.message;
  return isUnacceptable(error) ? 'it holds what the database can’t' : undefined;
}

async function putAside(ctx: ApiContext, { db }: ApiDeps, reason: string): Promise<void> {
  try {
    const oddEvent = await insertOddEvent(db, ctx.state.rawBody, reason);
    if (oddEvent.deliveries === 1) {
      ctx.state.log.error({ reason, oddEventId: oddEvent.id }, 'a signed event could not be read: put aside');
    }
  } catch (error) {
    throw notRecorded(ctx, error);
  }
}

function notRecorded(ctx: ApiContext, error: unknown): Refusal {
  ctx.state.log.error({ err: error }, 'an event could not be kept');
  return new Refusal('temporarily_unavailable', 'The event could not be kept. Deliver it again.');
}

function verified(ctx: ApiContext, deps: ApiDeps): ProcessorEvent {
  if (!deps.verifyWebhook) throw disabled();
  try {
    return deps.verifyWebhook(ctx.state.rawBody, ctx.get('Stripe-Signature'));
  } catch (error) {
    if (error instanceof OddEventError) throw error;
    ctx.state.log.warn({ err: error }, 'a webhook was refused');
    throw unsigned();
  }
}

function disabled(): Refusal {
  return new Refusal('billing_disabled', 'Payments are turned off here: no event is expected.');
}

function unsigned(): Refusal {
  return new Refusal('validation_failed', 'This is not a signed event of the payment processor.');
}

/** Logs an event of another version or mode than ours; it is read all the same. Events keep those of their endpoint. */
function logOddities(ctx: ApiContext, { settings }: ApiDeps, event: ProcessorEvent): void {
  const { id, kind, apiVersion, livemode } = event;
  if (apiVersion !== processorApiVersion || livemode !== settings.billing.livemode) {
    const expected = { apiVersion: processorApiVersion, livemode: settings.billing.livemode };
    ctx.state.log.warn(
      { eventId: id, kind, apiVersion, livemode, expected },
      'an event of another API version or mode: correct the endpoint at the payment processor',
    );
  }
}

async function signalWorkflow(ctx: ApiContext, deps: ApiDeps, route: EventRoute): Promise<void> {
  try {
    await deps.temporal.within(SIGNAL_LIMIT_MS, () =>
      signalLook({ db: deps.db, workflows: deps.temporal.client.workflow }, route),
    );
  } catch (error) {
    ctx.state.log.warn({ err: error, ...route }, 'a workflow could not be told of its event yet');
  }
}

/**
 * Ends a form for a card in which too many were declined (decision 128, "Trying of cards"). If that fails, the next
 * decline tries again.
 */
async function endTriedSetup(
  ctx: ApiContext,
  { db, processor, settings }: ApiDeps,
  id: unknown,
): Promise<void> {
  if (typeof id !== 'string') return;
  try {
    const { declinesPerPage: perPage } = settings.cardTries;
    const limits = { perPage, perDay: paymentLimits.declinesPerDay };
    const declines = await countEndingDeclines(db, { setupId: id }, limits);
    if (declines === 0) return;
    await processor.cancelCardSetup(id);
    ctx.state.log.warn({ setupId: id, declines }, 'a form for a card ends: cards were declined in it');
  } catch (error) {
    ctx.state.log.error({ err: error, setupId: id }, 'a form for a card could not be ended');
  }
}
