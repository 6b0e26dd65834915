import type Stripe from 'stripe';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { noSuch } from '../http/errors.js';
import { idOf, newId } from '../ids.js';
import { page } from '../http/listing.js';

/** Lets the bank of a card report a charge as fraud (docs.stripe.com/disputes/measuring: early fraud warnings). */
export function warnOfFraud(world: World, charge: Stripe.Charge): Stripe.Radar.EarlyFraudWarning {
  const intent = idOf(charge.payment_intent);
  const warning = world.store.put('fraud_warnings', {
    id: newId('issfr'),
    object: 'radar.early_fraud_warning',
    actionable: !charge.disputed && !charge.refunded,
    charge: charge.id,
    created: world.now(),
    fraud_type: 'made_with_stolen_card',
    livemode: false,
    ...(intent === null ? {} : { payment_intent: intent }),
  });
  world.emit('radar.early_fraud_warning.created', warning);
  return warning;
}

/** Closes the warnings of a charge that is disputed or fully refunded. */
export function closeWarnings(world: World, chargeId: string): void {
  for (const warning of world.store.list('fraud_warnings')) {
    if (idOf(warning.charge) !== chargeId || !warning.actionable) continue;
    const closed = world.store.put('fraud_warnings', { ...warning, actionable: false });
    world.emit('radar.early_fraud_warning.updated', closed);
  }
}

/** @throws ApiError `resource_missing` */
function getWarning(world: World, id: string): Stripe.Radar.EarlyFraudWarning {
  const warning = world.store.find('fraud_warnings', id);
  if (warning === undefined) throw noSuch('early fraud warning', id);
  return warning;
}

function list(call: Call): object {
  const charge = call.params.string('charge');
  const intent = call.params.string('payment_intent');
  const warnings = call.world.store
    .list('fraud_warnings')
    .filter((warning) => charge === undefined || idOf(warning.charge) === charge)
    .filter((warning) => intent === undefined || idOf(warning.payment_intent) === intent);
  return page(call, warnings);
}

export const fraudWarningEndpoints: readonly Endpoint[] = [
  { method: 'get', path: '/radar/early_fraud_warnings', handle: list },
  {
    method: 'get',
    path: '/radar/early_fraud_warnings/:id',
    handle: ({ world, id }) => getWarning(world, id),
  },
];
