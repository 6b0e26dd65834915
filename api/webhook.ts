import { insertProcessorEvent } from '../adapters/postgres/processor-events.js';
import type { ProcessorEvent } from '../adapters/processor/processor.js';
import { isId, type TopupId } from '../domain/ids.js';
import { Refusal } from '../domain/refusal.js';
import type { ApiContext, ApiDeps, ApiRouter } from './context.js';
import type { Step } from './middleware/session.js';
import { signalTopup } from './topup-workflows.js';

export const webhookPath = '/v1/billing/processor/webhook';

const SIGNAL_LIMIT_MS = 10_000;

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
    const { unhandledBy } = await kept(ctx, deps, event);
    ctx.body = { received: true };
    if (unhandledBy !== null && isId('top', unhandledBy)) void tellTopup(ctx, deps, unhandledBy);
  };
}

function verified(ctx: ApiContext, deps: ApiDeps): ProcessorEvent {
  if (!deps.verifyWebhook) {
    throw new Refusal('billing_disabled', 'Payments are switched off here: no event is expected.');
  }
  try {
    return deps.verifyWebhook(ctx.state.rawBody, ctx.get('Stripe-Signature'));
  } catch (error) {
    ctx.state.log.warn({ err: error }, 'a webhook was refused');
    throw new Refusal('validation_failed', 'This is not a signed event of the payment processor.');
  }
}

async function kept(
  ctx: ApiContext,
  deps: ApiDeps,
  event: ProcessorEvent,
): Promise<{ unhandledBy: string | null }> {
  try {
    return await insertProcessorEvent(deps.db, event, topupOf(event));
  } catch (error) {
    ctx.state.log.error({ err: error, eventId: event.id }, 'an event could not be kept');
    throw new Refusal('temporarily_unavailable', 'The event could not be kept. Deliver it again.');
  }
}

/** The top-up that a payment page or a payment was made for: our own id, which we put into its metadata. */
function topupOf({ object }: ProcessorEvent): TopupId | null {
  if (object['object'] !== 'checkout.session' && object['object'] !== 'payment_intent') return null;
  const metadata = object['metadata'];
  if (typeof metadata !== 'object' || metadata === null || !('topup_id' in metadata)) return null;
  return typeof metadata.topup_id === 'string' && isId('top', metadata.topup_id) ? metadata.topup_id : null;
}

async function tellTopup(ctx: ApiContext, deps: ApiDeps, topupId: TopupId): Promise<void> {
  try {
    await deps.temporal.within(SIGNAL_LIMIT_MS, () => signalTopup(deps.temporal.client.workflow, topupId));
  } catch (error) {
    ctx.state.log.warn({ err: error, topupId }, 'a top-up could not be told of its event yet');
  }
}
