import { noSuch } from '../http/errors.js';
import type { Call, Endpoint } from '../http/endpoint.js';
import { page } from '../http/listing.js';
import type { LabEvent } from '../tables.js';

function list(call: Call): object {
  const { params, world } = call;
  const type = params.string('type');
  const types = params.strings('types');
  const delivered = params.boolean('delivery_success');
  const undelivered = delivered === undefined ? new Set<string>() : undeliveredEvents(call);
  const events = world.store
    .list('events')
    .filter((event) => type === undefined || matches(type, event.type))
    .filter((event) => types?.some((wanted) => matches(wanted, event.type)) ?? true)
    // True: all deliveries were answered; false: some are pending or were given up (docs.stripe.com/api/events/list).
    .filter((event) => delivered === undefined || undelivered.has(event.id) !== delivered);
  return page(call, events);
}

function undeliveredEvents({ world }: Call): Set<string> {
  const open = world.store.list('deliveries').filter((delivery) => delivery.state !== 'delivered');
  return new Set(open.map((delivery) => delivery.eventId));
}

/** Tells whether an event's kind is wanted; `invoice.*` and `*` stand for groups. */
export function matches(wanted: string, type: string): boolean {
  if (wanted === '*') return true;
  return wanted.endsWith('.*') ? type.startsWith(wanted.slice(0, -1)) : wanted === type;
}

function get({ world, id }: Call): LabEvent {
  const event = world.store.find('events', id);
  if (event === undefined) throw noSuch('event', id);
  return event;
}

export const eventEndpoints: readonly Endpoint[] = [
  { method: 'get', path: '/events', handle: list },
  { method: 'get', path: '/events/:id', handle: get },
];
