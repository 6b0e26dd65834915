import type { CallOptions, Event, EventType, GpuRental, Rental } from '@gpu-rental/client';

/** Which events are read. */
export interface WantedEvents {
  /** Only those about this machine. */
  readonly about: Rental | undefined;
  /** Only those after this number. */
  readonly after?: number | undefined;
  readonly types?: readonly EventType[] | undefined;
  readonly most: number;
}

/** The newest events, newest first. */
export async function newestEvents(
  client: GpuRental,
  { about, after = 0, types, most }: WantedEvents,
  options?: CallOptions,
): Promise<Event[]> {
  const query = {
    pageSize: about === undefined ? Math.min(200, most) : 200,
    ...(types !== undefined && { types: [...types] }),
  };
  const found: Event[] = [];
  for await (const event of client.events.newestFirst(query, options)) {
    if (event.seq <= after || found.length >= most) break;
    if (!isAbout(event, about)) continue;
    found.push(event);
    // Nothing happens to a machine before it is rented.
    if (about !== undefined && event.type === 'rental.created') break;
  }
  return found;
}

/** Whether an event tells of a machine; undefined: of any. */
export function isAbout(event: Event, rental: Rental | undefined): boolean {
  if (rental === undefined || event.entityId === rental.id) return true;
  return event.type === 'wallet.exhausted' && event.data.rentalIds.includes(rental.id);
}
