import type { Event } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { eventsQuery } from '../../data/events.js';
import { fullTime } from '../../format/time.js';
import { useAgo } from '../../live/ago.js';
import { homeTexts } from '../../texts/home.js';
import { Card } from '../../ui/card.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { tellEvent } from '../activity/told.js';
import { idsIn, useNames } from '../activity/use-names.js';

const t = homeTexts.recent;
const SHOWN = 5;
const AGO_EVERY_MS = 10_000;

/** What happened last, in a few lines. Who signed in where is told by the activity alone. */
export function Recent() {
  const { data, error, refetch } = useInfiniteQuery(eventsQuery(undefined));
  const read = data?.pages[0]?.events.filter(({ type }) => !type.startsWith('session.')).slice(0, SHOWN);
  const nameOf = useNames((read ?? []).flatMap(({ entityId, data: held }) => idsIn(entityId, held)));
  const events = nameOf && read?.map((event) => ({ event, text: tellEvent(event, nameOf) }));
  if (error !== null && read === undefined) {
    return <ErrorNote error={error} onRetry={() => void refetch()} />;
  }
  return (
    <Card
      title={t.title}
      isFlush
      aside={
        <Link to="/app/activity" className="text-[13px] text-accent hover:underline">
          {t.all}
        </Link>
      }
    >
      {events === undefined ? (
        <div className="flex h-36 flex-col gap-3 p-4">
          <Skeleton className="h-4 w-72 max-w-full" />
          <Skeleton className="h-4 w-60 max-w-full" />
          <Skeleton className="h-4 w-64 max-w-full" />
        </div>
      ) : (
        <ul className="divide-y divide-line">
          {events.map(({ event, text }) => (
            <Line key={event.id} event={event} text={text} />
          ))}
          {events.length === 0 && <li className="px-4 py-3 text-muted">{t.none}</li>}
        </ul>
      )}
    </Card>
  );
}

function Line({ event, text }: { readonly event: Event; readonly text: string }) {
  const { createdAt, entityId } = event;
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5 px-4 py-2.5">
      <span className="min-w-0 break-words">
        {entityId.startsWith('rent_') ? (
          <Link to="/app/rentals/$rentalId" params={{ rentalId: entityId }} className="hover:underline">
            {text}
          </Link>
        ) : (
          text
        )}
      </span>
      <time dateTime={createdAt} title={fullTime(createdAt)} className="text-[13px] text-muted">
        {useAgo(createdAt, AGO_EVERY_MS)}
      </time>
    </li>
  );
}
