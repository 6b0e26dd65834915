import type { FeedRange } from '../../adapters/postgres/events/event-reads.js';
import { eventTypes, withGaps, type EventType } from '../../domain/events/events.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiContext } from '../context.js';
import { joi, pageFields, fields, wholeFrom } from '../http/fields.js';
import { fieldRefusal, readQuery } from '../http/validation.js';

const shared = {
  after: wholeFrom(0).description('The `seq` of the last event that you know: the answer begins after it.'),
  types: joi
    .string()
    .max(2_000)
    .meta({
      jsonSchema: {
        type: 'array',
        items: { type: 'string', enum: eventTypes },
        minItems: 1,
        description: 'Only events of these types, separated by commas, and `feed.resync`.',
      },
    }),
};

export const eventsQuery = fields({
  ...shared,
  before: wholeFrom(0).description('The answer holds the events below this number instead, newest first.'),
  pageSize: pageFields.pageSize,
});

export const streamQuery = fields(shared);

/** Reads which page of the feed is asked for. @throws Refusal validation_failed */
export function readEventsQuery(ctx: ApiContext) {
  const { after, before, types, pageSize } = readQuery(ctx, eventsQuery);
  if (after !== undefined && before !== undefined) {
    throw fieldRefusal('before', 'before and after can’t be combined: one reads backward, the other forward');
  }
  return { after, before, types: typesOf(types), limit: pageSize };
}

/**
 * Reads from where a stream is to begin. `Last-Event-ID` wins, because a browser sends it when it connects again, to
 * the address of its first time.
 * @throws Refusal validation_failed
 */
export function readStreamQuery(ctx: ApiContext) {
  const { after, types } = readQuery(ctx, streamQuery);
  const lastId = ctx.get('Last-Event-ID');
  return { after: lastId === '' ? after : seqOf(lastId), types: typesOf(types) };
}

function seqOf(lastId: string): number {
  const seq = /^\d{1,16}$/.test(lastId) ? Number(lastId) : Number.NaN;
  if (Number.isSafeInteger(seq)) return seq;
  throw fieldRefusal('Last-Event-ID', 'Last-Event-ID must be the seq of an event: a whole number, 0 or more');
}

function typesOf(text: string | undefined): readonly EventType[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',');
  const unknown = names.find((name) => !isEventType(name));
  if (unknown === undefined) return withGaps(names.filter(isEventType));
  const shown = unknown.length <= 50 ? unknown : `${unknown.slice(0, 50)}…`;
  throw fieldRefusal(
    'types',
    `types must be a comma-separated list of event types, and “${shown}” is not one. Use: ${eventTypes.join(', ')}`,
  );
}

function isEventType(name: string): name is EventType {
  return (eventTypes as readonly string[]).includes(name);
}

/** The refusal of a number that no kept event follows on. */
export function resyncRefusal({ firstSeq, lastSeq }: FeedRange): Refusal {
  return new Refusal(
    'resync',
    `We no longer have the events after this one, or it is not yours. Read your rentals and balance again, then continue with after=${lastSeq}.`,
    { firstSeq, lastSeq },
  );
}
