import type { Deliveries } from './webhooks/delivery.js';
import { apiVersion, type Bank, type Origin, type World } from './http/endpoint.js';
import { matches } from './webhooks/events.js';
import type { Faults } from './faults.js';
import { newId } from './ids.js';
import type { Store } from './store.js';
import type { Delivery, LabEvent } from './tables.js';

/**
 * Ties the store, the faults and the webhooks together for the endpoints and pages.
 * @param deps.bank default: the banks say what the test cards say
 */
export function createWorld(deps: {
  store: Store;
  faults: Faults;
  deliveries: Pick<Deliveries, 'send'>;
  now: () => number;
  bank?: Bank;
}): World {
  const { store, faults, deliveries, now, bank = () => null } = deps;
  let origin: Origin | null = null;
  let outgoing: Delivery[] = [];
  return {
    store,
    faults,
    now,
    bank,
    emit(type, object, previous) {
      const endpoints = store
        .list('webhook_endpoints')
        .filter((endpoint) => endpoint.enabled_events.some((wanted) => matches(wanted, type)));
      const event: LabEvent = store.put('events', {
        id: newId('evt'),
        object: 'event',
        api_version: apiVersion,
        created: now(),
        // A copy: the event shows the object as it was, whatever happens to it later.
        data: structuredClone(
          previous === undefined ? { object } : { object, previous_attributes: previous },
        ),
        livemode: false,
        pending_webhooks: endpoints.length,
        request: { id: origin?.requestId ?? null, idempotency_key: origin?.idempotencyKey ?? null },
        type,
      });
      for (const endpoint of endpoints) {
        const delivery: Delivery = {
          id: `${event.id}:${endpoint.id}`,
          eventId: event.id,
          endpointId: endpoint.id,
          attempts: 0,
          state: 'pending',
          lastStatus: null,
          lastError: null,
        };
        outgoing.push(store.put('deliveries', delivery));
      }
    },
    transact(cause, work) {
      origin = cause;
      outgoing = [];
      const result = store.transact(work);
      const ready = outgoing;
      outgoing = [];
      deliveries.send(ready);
      return result;
    },
  };
}
