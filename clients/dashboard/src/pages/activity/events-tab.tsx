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
import { idsIn, useNames, type NameOf } from './use-names.js';

const { eventTypes } = activityTexts;
const options = Object.entries(eventTypes).map(([value, label]) => ({ value, label }));

/** What happened, in words. */
export function EventsTab() {
  const { type: asked } = useSearch({ from: '/app/activity' });
  const navigate = useNavigate({ from: '/app/activity' });
  const type = isEventType(asked) ? asked : undefined;
  const query = useInfiniteQuery(eventsQuery(type));
  const count = query.data?.pages.reduce((sum, page) => sum + page.events.length, 0) ?? 0;
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
      <Feed query={query} isFiltered={type !== undefined} count={count}>
        {query.data?.pages.map((page) => (
          <EventLines key={page.before ?? 'newest'} events={page.events} />
        ))}
      </Feed>
    </>
  );
}

/** The names of a page are read at once. */
function EventLines({ events }: { readonly events: readonly Event[] }) {
  const nameOf = useNames(events.flatMap(({ entityId, data }) => idsIn(entityId, data)));
  return nameOf && events.map((event) => <EventLine key={event.id} event={event} nameOf={nameOf} />);
}

function EventLine({ event, nameOf }: { readonly event: Event; readonly nameOf: NameOf }) {
  const { id, seq, type, entityId, createdAt } = event;
  return (
    <FeedLine
      at={createdAt}
      title={tellEvent(event, nameOf)}
      entityId={entityId}
      noun={type.split('.')[0]}
      id={id}
      notes={[type, activityTexts.number(number(seq))]}
    />
  );
}
