import { insertProcessorEvent } from '../adapters/postgres/processor-events.js';
import type { ProcessorEvent } from '../adapters/processor/processor.js';
import { processorApiVersion } from '../adapters/processor/stripe.js';
import { mayBeSigned } from '../adapters/processor/webhook.js';
import { tellWorkflow } from '../adapters/temporal/tell-workflow.js';
import { routeOf, type EventRoute } from '../domain/processor-routes.js';
import { limits } from '../domain/limits.js';
import { Refusal } from '../domain/refusal.js';
import type { ApiContext, ApiDeps, ApiRouter } from './context.js';
import type { RawPath } from './middleware/body.js';
import type { Step } from './middleware/session.js';
import { webhookPath } from './webhook-path.js';

const SIGNAL_LIMIT_MS = 10_000;

/**
 * How the webhook's body is read. Anybody can call it, without a session and without a limit of requests: what can't
 * be the processor's by its headers alone is refused unread (decision 83).
 */
export function unreadWebhook(deps: ApiDeps): RawPath {
  return {
    path: webhookPath,
    limitBytes: limits.eventMaxBytes,
    refuseUnread(header) {
      if (!deps.verifyWebhook) throw disabled();
      if (!mayBeSigned(header('Stripe-Signature'), Date.now())) throw unsigned();
    },
  };
}

/** Events of the payment processor (spec: Events). Authenticated by their signature, not by a session. */
export function webhookRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.post(webhookPath, takeEvent(deps));
}

/**
 * Stores an event once and answers as soon as it is committed; then the workflow that acts on it is told. If that
 * fails, a sweeper tells it again: the stored row is what counts.
 */
function takeEvent(deps: ApiDeps): Step {
  return async (ctx) => {
    const event = verified(ctx, deps);
    logOddities(ctx, deps, event);
    const { unhandledBy } = await kept(ctx, deps, event);
    ctx.body = { received: true };
    if (unhandledBy !== null) void tell(ctx, deps, unhandledBy);
  };
}

function verified(ctx: ApiContext, deps: ApiDeps): ProcessorEvent {
  if (!deps.verifyWebhook) throw disabled();
  try {
    return deps.verifyWebhook(ctx.state.rawBody, ctx.get('Stripe-Signature'));
  } catch (error) {
    ctx.state.log.warn({ err: error }, 'a webhook was refused');
    throw unsigned();
  }
}

function disabled(): Refusal {
  return new Refusal('billing_disabled', 'Payments are switched off here: no event is expected.');
}

function unsigned(): Refusal {
  return new Refusal('validation_failed', 'This is not a signed event of the payment processor.');
}

/** Events keep the version and the mode of their endpoint: another one than ours is read all the same, and logged. */
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

async function kept(
  ctx: ApiContext,
  deps: ApiDeps,
  event: ProcessorEvent,
): Promise<{ unhandledBy: EventRoute | null }> {
  try {
    return await insertProcessorEvent(deps.db, event, routeOf(event));
  } catch (error) {
    ctx.state.log.error({ err: error, eventId: event.id }, 'an event could not be kept');
    throw new Refusal('temporarily_unavailable', 'The event could not be kept. Deliver it again.');
  }
}

async function tell(ctx: ApiContext, deps: ApiDeps, route: EventRoute): Promise<void> {
  try {
    await deps.temporal.within(SIGNAL_LIMIT_MS, () => tellWorkflow(deps.temporal.client.workflow, route));
  } catch (error) {
    ctx.state.log.warn({ err: error, ...route }, 'a workflow could not be told of its event yet');
  }
}
