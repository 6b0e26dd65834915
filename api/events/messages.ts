import type { LiveBalance, LiveMeter } from '../../adapters/postgres/events/live-states.js';
import type { FeedRange, ReadEvent } from '../../adapters/postgres/events/event-reads.js';
import { presentEvent } from '../../domain/events/present.js';

/** The balance, as a stream tells it. @param readAt when it was so */
export function presentLiveBalance(balance: LiveBalance, readAt: Date) {
  const { availableCents, reservedCents, burnPerHourCents, ledgerSeq } = balance;
  return {
    availableCents,
    reservedCents,
    totalCents: availableCents + reservedCents,
    burnPerHourCents,
    ledgerSeq,
    readAt: readAt.toISOString(),
  };
}

/** The meter of a rental, as a stream tells it. @param readAt when it was so */
export function presentLiveMeter(meter: LiveMeter, readAt: Date) {
  const { rentalId, status, pricePerHourCents, chargedCents, holdCents, runningAt, endedAt } = meter;
  return {
    ...{ rentalId, status, pricePerHourCents, chargedCents, holdCents },
    runningAt: runningAt?.toISOString() ?? null,
    endedAt: endedAt?.toISOString() ?? null,
    readAt: readAt.toISOString(),
  };
}

/** Why a stream ends, where the service ends it. */
export const closeReasons = [
  'too_many_streams',
  'session_ended',
  'session_renewed',
  'key_ended',
  'key_changed',
  'server_stopping',
] as const;
export type CloseReason = (typeof closeReasons)[number];

/** The messages of a stream, in the words of the standard (HTML, "Server-sent events"). Each ends with an empty line. */
export const messages = {
  /** An event. Its JSON has no line break: JSON.stringify escapes those in texts. */
  event: (event: ReadEvent): string =>
    `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`,
  /**
   * Moves the client's id on: what was between did not pass the filter. The standard takes an id without data as well,
   * but widespread clients forget it.
   */
  seen: (seq: number): string => `id: ${seq}\n${named('seen', { lastSeq: seq })}`,
  /** The first message: from which number on the stream tells, and the newest one. */
  ready: (afterSeq: number, { lastSeq }: FeedRange): string =>
    `id: ${afterSeq}\n${named('ready', { afterSeq, lastSeq })}`,
  /** What was asked for is not there: the stream goes on from the newest number. */
  resync: ({ firstSeq, lastSeq }: FeedRange): string =>
    `id: ${lastSeq}\n${named('resync', { firstSeq, lastSeq })}`,
  balance: (text: string): string => `event: balance\ndata: ${text}\n\n`,
  meter: (text: string): string => `event: meter\ndata: ${text}\n\n`,
  closed: (reason: CloseReason): string => named('closed', { reason }),
  retry: (ms: number): string => `retry: ${ms}\n\n`,
  comment: ':\n\n',
};

function named(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
