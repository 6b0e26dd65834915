import type { Event, LiveMeter } from './types.js';

/**
 * Tells how a meter stands once an event has ended its rental. A stream that was away meanwhile hears the event and no
 * meter of that rental any more, so whoever shows meters would let it run on.
 * @returns the same meter where the event ends nothing
 */
export function meterAfter<Meter extends LiveMeter>(event: Event, meter: Meter): Meter {
  if (event.entityId !== meter.rentalId) return meter;
  if (event.type === 'rental.stopped') {
    const { stoppedAt, chargedCents, refundedCents } = event.data;
    const ended = {
      status: 'stopped',
      endedAt: stoppedAt,
      chargedCents: chargedCents - refundedCents,
    } as const;
    return { ...meter, ...ended, holdCents: 0 };
  }
  if (event.type !== 'rental.failed') return meter;
  return { ...meter, status: 'failed', endedAt: event.createdAt, chargedCents: 0, holdCents: 0 };
}
