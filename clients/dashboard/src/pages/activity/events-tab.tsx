import type { Event } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { eventsQuery } from '../../data/events.js';
import { number } from '../../format/number.js';
import { activityTexts } from '../../texts/activity.js';
import { Feed } from './feed.js';
import { FeedLine } from './feed-line.js';
import { KindFilter } from './kind-filter.js';
import { isEventType, tellEvent } from './told.js';

const { eventTypes } = activityTexts;
const options = Object.entries(eventTypes).map(([value, label]) => ({ value, label }));

/** What happened, in words. */
export function EventsTab() {
  const { type: asked } = useSearch({ from: '/app/activity' });
  const navigate = useNavigate({ from: '/app/activity' });
  const type = isEventType(asked) ? asked : undefined;
  const query = useInfiniteQuery(eventsQuery(type));
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <KindFilter
        label={activityTexts.type}
        all={activityTexts.allTypes}
        value={type}
        options={options}
        onChange={(value) =>
          void navigate({ search: value === '' ? {} : { type: value }, resetScroll: false })
        }
      />
      <Feed query={query} isFiltered={type !== undefined} count={events.length}>
        {events.map((event) => (
          <EventLine key={event.id} event={event} />
        ))}
      </Feed>
    </>
  );
}

function EventLine({ event }: { readonly event: Event }) {
  const { id, seq, type, entityId, createdAt } = event;
  return (
    <FeedLine
      at={createdAt}
      title={tellEvent(event)}
      entityId={entityId}
      noun={type.split('.')[0]}
      id={id}
      notes={[type, activityTexts.number(number(seq))]}
    />
  );
}
