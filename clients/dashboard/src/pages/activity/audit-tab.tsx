import type { AuditEvent, components } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { auditQuery, type AuditKind } from '../../data/audit.js';
import { number } from '../../format/number.js';
import { activityTexts } from '../../texts/activity.js';
import { Feed } from './feed.js';
import { FeedLine } from './feed-line.js';
import { KindFilter } from './kind-filter.js';
import { entityOf, factsOf, tellRecord } from './told.js';
import { idsIn, useNames, type NameOf } from './use-names.js';

const { audit } = activityTexts;
const options = Object.entries(audit).map(([value, label]) => ({ value, label }));

/** Kinds of which the title tells all that their record holds. */
const tellsAll: ReadonlySet<string> = new Set(['rental_changed', 'webhook_changed', 'api_key_changed']);

/** What was done, by whom and from where. */
export function AuditTab() {
  const { kind: asked } = useSearch({ from: '/app/activity' });
  const navigate = useNavigate({ from: '/app/activity' });
  const kind = isKind(asked) ? asked : undefined;
  const query = useInfiniteQuery(auditQuery(kind));
  const count = query.data?.pages.reduce((sum, page) => sum + linesOf(page).length, 0) ?? 0;
  return (
    <>
      <KindFilter
        label={activityTexts.kind}
        all={activityTexts.allKinds}
        value={kind}
        options={options}
        onChange={(value) => {
          const search = { tab: 'audit' as const, ...(value !== '' && { kind: value }) };
          void navigate({ search, resetScroll: false });
        }}
      />
      <Feed query={query} isFiltered={kind !== undefined} count={count}>
        {query.data?.pages.map((page, place) => (
          <PageLines key={place} page={page} />
        ))}
      </Feed>
    </>
  );
}

function isKind(text: string | undefined): text is AuditKind {
  return text !== undefined && Object.hasOwn(audit, text);
}

type FailedSignIns = components['schemas']['FailedSignIns'];

/** Puts counted wrong codes among the records of their time, the newest first. */
export function linesOf({
  events,
  failedSignIns,
}: components['schemas']['AuditEventPage']): (AuditEvent | FailedSignIns)[] {
  const timeOf = (line: AuditEvent | FailedSignIns): number =>
    Date.parse('hour' in line ? line.hour : line.at);
  return [...events, ...failedSignIns].sort((a, b) => timeOf(b) - timeOf(a));
}

function FailedLine({ failed: { hour, tries } }: { readonly failed: FailedSignIns }) {
  return (
    <FeedLine
      at={hour}
      title={activityTexts.failedSignIns(number(tries), tries)}
      noun="session"
      notes={[activityTexts.failedNote]}
    />
  );
}

/** The names of a page are read at once. */
function PageLines({ page }: { readonly page: components['schemas']['AuditEventPage'] }) {
  const nameOf = useNames(
    page.events.flatMap(({ entityId, details, apiKeyId }) => [...idsIn(entityId, details), apiKeyId ?? '']),
  );
  return (
    nameOf &&
    linesOf(page).map((line) =>
      'tries' in line ? (
        <FailedLine key={line.hour} failed={line} />
      ) : (
        <RecordLine key={line.id} record={line} nameOf={nameOf} />
      ),
    )
  );
}

function RecordLine({ record, nameOf }: { readonly record: AuditEvent; readonly nameOf: NameOf }) {
  const { id, kind, details, apiKeyId, clientAddress, at } = record;
  return (
    <FeedLine
      at={at}
      title={tellRecord(record, nameOf)}
      entityId={entityOf(record)}
      noun={kind.split('_')[0]}
      id={id}
      facts={tellsAll.has(kind) ? [] : factsOf(details)}
      notes={[
        ...(apiKeyId === null ? [] : [activityTexts.byKey(nameOf(apiKeyId) ?? apiKeyId)]),
        ...(clientAddress === null ? [] : [activityTexts.from(clientAddress)]),
      ]}
    />
  );
}
